"""Cross-encoders, and models on a server."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from esr.encoders import Encoder, load_cross_encoder, load_encoder, model_server, quantize
from esr.encoders.cross_encoder import CrossEncoder, open_cross_encoder
from esr.encoders.encoder_folder import find_folder
from esr.encoders.model_server import ServedEncoder, ServerProblem, connections
from esr.enrichment.enricher import SentenceVectors, VectorSettings
from esr.errors import EsrError, InputError, UsageError
from esr.text.document import Document, Sentence
from tests.support.fake_enricher import write_tiny_cross_encoder, write_tiny_encoder
from tests.support.web_servers import COMMIT, ModelServer, serve_models, write_hub_folder

TEXTS = ["the hurricane rose", "bank fraud", "storm", "a court of the city in the north"]


@pytest.fixture
def cross(tmp_path: Path) -> Path:
    return write_tiny_cross_encoder(tmp_path / "cross")


@pytest.fixture
def server(folder: Path, cross: Path) -> Iterator[ModelServer]:
    encoder, cross_encoder = Encoder(*find_folder(str(folder))), open_cross_encoder(str(cross))
    with serve_models() as server:
        server.encode = encoder.encode_passage
        server.score = lambda query, text: float(cross_encoder.scores(query, [text])[0])
        yield server


# Cross-encoders


def test_a_pair_has_the_score_of_the_model(folder: Path, cross: Path) -> None:
    unpooled = Encoder(*find_folder(str(write_tiny_encoder(folder.parent / "sum", normalize=False))))

    def total(text: str) -> np.ndarray:
        return unpooled.encode_passage(text) * len(text.split())

    scores = open_cross_encoder(str(cross)).scores("storm north", TEXTS)
    assert scores == pytest.approx([total("storm north") @ total(text) for text in TEXTS], rel=1e-4)
    assert scores[0] > scores[1], "a hurricane is a storm"


def test_a_model_of_entailment_scores_how_much_more_a_text_supports_than_contradicts(
    cross: Path, tmp_path: Path
) -> None:
    labels = ["contradiction", "entailment", "neutral"]
    entailing = write_tiny_cross_encoder(tmp_path / "entailing", labels=labels)
    scores = open_cross_encoder(str(cross)).scores("storm", TEXTS)
    assert open_cross_encoder(str(entailing)).scores("storm", TEXTS) == pytest.approx(2 * scores, rel=1e-5)
    other = write_tiny_cross_encoder(tmp_path / "other", labels=["spam", "ham"])
    with pytest.raises(InputError, match="the model makes 2 numbers for a pair, and not one score"):
        open_cross_encoder(str(other)).scores("storm", TEXTS)


def test_a_text_has_the_same_score_beside_other_texts(cross: Path) -> None:
    together = open_cross_encoder(str(cross)).scores("storm", TEXTS)
    alone = [open_cross_encoder(str(cross)).scores("storm", [text])[0] for text in TEXTS]
    assert together == pytest.approx(alone, rel=1e-6)


def test_a_model_of_8_bits_reads_one_pair_at_a_time(cross: Path) -> None:
    calls = []
    model = open_cross_encoder(str(cross))
    assert model.batch_size == 16
    (cross / "model.onnx").write_bytes(
        (cross / "model.onnx").read_bytes() + b"\xba\x06\x15DynamicQuantizeLinear"
    )
    model = open_cross_encoder(str(cross))
    model.compute = lambda query, texts, seconds: calls.append(len(texts)) or [0.0] * len(texts)
    model.scores("storm", TEXTS)
    assert calls == [1, 1, 1, 1]


def test_pairs_are_read_once_and_equal_texts_together() -> None:
    read: list[str] = []

    def compute(query: str, texts: list[str], seconds: float) -> list[float]:
        read.extend(texts)
        return [float(len(text)) for text in texts]

    model = CrossEncoder(compute)  # type: ignore[arg-type]
    assert model.scores("q", ["a", "bb", "a"]).tolist() == [1.0, 2.0, 1.0]
    assert model.scores("q", ["bb", "ccc"]).tolist() == [2.0, 3.0] and read == ["a", "bb", "ccc"]


def test_after_the_time_the_rest_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def compute(query: str, texts: list[str], seconds: float) -> list[float]:
        nonlocal now
        now += 0.05
        return [1.0] * len(texts)

    monkeypatch.setattr("time.monotonic", lambda: now)
    model = CrossEncoder(compute, batch=2)  # type: ignore[arg-type]
    scores = model.scores("q", ["a", "b", "c", "d", "e", "f"], seconds=0.06)
    assert scores[:4].tolist() == [1.0] * 4 and np.isnan(scores[4:]).all()
    assert model.scores("q", ["a", "b", "c", "d", "e", "f"]).tolist() == [1.0] * 6


def test_a_cross_encoder_of_the_hub_is_loaded_as_an_encoder_is(
    hub: ModelServer, cross: Path, tmp_path: Path
) -> None:
    hub.folder = write_hub_folder(tmp_path / "cross-hub", cross)
    found = open_cross_encoder(f"hf:example/tiny@{COMMIT}")
    assert found.scores("storm", TEXTS) == pytest.approx(
        open_cross_encoder(str(cross)).scores("storm", TEXTS)
    )


def test_a_cross_encoder_is_loaded_once(cross: Path) -> None:
    assert load_cross_encoder(str(cross)) is load_cross_encoder(str(cross))


def test_bad_cross_encoders_are_one_message(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no cross-encoder 'minilm': give hf:OWNER/NAME of the hub, such as"):
        open_cross_encoder("minilm")
    with pytest.raises(InputError, match="no ONNX export"):
        open_cross_encoder(str(tmp_path))
    with pytest.raises(InputError, match=r"model\.onnx: the model makes \d+ numbers for a pair, and not one"):
        open_cross_encoder(str(folder)).scores("storm", TEXTS)


# On a server


def test_an_encoder_on_a_server_gives_its_vectors(server: ModelServer, folder: Path) -> None:
    local, name = Encoder(*find_folder(str(folder))), f"{server.url}/v1/embeddings#tiny"
    encoder = load_encoder(name)
    assert isinstance(encoder, ServedEncoder) and encoder.description.dimensions == 16
    assert encoder.description.id.startswith(f"{name} ")
    assert encoder.encode_query("storm") == local.encode_query("storm")
    vectors = encoder.encode_passages([*TEXTS, " ", *TEXTS * 10])
    assert np.array(vectors[:4]) == pytest.approx(np.array(local.encode_passages(TEXTS)))
    assert not vectors[4].any() and all(body["model"] == "tiny" for body in server.bodies)
    assert [len(body["input"]) for body in server.bodies[-2:]] == [32, 12]


def test_the_description_of_an_encoder_on_a_server_may_be_in_a_folder(
    server: ModelServer, tmp_path: Path
) -> None:
    url = f"{server.url}/v1/embeddings"
    (tmp_path / "encoder.json").write_text(
        f'{{"name": "mine", "dimensions": 16, "query_prefix": "query: ", "url": "{url}"}}'
    )
    encoder = load_encoder(str(tmp_path))
    encoder.encode_query("storm")
    assert server.bodies[-1]["input"] == ["query: storm"] and encoder.description.name == "mine"
    server.encode = lambda text: np.ones(8)
    with pytest.raises(ServerProblem, match="makes 8 dimensions instead of 16: it has another model"):
        encoder.encode_query("bank")


def test_sentences_of_a_document_are_sent_together(server: ModelServer, folder: Path) -> None:
    document = Document(
        "d", tuple(Sentence(f"d.s{n}", text) for n, text in enumerate(TEXTS)), title="Food aid"
    )
    name = f"{server.url}/v1/embeddings"
    served = SentenceVectors(VectorSettings(name, 0.5)).encode(document)
    assert [len(body["input"]) for body in server.bodies] == [1, 8]
    local = SentenceVectors(VectorSettings(str(folder), 0.5)).encode(document)
    assert [vector.values for vector in served] == [vector.values for vector in local]
    titled = SentenceVectors(VectorSettings(str(folder), 1.0)).encode(document)
    assert [vector.values for vector in served] != [vector.values for vector in titled]


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank#tiny"])
def test_a_cross_encoder_on_a_server_gives_its_scores(server: ModelServer, cross: Path, path: str) -> None:
    scores = open_cross_encoder(server.url + path).scores("storm", TEXTS)
    assert scores == pytest.approx(open_cross_encoder(str(cross)).scores("storm", TEXTS))
    assert [body.get("model") for body in server.bodies] == [path.partition("#")[2] or None]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that does not answer is asked again at once."""
    monkeypatch.setattr(model_server, "BACKOFF_SECONDS", 0.0)
    connections.cache_clear()
    yield
    connections.cache_clear()


