"""The table of an index: fitted to a sample, stored, and replaced by the encoder's own vectors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import esr
from esr.cli.main import main
from esr.encoders import load_encoder
from esr.encoders.table import VectorTable
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.enrichment.table_enricher import TableEnricher
from esr.errors import EsrError, UsageError
from esr.folder.write import enrichment as folder_enrichment
from esr.index.contract import Index
from esr.index.factory import open_delivery, open_generations
from esr.index.questions import MainEncoder, StoredTable, VectorOrigins, Vectors
from esr.index.runs import table_run
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.runs.table_run import choose_sample, describe_unknown_pieces, run_table
from esr.index.writer import LoadOptions
from esr.ranking.explanation.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.ranking.second_stage import query_encoder
from esr.ranking.second_stage.query_encoder import encode_query
from esr.text.sentence_enrichment import QuantizedVector
from esr.text.validate import to_json_line
from tests.index.test_meaning_parity import FIRST, MORE, make_documents
from tests.support.elasticsearch import all_indices, document, fresh, http, load, located
from tests.support.fake_enricher import VOCABULARY, write_tiny_encoder, write_tiny_text_encoder
from tests.support.processes import wait_until
from tests.support.runs import need

pytestmark = pytest.mark.slow

need("tokenizers")
need("scipy")

SAMPLE = 40
IDS = [sentence.id for document in FIRST for sentence in document.sentences]


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A folder with an index of FIRST."""
    where = str(tmp_path / "index")
    load(where, FIRST)
    return where


def fit(where: str, settings: VectorSettings, **options: Any) -> str:
    """Fit the table of an index, and return its digest."""
    with open_searcher(where) as searcher:
        return run_table(searcher.index, settings, sample=SAMPLE, **options).digest


def encode(where: str, settings: VectorSettings, ids: list[str] | None = None) -> None:
    with open_searcher(where) as searcher:
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=settings), ids=ids)


def stored(where: str, ids: list[str] = IDS) -> tuple[list[str | None], list[QuantizedVector | None]]:
    """What made the vector of each sentence, and these vectors."""
    with open_searcher(where) as searcher:
        encoder = searcher.index.status(MainEncoder())
        assert encoder is not None
        return searcher.index.read(ids, VectorOrigins(encoder)), searcher.index.read(ids, Vectors(encoder))


class Killed(BaseException):
    """Stands for the end of the process."""


class Killer:
    """Ends a run in a step, after some documents; in the step `fit` at its beginning."""

    def __init__(self, step: str, documents: int) -> None:
        self._step, self._left, self._now = step, documents, ""

    def start(self, step: str, documents: int) -> None:
        self._now = step
        if step == self._step == "fit":
            raise Killed

    def advance(self, documents: int) -> None:
        self._left -= documents * (self._now == self._step)
        if self._left <= 0:
            raise Killed


def explained_origins(where: str) -> dict[str, str | None]:
    """What made the vectors of the first sentences, as explanations say it."""
    with open_searcher(where) as searcher:
        prepared = searcher.prepare("storm city flood", Ranking.from_file("hybrid"))
        explained = {id: explain(prepared, id).second for id in IDS[:20]}
        return {id: second.vector for id, second in explained.items() if second is not None}


def cosine(one: QuantizedVector, other: QuantizedVector) -> float:
    a, b = one.array.astype(float), other.array.astype(float)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def sampled_ids(index: Index, settings: VectorSettings) -> set[str]:
    return {
        sentence.id
        for document in choose_sample(index, settings, SAMPLE).documents
        for sentence in document.sentences
    }


