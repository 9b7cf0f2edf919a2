from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esr.errors import IndexUnusable
from esr.folder.format import manifest
from esr.folder.format.damage import SegmentDamaged
from esr.folder.format.layers import EncodedEnrichment, Layer, LayerStack, save_layer, select_layer
from esr.folder.format.segment import Segment
from esr.folder.index import EmbeddedIndex
from esr.folder.search.conditions import mask_entities
from esr.folder.write import segment_writer
from esr.folder.write.enrichment import read_stored
from esr.folder.write.maintenance import EmbeddedGenerations
from esr.index.filters import Filters
from esr.index.questions import EvidenceOf, Parses, Records, Summary
from esr.index.runs import enrichment_run
from esr.ranking.searcher import open_searcher
from esr.text.document import ParseWord, Sentence
from tests.support.fake_enricher import FakeEnricher
from tests.support.folder_index import document, file_contents, load
from tests.support.index_contents import NOT_ENRICHED, enrich, expected, read_enrichment

pytestmark = pytest.mark.slow

NEWS = [document(f"n{n}", *(f"storm {n} {m}" for m in range(n % 4))) for n in range(40)]
DOCUMENTS = [located.document for located in NEWS]


def expected_enrichment(enricher: FakeEnricher, documents: list[Any] = DOCUMENTS) -> dict[str, Any]:
    from esr.text.analyzer import get_analyzer

    return {k: v for d in documents for k, v in expected(enricher, d, get_analyzer("plain")).items()}


def layers(where: Path) -> list[str]:
    names = [layer.name for layer in manifest.read_manifest(where).layers]
    assert sorted(path.name for path in (where / "layers").iterdir()) == sorted(names)
    return names


@pytest.fixture
def index(where: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedIndex:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 60)
    load(where, NEWS)
    return EmbeddedIndex(str(where))


def test_stored_batches_become_one_layer_per_segment(
    index: EmbeddedIndex, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enrichment_run, "BATCH_SENTENCES", 1)
    largest = 0

    def step(documents: int) -> None:
        nonlocal largest
        largest = max(largest, len(manifest.read_manifest(where).layers))

    assert enrich(index, on_progress=step).documents == 40
    segments = index.status(Summary())["segments"]
    assert segments > 2 and len(layers(where)) == segments
    assert largest <= segments + 5, "layers are merged meanwhile"
    assert read_enrichment(index, DOCUMENTS) == expected_enrichment(FakeEnricher())


def test_an_index_without_enrichment_has_no_layers(index: EmbeddedIndex, where: Path) -> None:
    assert not (where / "layers").exists()
    assert index.read(["n1.s0"], Parses()) == [None]
    assert index.read(["n1.s0"], Records())[0].features == {}


def test_slices_are_disjoint_and_complete(index: EmbeddedIndex, where: Path) -> None:
    enriched: list[str] = []
    for number in (2, 3, 1):
        enricher = FakeEnricher()
        enrich(index, enricher, slice=(number, 3))
        assert 6 <= len(enricher.enriched_ids) <= 20
        enriched += enricher.enriched_ids
    assert sorted(enriched) == sorted(d.id for d in DOCUMENTS)
    assert len(layers(where)) == index.status(Summary())["segments"]
    assert read_enrichment(index, DOCUMENTS) == expected_enrichment(FakeEnricher())


def test_an_append_retains_enrichment_and_a_replacing_load_drops_it(
    index: EmbeddedIndex, where: Path
) -> None:
    enrich(index)
    added = [document(f"m{n}", "calm sea", "storm") for n in range(3)]
    load(where, [*NEWS[:2], *added], if_exists="append")
    assert read_enrichment(index, DOCUMENTS) == expected_enrichment(FakeEnricher())
    enricher = FakeEnricher()
    assert enrich(index, enricher).already == 40 and enricher.enriched_ids == ["m0", "m1", "m2"]
    all_documents = DOCUMENTS + [located.document for located in added]
    assert read_enrichment(index, all_documents) == expected_enrichment(FakeEnricher(), all_documents)
    load(where, NEWS, if_exists="replace")
    EmbeddedGenerations(str(where)).rollback()
    assert read_enrichment(index, all_documents) == expected_enrichment(FakeEnricher(), all_documents), (
        "a kept generation stays enriched"
    )
    load(where, NEWS, if_exists="replace", keep=0)
    assert layers(where) == [] and index.status(Summary())["enrichment"] == []
    assert read_enrichment(index, DOCUMENTS)["n1.s0"] == NOT_ENRICHED