@pytest.mark.usefixtures("impatient")
def test_a_busy_server_is_asked_again(server: ModelServer) -> None:
    server.failures = 2
    assert len(open_cross_encoder(f"{server.url}/rerank").scores("storm", TEXTS)) == 4
    assert len(server.calls) == 3
    server.failures = 9
    with pytest.raises(ServerProblem, match=rf"server {server.url}/rerank does not answer: too many 503"):
        open_cross_encoder(f"{server.url}/rerank").scores("storm", TEXTS)


def test_a_server_that_takes_too_long_is_not_waited_for(server: ModelServer) -> None:
    server.delays = [0.0, 5.0]
    texts = [f"storm {n}" for n in range(40)]
    scores = open_cross_encoder(f"{server.url}/rerank").scores("storm", texts, seconds=0.2)
    assert np.isfinite(scores[:16]).all() and np.isnan(scores[16:]).all()


@pytest.mark.usefixtures("impatient")
def test_a_server_that_is_not_there_is_one_message() -> None:
    with pytest.raises(ServerProblem, match=r"server http://127\.0\.0\.1:9/v1/embeddings does not answer"):
        load_encoder("http://127.0.0.1:9/v1/embeddings")
    with pytest.raises(ServerProblem, match=r"http://127\.0\.0\.1:9/rerank does not answer"):
        open_cross_encoder("http://127.0.0.1:9/rerank").scores("storm", TEXTS, seconds=30)


