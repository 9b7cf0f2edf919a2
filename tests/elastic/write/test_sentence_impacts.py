"""Impacts bound what sentences get, also through any sequence of deliveries, once they have slack."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esr.elastic import impacts as impact_store
from esr.elastic.cluster import Cluster
from esr.elastic.impacts import (
    EMPTY,
    IMPACT_BOOST,
    choose_base,
    describe_after_delivery,
    describe_impacts,
    described_base,
    find_slack,
    impact_codes,
    log_collection,
    short_float,
)
from esr.elastic.write import actions
from esr.elastic.write import enrichment as engine
from esr.elastic.write.actions import PostingsByDocument, SegmentImpacts
from esr.elastic.write.enrichment import replace_parts, send_updates
from esr.elastic.write.spool import greatest_loss, write_spool
from esr.enrichment.recipe import Recipe
from esr.errors import EngineUnreachable, EsrError
from esr.folder.format.snapshot import Snapshot
from esr.folder.search.records import read_evidence
from esr.index.writer import Description
from esr.plans.evaluate import Array, combine_evidence
from esr.plans.plan import Mixture, Plan, PlanTerm, Statistics, TermStatistics
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.document import Located
from tests.support.elasticsearch import document as bare_document
from tests.support.elasticsearch import http, load
from tests.support.fake_enricher import FakeEnricher
from tests.support.folder_index import document
from tests.support.index_contents import enrich
from tests.support.pruning import WORDS, adverse_documents

pytestmark = pytest.mark.slow

SentenceImpacts = list[dict[str, float]]
LONGEST = 150
"""Sentences of the longest document."""
SEEDS = st.integers(0, 2**32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("os.fsync", lambda number: None)
    return tmp_path


class Collection:
    """Documents with the impacts that they got when they came, and what the index says about them."""

    def __init__(self, folder: Path, mixture: Mixture, documents: list[Located]) -> None:
        self._folder = folder
        self.mixture = mixture
        self.documents: dict[str, Located] = {}
        self.impacts: dict[str, SentenceImpacts] = {}
        first = self.spool(documents)
        self.description = describe_impacts(choose_base(mixture), first.statistics.collection)
        self._add(first, documents, {}, 0)

    def spool(self, documents: list[Located]) -> Snapshot:
        return write_spool(Path(mkdtemp(dir=self._folder)), Description("plain", True), documents)

    def deliver(self, documents: list[Located], removed_ids: list[str]) -> None:
        replaced = [d.document.id for d in documents if d.document.id in self.documents]
        before = self.spool(list(self.documents.values())).statistics.collection
        lost_documents = [self.documents.pop(id) for id in {*replaced, *removed_ids}]
        for located in lost_documents:
            del self.impacts[located.document.id]
        rest = self.spool(list(self.documents.values()))
        elsewhere = occurrences(rest)
        new_spool = self.spool(documents)
        self._add(new_spool, documents, elsewhere, rest.statistics.collection.occurrences)
        after = self.spool(list(self.documents.values())).statistics.collection
        lost = greatest_loss(self.spool(lost_documents), new_spool)
        self.description = describe_after_delivery(self.description, before, after, lost)

    def _add(
        self, spool: Snapshot, documents: list[Located], elsewhere: Mapping[str, int], total: int
    ) -> None:
        self.documents |= {located.document.id: located for located in documents}
        for owner, segment in enumerate(spool.segments):
            postings = PostingsByDocument(segment)
            base = described_base(self.description)
            of_segment = SegmentImpacts(spool, owner, postings, base, elsewhere, total)
            for number in range(segment.document_count):
                self.impacts[segment.document_ids[number]] = of_segment.read_document(number)


def occurrences(spool: Snapshot) -> Counter[str]:
    counts: Counter[str] = Counter()
    for segment in spool.segments:
        for number, count in enumerate(segment.column("occurrences").tolist()):
            counts[segment.terms[number]] += count
    return counts


def random_news(rng: random.Random, first: int, count: int, longest: int) -> list[Located]:
    words = WORDS[: rng.randint(2, len(WORDS))]
    return [
        document(
            f"d{first + n}",
            *(" ".join(rng.choices(words, k=rng.randint(1, longest))) for _ in range(rng.randint(1, 3))),
            **({"title": "rare stone"} if rng.random() < 0.3 else {}),
        )
        for n in range(count)
    ]


def random_life(folder: Path, seed: int, mixture: Mixture) -> Collection:
    """A load, then up to five deliveries of new, changed and removed documents."""
    rng = random.Random(seed)
    collection = Collection(folder, mixture, random_news(rng, 0, rng.randint(3, 8), longest=6))
    for _ in range(rng.randint(1, 5)):
        ids = sorted(collection.documents)
        removed = rng.sample(ids, rng.randint(0, min(3, len(ids) - 1)))
        documents = random_news(rng, rng.randint(0, 12), rng.randint(0, 4), longest=rng.choice((4, 25)))
        delivered = {located.document.id for located in documents}
        collection.deliver(documents, [id for id in removed if id not in delivered])
    return collection


def kept_impacts(weights: list[float]) -> Array:
    """The impacts of these weights in postings, which keep 16 bits of a weight."""
    bits = np.array(weights, np.float32).view(np.int32) >> 15 << 15
    return bits.view(np.float32).astype(float) * IMPACT_BOOST


def differences(collection: Collection) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How far the bounds with slack are above what each term adds to each sentence whose document has it.

    Also how far the impacts for lengths are above what these take.
    """
    spool = collection.spool(list(collection.documents.values()))
    statistics, mixture = spool.statistics, collection.mixture
    terms = {term: statistics.find(term).statistics for term in occurrences(spool)}
    plan_terms = tuple(
        PlanTerm(term, 1.0, statistics.collection.background(of_term)) for term, of_term in terms.items()
    )
    plan = Plan(plan_terms, mixture, "context", "document")
    slack = find_slack(collection.description, plan, Statistics(statistics.collection, terms))
    assert slack is not None
    over = []
    for segment in spool.segments:
        sentences = np.arange(segment.sentence_count)
        evidence = read_evidence(
            [term.term for term in plan_terms], mixture.fields(), [], segment, {}, sentences
        )
        in_document = read_evidence(
            [term.term for term in plan_terms], ["document"], [], segment, {}, sentences
        ).counts["document"]
        lengths = evidence.lengths["sentence"]
        length = log_collection(mixture, lengths)
        ids = map(segment.document_ids.__getitem__, range(segment.document_count))
        of_documents = map(collection.impacts.__getitem__, ids)
        stored_impacts = [*chain.from_iterable(of_documents)]
        short = kept_impacts([impact.get(EMPTY, 0.0) for impact in stored_impacts])
        for_length = slack.base.log_collection + short - length
        over.append(for_length)
        for row, (term, x) in enumerate(
            zip(plan_terms, combine_evidence(plan, evidence.counts, evidence.lengths), strict=True)
        ):
            stored = kept_impacts([impact.get(term.term, 0.0) for impact in stored_impacts])
            far = np.log1p(slack.base.scale / term.background)
            with_slack = far + stored + slack.slack_for(term.term)
            adds = np.log(x / term.background) - length
            over.append((for_length + with_slack - adds)[in_document[row] > 0])
    return np.concatenate(over)