def test_another_recipe_replaces_all_of_the_first(
    index: EmbeddedIndex, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enrich(index)
    monkeypatch.setattr(enrichment_run, "BATCH_SENTENCES", 3)
    half = FakeEnricher(version="2")
    enrich(index, half, slice=(1, 2))
    assert {(m["made_with"]["fake"], m["documents"]) for m in index.status(Summary())["enrichment"]} == {
        ("1", 40 - len(half.enriched_ids)),
        ("2", len(half.enriched_ids)),
    }
    mixed = {
        k: v
        for d in DOCUMENTS
        for k, v in expected_enrichment(FakeEnricher(version="12"[d.id in half.enriched_ids]), [d]).items()
    }
    assert read_enrichment(index, DOCUMENTS) == mixed
    assert enrich(index, FakeEnricher(version="1")).documents == len(half.enriched_ids)
    assert read_enrichment(index, DOCUMENTS) == expected_enrichment(FakeEnricher())
    enrich(index, FakeEnricher(version="2"))
    assert read_enrichment(index, DOCUMENTS) == expected_enrichment(FakeEnricher(version="2"))
    assert index.cache.snapshot.features == ["count", "share"], "nothing of the first recipe remains"
    assert len(manifest.read_manifest(where).recipes) == 1


@pytest.mark.parametrize("done", [range(3, 20), range(19, 0, -2)])
def test_layers_hold_little_that_another_recipe_has_replaced(where: Path, done: range) -> None:
    """Batches of one document, in different orders, over a segment that another recipe has enriched."""
    load(where, NEWS)
    index = EmbeddedIndex(str(where))
    versions = {d.id: "1" for d in DOCUMENTS}
    with index.enrichment() as enrichment:
        enricher = FakeEnricher(version="1")
        enrichment.store(enricher.recipe, [(d.id, enricher.enrich(d)) for d in DOCUMENTS])
        for number in done:
            enricher, changed = FakeEnricher(version="2"), DOCUMENTS[number]
            enrichment.store(enricher.recipe, [(changed.id, enricher.enrich(changed))])
            versions[changed.id] = "2"
            stored = manifest.read_manifest(where).layers
            assert len(layers(where)) == len(stored)
            assert sum(layer.documents for layer in stored) <= 1.1 * len(DOCUMENTS)
            assert read_enrichment(index, DOCUMENTS) == {
                k: v
                for d in DOCUMENTS
                for k, v in expected_enrichment(FakeEnricher(version=versions[d.id]), [d]).items()
            }


def test_merging_neighbors_retains_what_was_enriched_again_between_them(where: Path) -> None:
    """One recipe, another over half of it, then the first again beside both."""
    load(where, NEWS)
    index = EmbeddedIndex(str(where))
    versions: dict[str, str] = {}
    with index.enrichment() as enrichment:
        for version, batch in (("1", slice(0, 20)), ("2", slice(0, 8)), ("1", slice(20, 30))):
            enricher = FakeEnricher(version=version)
            enrichment.store(enricher.recipe, [(d.id, enricher.enrich(d)) for d in DOCUMENTS[batch]])
            versions |= {d.id: version for d in DOCUMENTS[batch]}
    documents = [d for d in DOCUMENTS if d.id in versions]
    enrichment_by_id = read_enrichment(index, documents)
    assert enrichment_by_id == {
        k: v
        for d in documents
        for k, v in expected_enrichment(FakeEnricher(version=versions[d.id]), [d]).items()
    }
    segment = index.cache.snapshot.segments[0]
    for name in ("Barack Obama", "UN"):
        mask = np.flatnonzero(mask_entities(segment, (name,)))
        naming = {
            k
            for k, v in enrichment_by_id.items()
            if any(name in names for names in (v["entities"] or {}).values())
        }
        assert naming and {segment.sentence_id(number) for number in mask} == naming


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_selected_sentences_of_a_layer_make_the_layer_that_is_written_for_them(
    index: EmbeddedIndex, where: Path, tmp_path: Path, step: int
) -> None:
    enrich(index)
    commit = manifest.read_manifest(where)
    for info in commit.layers:
        layer = Layer(where / "layers" / info.name)
        segment = Segment(where / "segments" / info.segment)
        stack = LayerStack([(info, layer)], segment.column("first"), segment.sentence_count)
        sentences = np.arange(segment.sentence_count)[1::step]
        save_layer(tmp_path / "a", list(read_stored(stack, sentences, info.parts)), info.parts)
        mask = np.zeros(segment.sentence_count, bool)
        mask[sentences] = True
        select_layer(tmp_path / "b", layer, mask, info.parts)
        assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


def test_enrichment_and_loads_lock_one_another_out(index: EmbeddedIndex, where: Path) -> None:
    with index.enrichment():
        with pytest.raises(IndexUnusable, match="or its enrichment, is running: wait"), index.enrichment():
            pass
        with pytest.raises(IndexUnusable, match="or its enrichment, is running: wait"):
            load(where, NEWS, if_exists="append")


@pytest.mark.parametrize("bytes_left", [0, 7, 100, -1])
def test_a_truncated_layer_is_reported(index: EmbeddedIndex, where: Path, bytes_left: int) -> None:
    enrich(index)
    path = where / "layers" / layers(where)[0]
    content = path.read_bytes()
    path.write_bytes(content[:bytes_left])
    with pytest.raises(SegmentDamaged, match=f"{path} is damaged, it has .* bytes instead of "):
        EmbeddedIndex(str(where))
    path.unlink()
    with pytest.raises(SegmentDamaged, match="is damaged"):
        EmbeddedIndex(str(where))


def test_the_next_writer_deletes_what_a_killed_enrichment_left(index: EmbeddedIndex, where: Path) -> None:
    enrich(index)
    (where / "layers" / "left").write_bytes(b"half")
    before = file_contents(where)
    assert before.pop("layers/left")
    with index.enrichment():
        pass
    assert file_contents(where) == before


def test_an_interruption_stores_the_unfinished_batch(index: EmbeddedIndex) -> None:
    steps: list[int] = []

    def step(documents: int) -> None:
        steps.append(documents)
        if len(steps) == 17:
            raise KeyboardInterrupt

    enricher = FakeEnricher()
    with pytest.raises(KeyboardInterrupt):
        enrich(index, enricher, on_progress=step)
    assert enrich(index).already == 17


def test_a_snapshot_does_not_see_later_enrichment(index: EmbeddedIndex) -> None:
    snapshot = index.snapshot()
    enrich(index)
    assert snapshot.read(["n3.s1"], Records())[0].features == {}
    assert index.read(["n3.s1"], Records())[0].features
    assert index.cache.snapshot.statistics.importance is not None
    assert snapshot.cache.snapshot.statistics.collection == index.cache.snapshot.statistics.collection


def test_an_open_index_does_not_read_segments_again_after_a_batch(index: EmbeddedIndex) -> None:
    segments, importance = index.cache.snapshot.segments, index.cache.snapshot.statistics.importance
    enrich(index)
    assert [s.terms for s in index.cache.snapshot.segments] == [s.terms for s in segments]
    assert index.cache.snapshot.statistics.importance is importance


def test_features_and_parses_of_the_documents_are_available_after_the_load(where: Path) -> None:
    inline = Sentence("g.s1", "rain fell", {"subj": 0.1}, (ParseWord("rain", 1), ParseWord("fell", -1)))
    load(where, [document("g", "storm", inline), document("h", "calm")])
    index = EmbeddedIndex(str(where))
    assert index.read(["g.s1"], Records())[0].features == {"subj": 0.1}
    assert [blob is None for blob in index.read(["g.s0", "g.s1", "h.s0"], Parses())] == [True, False, True]
    column = index.read(["h.s0", "g.s1"], EvidenceOf([], ["features.subj"])).columns["features.subj"]
    assert np.array_equal(column, [np.nan, 0.1], equal_nan=True)
    enrich(index)
    assert index.read(["g.s1"], Records())[0].features["subj"] == 0.1
    assert Filters(entities=("x",))


@pytest.mark.parametrize(
    ("values", "kind"),
    [([1, 2048, None], "f2"), ([0.1], "f8"), ([70000, 1], "f4"), ([1e300], "f8"), ([0.5], "f2")],
)
def test_a_feature_takes_the_smallest_float_that_holds_it(
    tmp_path: Path, values: list[float | None], kind: str
) -> None:
    save_layer(
        tmp_path / "x",
        [EncodedEnrichment({} if v is None else {"f": v}, None, None) for v in values],
        ("features",),
    )
    column = Layer(tmp_path / "x").features["f"]
    assert column.dtype == np.dtype(kind)
    assert [None if np.isnan(v) else float(v) for v in column] == values


def test_parses_by_ordinal_are_those_by_id(where: Path) -> None:
    """Over two segments, in any order."""
    load(where, [document(f"n{n}", *(f"storm number {m}" for m in range(5))) for n in range(20)])
    load(where, [document(f"m{n}", f"storm {n}", "other words") for n in range(9)], if_exists="append")
    enrich(EmbeddedIndex(str(where)))
    with open_searcher(str(where)) as searcher:
        hits = searcher.search("storm", 200, model="tfisf").hits[::-1]
        ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
        parses = searcher.index.read(ids, Parses(), ordinals)
        assert parses == searcher.index.read(ids, Parses())
        assert len(set(parses)) > 10 and len(hits) == 109