def test_a_server_may_want_a_key(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.token = "secret"
    with pytest.raises(ServerProblem, match=r"answers 401 \(who are you\): set ESR_MODEL_KEY"):
        load_encoder(f"{server.url}/v1/embeddings")
    monkeypatch.setenv("ESR_MODEL_KEY", "secret")
    assert load_encoder(f"{server.url}/v1/embeddings").description.dimensions == 16


@pytest.mark.parametrize(
    "answer", [{}, [], {"data": []}, {"data": [{"index": 0, "embedding": [math.nan]}]}, {"results": 1}, [1]]
)
def test_a_server_that_answers_something_else_is_one_message(server: ModelServer, answer: object) -> None:
    server.answer = answer
    with pytest.raises(EsrError, match=r"does not answer with a vector for each text.*is the path right\?"):
        load_encoder(f"{server.url}/v1/embeddings")
    with pytest.raises(EsrError, match=r"does not answer with a score for each text.*is the path right\?"):
        open_cross_encoder(f"{server.url}/rerank").scores("storm", TEXTS)


def test_texts_of_the_cache_are_not_asked_for(server: ModelServer) -> None:
    vectors = SentenceVectors(VectorSettings(f"{server.url}/v1/embeddings", 0.0))
    document = Document("d", (Sentence("d.s0", "storm"), Sentence("d.s1", "storm")))
    first = vectors.encode(document)
    assert vectors.encode(document) == first == [quantize(server.encode("storm"))] * 2
    assert [body["input"] for body in server.bodies] == [["vector"], ["storm"]]