def shortfall(collection: Collection) -> float:
    """How far a bound with slack is below the truth at most; negative if none is."""
    return float(-differences(collection).min())


RANKINGS = [Ranking(), Ranking("2s", "surrounding"), Ranking("dir")]


@pytest.mark.slow
@pytest.mark.parametrize("ranking", RANKINGS, ids=str)
@given(seed=SEEDS)
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_impacts_with_slack_are_never_too_low(folder: Path, ranking: Ranking, seed: int) -> None:
    mixture = ranking.mixture()
    assert mixture is not None
    assert shortfall(random_life(folder, seed, mixture)) < 1e-9


@pytest.mark.slow
def test_without_the_slack_they_would_be(folder: Path) -> None:
    mixture = Ranking().mixture()
    assert mixture is not None
    lives = [random_life(folder, seed, mixture) for seed in range(6)]
    assert all(shortfall(life) < 1e-9 for life in lives)
    for life in lives:
        life.description["lost"] = 0
    assert any(shortfall(life) > 0.01 for life in lives), "no delivery has lost anything"
    for life in lives:
        life.description["least_occurrences"] = 10**9
    assert any(shortfall(life) > 0.1 for life in lives), "no collection has grown"


def test_deliveries_keep_the_base_of_the_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of esr may choose another one."""
    mixture = Ranking().mixture()
    assert mixture is not None
    for other in (2.0, 12.0):
        with monkeypatch.context() as older:
            older.setattr(impact_store, "SHORT_SENTENCE", other)
            older.setattr(impact_store, "DOCUMENT_LENGTH", 50.0)
            life = Collection(folder, mixture, random_news(random.Random(3), 0, 6, longest=20))
        assert described_base(life.description) != choose_base(mixture)
        life.deliver(random_news(random.Random(4), 4, 6, longest=20), ["d0"])
        assert shortfall(life) < 1e-9


def test_impacts_that_do_not_describe_the_collection_are_given_up(folder: Path) -> None:
    """As after a load that set documents aside, or one by an older esr."""
    mixture = Ranking().mixture()
    assert mixture is not None
    collection = Collection(folder, mixture, random_news(random.Random(1), 0, 5, longest=6))
    before = collection.spool(list(collection.documents.values())).statistics.collection
    known = collection.description
    assert describe_after_delivery(known, before, before, 3) == {**known, "lost": 3}
    assert describe_after_delivery({**known, "documents": 6}, before, before, 0) == {}
    older = {name: value for name, value in known.items() if name != "lost"}
    assert describe_after_delivery(older, before, before, 0) == {}
    terms = {"bank": TermStatistics(1, 1, 1)}
    plan = Plan((PlanTerm("bank", 1.0, before.background(terms["bank"])),), mixture, "context", "document")
    statistics = Statistics(before, terms)
    assert find_slack(known, plan, statistics) is not None
    assert find_slack(older, plan, statistics) is None
    assert find_slack({**known, "sentences": 1}, plan, statistics) is None


@pytest.mark.parametrize("batch", [1, 1 << 14])
@pytest.mark.parametrize("ranking", RANKINGS, ids=str)
def test_impacts_say_how_much_more_than_a_far_term_each_term_adds(
    folder: Path, monkeypatch: pytest.MonkeyPatch, ranking: Ranking, batch: int
) -> None:
    """Terms without an impact add less than far ones, and the others what the stored digits say."""
    monkeypatch.setattr(actions, "IMPACTS_BATCH", batch)
    mixture = ranking.mixture()
    assert mixture is not None
    collection = Collection(folder, mixture, adverse_documents(LONGEST))
    over = differences(collection)
    assert over.min() > -1e-9
    stored = sum(len(impact) for document in collection.impacts.values() for impact in document)
    exact = over < np.maximum(0.125, 16 / 256)
    assert stored > 1000 and exact.sum() >= stored


def test_codes_are_the_next_weights_that_postings_can_keep() -> None:
    values = np.concatenate([[0.0, 1e-9, 0.125], np.linspace(0.125, 20.0, 999)])
    decoded = kept_impacts([short_float(code) for code in impact_codes(values).tolist()])
    assert (decoded >= values).all()
    assert (decoded <= np.maximum(values, 0.125) * (1 + 2 / 256)).all()
    assert impact_codes(values).max() < 1 << 12, "small weights need few bits"
    assert min(map(short_float, impact_codes(values).tolist())) >= 2.0**-126, "Elasticsearch takes no less"


@pytest.mark.parametrize(("sentences", "has_impacts"), [(8, True), (14, False)])
def test_terms_have_impacts_far_from_them_in_a_short_document(
    folder: Path, sentences: int, has_impacts: bool
) -> None:
    """Ten terms a sentence: the last is far from the first. Terms are rare in the collection."""
    mixture = Ranking().mixture()
    assert mixture is not None
    bodies = [" ".join(f"w{n}x{m}" for m in range(10)) for n in range(sentences)]
    others = " ".join(f"other{n}" for n in range(1000))
    collection = Collection(folder, mixture, [document("d", *bodies), document("e", others)])
    assert differences(collection).min() > -1e-9
    assert ("w0x0" in collection.impacts["d"][-1]) is has_impacts
    assert "w0x0" in collection.impacts["d"][1]


DOCUMENTS = [bare_document(f"n{n}", *(f"storm {n} {m}" for m in range(n % 4))) for n in range(25)]


def test_slices_share_no_document_and_omit_none(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PAGE_SIZE", 3)
    load(where, DOCUMENTS[:20], shards=3)
    load(where, DOCUMENTS[20:], if_exists="append")
    enriched_ids: list[str] = []
    with open_searcher(where) as searcher:
        for number in (2, 3, 1):
            enricher = FakeEnricher()
            report = enrich(searcher.index, enricher, slice=(number, 3))
            assert len(enricher.enriched_ids) in (8, 9)
            enriched_ids += enricher.enriched_ids
            assert report.notes[0].startswith(
                "Elasticsearch is merging" if number == 1 else f"{25 - len(enriched_ids)} of 25"
            )
    assert sorted(enriched_ids) == sorted(d.id for d in DOCUMENTS)


def test_each_index_has_the_recipe(where: str) -> None:
    load(where, DOCUMENTS[:20])
    load(where, DOCUMENTS[20:], if_exists="append")
    with open_searcher(where) as searcher:
        enrich(searcher.index)
    recipe = FakeEnricher().recipe
    mappings = http("GET", f"{where}/_mapping")
    assert len(mappings) == 2
    for index in mappings.values():
        meta = index["mappings"]["_meta"]["esr"]
        assert Recipe.from_dict(meta["recipes"][recipe.digest]) == recipe
        assert meta["complete"] and meta["analyzer"] == "english-stem"


def test_a_load_that_replaces_the_index_meanwhile_is_reported(where: str) -> None:
    load(where, DOCUMENTS)

    steps: list[int] = []

    def step(documents: int) -> None:
        steps.append(documents)
        if len(steps) == 10:
            load(where, DOCUMENTS, if_exists="replace")

    with (
        open_searcher(where) as searcher,
        pytest.raises(EsrError, match=r"a load replaced .* meanwhile: enrich it again"),
    ):
        enrich(searcher.index, on_progress=step)


def test_replaced_entries_are_merged_away(where: str) -> None:
    """A copy of a shard keeps deleted entries for its replicas for half a minute."""
    load(where, DOCUMENTS)
    with open_searcher(where) as searcher:
        enrich(searcher.index)
    end = time.monotonic() + 90
    while http("GET", f"{where}/_stats/docs")["_all"]["primaries"]["docs"]["deleted"]:
        assert time.monotonic() < end
        time.sleep(2)
        http("POST", f"{where}/_forcemerge?only_expunge_deletes=true")
        http("POST", f"{where}/_refresh")


def test_an_index_that_accepts_no_writes_is_reported(where: str) -> None:
    load(where, DOCUMENTS)
    http("PUT", f"{where}/_settings", {"index.blocks.write": True})
    with (
        open_searcher(where) as searcher,
        pytest.raises(EngineUnreachable, match=r"accepts no writes: .*block.*; .*remove its setting"),
    ):
        enrich(searcher.index)


def test_a_rejected_entry_is_reported(where: str) -> None:
    load(where, DOCUMENTS)
    with closing(Cluster(where)) as cluster:
        unknown = replace_parts(cluster.alias, "nobody", ["features:1"], {"features": {"x": 1.0}})
        with pytest.raises(EsrError, match=r"rejected the enrichment of nobody: .*missing"):
            send_updates(cluster, [unknown])