def test_the_sample_has_the_encoders_vectors_and_the_rest_the_tables(
    place: str, settings: VectorSettings
) -> None:
    digest = fit(place, settings)
    with open_searcher(place) as searcher:
        sample = sampled_ids(searcher.index, settings)
        table = VectorTable.from_bytes(searcher.index.status(StoredTable()) or b"")
    origins, vectors = stored(place)
    assert table.digest == digest and SAMPLE <= len(sample) < len(IDS)
    assert origins == ["" if id in sample else digest for id in IDS]
    expected = {
        sentence.id: enriched.vector
        for document, of_document in zip(
            FIRST, TableEnricher(table.to_bytes()).enrich_batch(FIRST), strict=True
        )
        for sentence, enriched in zip(document.sentences, of_document, strict=True)
    }
    own = [id for id in IDS if id not in sample]
    assert [vectors[IDS.index(id)] for id in own] == [expected[id] for id in own]


def test_both_engines_store_the_same_vectors_and_the_same_table(
    tmp_path: Path, elasticsearch_url: str, settings: VectorSettings
) -> None:
    with fresh(elasticsearch_url) as where:
        places = (str(tmp_path / "index"), where)
        for place in places:
            load(place, FIRST)
        kill = Killer("table", 5)
        with pytest.raises(Killed):
            fit(where, settings, on_start=kill.start, on_progress=kill.advance)
        assert fit(places[0], settings) == fit(where, settings)
        assert stored(places[0]) == stored(where)
        assert explained_origins(places[0]) == explained_origins(where)
        ids = [*IDS, *(sentence.id for document in MORE for sentence in document.sentences)]
        half = [document.id for document in FIRST[::2]]
        for place in places:
            encode(place, settings, half)
            open_delivery(place, LoadOptions()).append(located(MORE))
        assert stored(places[0], ids) == stored(where, ids)
        assert fit(places[0], settings) == fit(where, settings)
        assert stored(places[0], ids) == stored(where, ids)
        with closing(open_generations(where)) as generations:
            generations.delete_all()
        assert not all_indices(where), "the table is deleted with the index"


def test_the_encoders_vectors_replace_the_tables_and_stay(place: str, settings: VectorSettings) -> None:
    digest = fit(place, settings)
    half = [document.id for document in FIRST[::2]]
    encode(place, settings, half)
    origins, vectors = stored(place)
    own = {id for id, origin in zip(IDS, origins, strict=True) if origin == ""}
    assert own >= {s.id for d in FIRST[::2] for s in d.sentences} and digest in origins
    assert fit(place, settings) == digest, "the sample is the same"
    assert stored(place) == (origins, vectors)
    encode(place, settings)
    assert set(stored(place)[0]) == {""}
    fit(place, settings)
    assert set(stored(place)[0]) == {""}, "a table takes nothing away"


def test_a_table_by_another_sample_replaces_the_former_one(place: str, settings: VectorSettings) -> None:
    first = fit(place, settings)
    with open_searcher(place) as searcher:
        second = run_table(searcher.index, settings, sample=2 * SAMPLE).digest
    assert first != second and set(stored(place)[0]) == {"", second}
    with open_searcher(place) as searcher:
        assert VectorTable.from_bytes(searcher.index.status(StoredTable()) or b"").digest == second


class Interference:
    """Calls a function once, when the step `fit` begins or when the table has been stored."""

    def __init__(self, moment: str, work: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
        self._moment, self._work, self._is_done = moment, work, False

        def make(table: bytes) -> TableEnricher:
            self.reach("stored")
            return TableEnricher(table)

        monkeypatch.setattr(table_run, "TableEnricher", make)

    def reach(self, moment: str, items: int = 0) -> None:
        if moment == self._moment and not self._is_done:
            self._is_done = True
            self._work()


def test_a_run_whose_table_another_replaces_says_so_and_encodes_nothing_by_it(
    place: str, settings: VectorSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests: list[str] = []

    def fit_other() -> None:
        with open_searcher(place) as searcher:
            digests.append(run_table(searcher.index, settings, sample=2 * SAMPLE).digest)

    other = Interference("stored", fit_other, monkeypatch)
    with pytest.raises(EsrError, match=r"another run has replaced the table .* run esr enrich --only table"):
        fit(place, settings, on_start=other.reach)
    with open_searcher(place) as searcher:
        table = VectorTable.from_bytes(searcher.index.status(StoredTable()) or b"")
    assert [table.digest] == digests and set(stored(place)[0]) == {"", table.digest}
    again = fit(place, settings)
    assert again != table.digest and set(stored(place)[0]) == {"", again}


def test_a_run_says_that_a_load_replaced_its_sample(
    place: str, settings: VectorSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Interference("fit", lambda: load(place, MORE, if_exists="replace"), monkeypatch)
    with pytest.raises(EsrError, match="replaced meanwhile: run esr enrich --only table again"):
        fit(place, settings, on_start=other.reach)
    assert fit(place, settings) and None not in stored(place, [s.id for d in MORE for s in d.sentences])[0]


@pytest.mark.parametrize("step", ["sample", "fit", "table"])
def test_a_killed_run_resumes(place: str, settings: VectorSettings, step: str, tmp_path: Path) -> None:
    whole = str(tmp_path / "whole")
    load(whole, FIRST)
    digest = fit(whole, settings)
    kill = Killer(step, 5)
    with pytest.raises(Killed):
        fit(place, settings, on_start=kill.start, on_progress=kill.advance)
    with open_searcher(place) as searcher:
        assert searcher.search("storm city", ranking=Ranking.from_file("hybrid")).hits
    assert fit(place, settings) == digest
    assert stored(place) == stored(whole)


def test_a_killed_replacement_leaves_both_kinds_and_resumes(
    anywhere: str, settings: VectorSettings, tmp_path: Path
) -> None:
    """The encoder's vectors replace the table's document by document, while searches use both."""
    whole = str(tmp_path / "whole")
    for place in (whole, anywhere):
        load(place, FIRST)
        digest = fit(place, settings)
    encode(whole, settings)
    kill, before = Killer("replace", 8), stored(anywhere)[0].count("")
    kill.start("replace", 0)
    with open_searcher(anywhere) as searcher, pytest.raises(Killed):
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=settings), on_progress=kill.advance)
    if anywhere.startswith("http"):
        http("POST", f"{anywhere}*/_refresh")  # a run that ends does it
    origins, _ = stored(anywhere)
    assert before < origins.count("") < len(IDS) and set(origins) == {"", digest}
    with open_searcher(anywhere) as searcher:
        assert searcher.search("storm city", ranking=Ranking.from_file("hybrid")).without_vector == 0
    encode(anywhere, settings)
    assert stored(anywhere) == stored(whole) and set(stored(anywhere)[0]) == {""}


def test_explanations_say_what_made_the_vector(place: str, settings: VectorSettings) -> None:
    fit(place, settings)
    kinds = explained_origins(place)
    assert kinds == {
        id: "table" if origin else "encoder" for id, origin in zip(IDS[:20], stored(place)[0], strict=False)
    }
    assert {*kinds.values()} == {"table", "encoder"}


def test_deliveries_and_rollbacks_keep_the_table(place: str, settings: VectorSettings) -> None:
    digest = fit(place, settings)
    before = stored(place)
    open_delivery(place, LoadOptions(keep=2)).append(located(MORE))
    assert stored(place) == before
    with open_searcher(place) as searcher:
        assert VectorTable.from_bytes(searcher.index.status(StoredTable()) or b"").digest == digest
    with closing(open_generations(place)) as generations:
        generations.rollback()
    assert stored(place) == before and fit(place, settings) == digest


def test_an_encoder_without_a_tokenizer_has_a_table_of_pieces_learned_from_the_sample(
    anywhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = VectorSettings(str(write_tiny_text_encoder(tmp_path / "encoder", 24)))
    monkeypatch.setenv("ESR_ENCODER", settings.encoder)
    load(anywhere, FIRST)
    digest = fit(anywhere, settings)
    assert digest in stored(anywhere)[0] and fit(anywhere, settings) == digest
    with open_searcher(anywhere) as searcher:
        table = VectorTable.from_bytes(searcher.index.status(StoredTable()) or b"")
        assert searcher.search("storm city", ranking=Ranking.from_file("hybrid")).hits
    assert table.unknown_share(["storm city", "Storm CITY"]) == 0 < table.unknown_share(["жук"])
    encoder = load_encoder(settings.encoder)
    similarity = [cosine(table.encode_query(text), encoder.encode_query(text)) for text in VOCABULARY]
    assert sum(similarity) / len(similarity) > 0.8


def test_new_sentences_without_vectors_are_ranked_by_words(place: str, settings: VectorSettings) -> None:
    fit(place, settings)
    open_delivery(place, LoadOptions()).append(located([document("new", "storm city", "storm storm")]))
    with open_searcher(place) as searcher:
        answer = searcher.search("storm city", 300, ranking=Ranking.from_file("hybrid"))
    assert "new.s0" in [hit.sentence_id for hit in answer.hits]
    assert answer.without_vector == 2


def test_an_encoder_on_a_server_has_no_table(place: str) -> None:
    with open_searcher(place) as searcher, pytest.raises(UsageError, match="which is on a server: choose"):
        run_table(searcher.index, VectorSettings("http://localhost:1/embed"))


def test_a_sample_is_a_share_within_limits(
    tmp_path: Path, settings: VectorSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(str(tmp_path / "index"), FIRST)
    with open_searcher(str(tmp_path / "index")) as searcher:
        assert len(choose_sample(searcher.index, settings).documents) == len(FIRST), "of few sentences, all"
        monkeypatch.setattr(table_run, "LEAST_SAMPLE", 1)
        monkeypatch.setattr(table_run, "SAMPLE_SHARE", 0.1)
        tenth = choose_sample(searcher.index, settings)
        assert sum(len(d.sentences) for d in tenth.documents) == pytest.approx(0.1 * len(IDS), abs=5)
        assert choose_sample(searcher.index, settings) == tenth


def test_a_sample_has_more_pieces_than_documents_at_random(tmp_path: Path, settings: VectorSettings) -> None:
    repeated = [document(f"a{n}", "storm city", "city storm") for n in range(40)]
    varied = [document(f"b{n}", word, word) for n, word in enumerate(VOCABULARY[:12])]
    load(str(tmp_path / "index"), [*repeated, *varied])
    with open_searcher(str(tmp_path / "index")) as searcher:
        sample = choose_sample(searcher.index, settings, 24)
    assert sum(document.id.startswith("b") for document in sample.documents) >= 8, "at random, 3"


def test_a_sample_of_many_documents_has_runs_that_follow_one_another(
    tmp_path: Path, settings: VectorSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = make_documents(0, 600, seed=1)
    monkeypatch.setattr(table_run, "MANY_DOCUMENTS", len(documents))
    monkeypatch.setattr(table_run, "RUN", 4)
    load(str(tmp_path / "index"), documents)
    with open_searcher(str(tmp_path / "index")) as searcher:
        order = [document.id for document in searcher.index.documents()]
        sample = choose_sample(searcher.index, settings, 650)
        chosen = sorted(order.index(document.id) for document in sample.documents)
    runs = {n // 4 for n in chosen}
    assert len(chosen) > 200 and len(chosen) / (4 * len(runs)) > 0.6, "most runs are whole"


def test_the_newest_documents_show_when_a_table_is_old(
    anywhere: str, settings: VectorSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = anywhere
    load(place, FIRST)
    monkeypatch.setattr(table_run, "COMPARED_DOCUMENTS", 20)
    with open_searcher(place) as searcher:
        assert describe_unknown_pieces(searcher.index) is None, "there is no table"
        run_table(searcher.index, settings, sample=5)
        assert describe_unknown_pieces(searcher.index) is None
        table = VectorTable.from_bytes(searcher.index.status(StoredTable()) or b"")
    word = next(word for word in VOCABULARY if table.unknown_share([word]) == 1)
    open_delivery(place, LoadOptions()).append(located(document(f"x{n}", word) for n in range(20)))
    with open_searcher(place) as searcher:
        note = describe_unknown_pieces(searcher.index)
    assert note is not None and note.startswith("of the pieces of words in the newest documents, 100%")
    shown = CliRunner().invoke(main, ["status", "--index", place])
    assert f"table        {note}" in shown.output
    with open_searcher(place) as searcher:
        run_table(searcher.index, settings)
        assert describe_unknown_pieces(searcher.index) is None


def test_a_load_fits_a_table_if_asked(tmp_path: Path, settings: VectorSettings, delivery: str) -> None:
    where = str(tmp_path / "index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("esr.enrichment.enricher.DEFAULT_SETTINGS", settings)
        loaded = CliRunner().invoke(main, ["load", delivery, "--index", where, "--enrich-only", "table"])
    assert loaded.exit_code == 0, loaded.output
    assert "fitted a table to" in loaded.output
    assert set(stored(where, [MORE[-1].sentences[0].id])[0]) == {""}, (
        "of few sentences, all are in the sample"
    )


@pytest.fixture
def delivery(tmp_path: Path) -> str:
    """A file with the documents MORE."""
    path = tmp_path / "more.jsonl"
    path.write_text("".join(f"{to_json_line(document)}\n" for document in MORE), "utf-8")
    return str(path)


def test_deliveries_and_loads_encode_by_the_table(
    place: str, settings: VectorSettings, delivery: str, tmp_path: Path
) -> None:
    digest = fit(place, settings)
    ids = [sentence.id for document in MORE for sentence in document.sentences]
    added = CliRunner().invoke(main, ["append", delivery, "--index", place])
    assert added.exit_code == 0 and "vectors" not in added.output
    assert stored(place, ids)[0] == [digest] * len(ids)
    again = CliRunner().invoke(main, ["load", delivery, "--index", place, "--if-exists", "replace"])
    assert again.exit_code == 0, again.output
    assert stored(place, ids)[0] == [digest] * len(ids)


def test_a_delivery_replaces_no_vectors_with_other_settings(
    place: str, settings: VectorSettings, delivery: str
) -> None:
    fit(place, settings)
    encode(place, VectorSettings(settings.encoder, 1.0))
    before = stored(place)
    assert CliRunner().invoke(main, ["append", delivery, "--index", place]).exit_code == 0
    assert stored(place) == before
    assert stored(place, [MORE[-1].sentences[0].id])[0] == [None]


def test_a_delivery_without_the_packages_says_so(
    place: str, settings: VectorSettings, delivery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit(place, settings)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    added = CliRunner().invoke(main, ["append", delivery, "--index", place])
    assert added.exit_code == 0
    assert "new sentences have no vectors yet: the table of vectors needs tokenizers" in added.output


def test_a_damaged_table_is_found(place: str, settings: VectorSettings) -> None:
    fit(place, settings)
    path = max((Path(place) / "layers").iterdir(), key=lambda path: b"esr-table" in path.read_bytes())
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    found = CliRunner().invoke(main, ["verify", "--index", place])
    assert found.exit_code == 1 and path.name in found.output


def test_a_damaged_table_on_a_server_is_found(elasticsearch_url: str, settings: VectorSettings) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        fit(where, settings)
        assert CliRunner().invoke(main, ["verify", "--index", where]).exit_code == 0
        index = f"{where}-esr-table"
        stored_piece = http("POST", f"{index}/_search", {"query": {"exists": {"field": "digest"}}})
        for piece in stored_piece["hits"]["hits"]:
            http("DELETE", f"{index}/_doc/{piece['_id']}?refresh=true")
        found = CliRunner().invoke(main, ["verify", "--index", where])
    assert found.exit_code == 1 and "the table of vectors in" in found.output
    assert "fit it anew with esr enrich --only table" in found.output


def test_a_backup_has_the_table(place: str, settings: VectorSettings, tmp_path: Path) -> None:
    digest = fit(place, settings)
    for command in (
        ["backup", str(tmp_path / "b"), "--index", place],
        ["restore", str(tmp_path / "b"), "--index"],
    ):
        target = [str(tmp_path / "again")] if command[0] == "restore" else []
        assert CliRunner().invoke(main, [*command, *target]).exit_code == 0
    again = str(tmp_path / "again")
    assert stored(again) == stored(place) and fit(again, settings) == digest


def test_the_newest_documents_get_the_encoders_vectors_first(
    anywhere: str, settings: VectorSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed has replaced the table's vectors of the newer delivery."""
    monkeypatch.setattr(folder_enrichment, "RUN", 1)
    old = [document(f"old{n}", "storm city", "river flood", date="2017-01-02") for n in range(3)]
    new = [document(f"new{n}", "storm town", "court bank", date="2024-01-02") for n in range(3)]
    load(anywhere, old)
    open_delivery(anywhere, LoadOptions()).append(located(new))
    with open_searcher(anywhere) as searcher:
        run_table(searcher.index, settings, sample=1)
    enricher = Enricher(["vectors"], vectors=settings)
    with open_searcher(anywhere) as searcher, searcher.index.enrichment() as enrichment:
        pending = [document.id for document in enrichment.pending(enricher.recipe)]
        first = [id for id in pending if id.startswith("new")]
        assert len(pending) == 5 and pending[: len(first)] == first
        features = [document.id for document in enrichment.pending(Enricher(["quotes"]).recipe)]
        assert features[0].startswith("old"), "other parts are computed in the order of the collection"


def test_python_fits_a_table_too(place: str, settings: VectorSettings) -> None:
    with esr.open(place) as index:
        report = index.enrich("table", encoder=settings.encoder, sample=SAMPLE)
        assert 0 < report.documents < len(FIRST)
        with pytest.raises(UsageError, match="leave out slice"):
            index.enrich("table", slice=(1, 2))
    assert len(set(stored(place)[0])) == 2


def test_a_process_without_the_encoder_encodes_queries_by_the_table(
    place: str, settings: VectorSettings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with open_searcher(place) as searcher:
        run_table(searcher.index, settings)
        encoder, by_encoder = encode_query(searcher.index, "storm river")
    monkeypatch.delenv("ESR_ENCODER")
    monkeypatch.setattr(query_encoder, "QUERY_TABLES", {})
    with open_searcher(place) as searcher:
        of_table = VectorTable.from_bytes(searcher.index.status(StoredTable()) or b"")
        assert encode_query(searcher.index, "storm river") == (encoder, of_table.encode_query("storm river"))
        assert of_table.encode_query("storm river") != by_encoder
        assert searcher.search("storm river", ranking=Ranking.from_file("hybrid")).hits
    (said,) = caplog.messages
    assert said.startswith(f"{place}: queries are encoded by its table") and "has no known name" in said


def test_an_encoder_that_can_be_loaded_again_takes_the_place_of_the_table(
    place: str, settings: VectorSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fit(place, settings)
    monkeypatch.setattr(query_encoder, "QUERY_TABLES", {})
    monkeypatch.setattr(query_encoder, "LOADS", {})
    with open_searcher(place) as searcher:
        by_encoder = encode_query(searcher.index, "storm river")
        monkeypatch.setenv("ESR_ENCODER", str(tmp_path / "away"))
        by_table = encode_query(searcher.index, "storm river")
        assert by_table != by_encoder
        query_encoder.find_obstacle(searcher.index)
        copytree(settings.encoder, tmp_path / "away")
        query_encoder.find_obstacle(searcher.index)
        assert encode_query(searcher.index, "storm river") == by_table
        for load in query_encoder.LOADS.values():
            load.began -= 3600

        def is_loaded() -> bool:
            query_encoder.find_obstacle(searcher.index)
            return encode_query(searcher.index, "storm river") == by_encoder

        wait_until(is_loaded, "the load of the encoder", 20)


def test_another_encoder_than_that_of_the_index_is_refused_with_a_table_too(
    place: str, settings: VectorSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fit(place, settings)
    monkeypatch.setenv("ESR_ENCODER", str(write_tiny_encoder(tmp_path / "other", 8)))
    with open_searcher(place) as searcher, pytest.raises(UsageError, match="and this is tiny"):
        encode_query(searcher.index, "storm river")
