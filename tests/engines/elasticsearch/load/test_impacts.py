"""Impacts stay upper bounds through any sequence of deliveries, once they are widened."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esr.documents import Located
from esr.engines.elasticsearch.load.document_terms import PostingsByDocument
from esr.engines.elasticsearch.load.impacts import SegmentImpacts
from esr.engines.elasticsearch.load.spool import greatest_loss, write_spool
from esr.engines.elasticsearch.store.impacts import (
    EMPTY,
    describe_after_delivery,
    describe_impacts,
    find_widening,
)
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.reader.term_bounds import compute_upper_bounds
from esr.engines.writer import Description
from esr.plans.bounds import Bound
from esr.plans.plan import Mixture, Plan, PlanTerm
from esr.plans.statistics import Statistics, TermStatistics
from esr.ranking.ranking import Ranking
from tests.support.folder_index import document
from tests.support.pruning import WORDS

Impacts = dict[str, float]
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
        self.impacts: dict[str, Impacts] = {}
        first = self.spool(documents)
        self.description = describe_impacts(mixture, first.statistics.collection)
        self.longest = first.statistics.collection.longest_sentence
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
            of_segment = SegmentImpacts(spool, owner, postings, self.mixture, self.longest, elsewhere, total)
            for number in range(segment.document_count):
                self.impacts[segment.document_ids[number]] = of_segment.of_document(number)


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


def shortfall(collection: Collection) -> float:
    """How far the widened impacts are below the true bounds at most; negative if they are nowhere below."""
    spool = collection.spool(list(collection.documents.values()))
    statistics = spool.statistics
    terms = {term: statistics.find(term).statistics for term in occurrences(spool)}
    plan_terms = tuple(
        PlanTerm(term, 1.0, statistics.collection.background(of_term)) for term, of_term in terms.items()
    )
    plan = Plan(plan_terms, collection.mixture, "context", "document")
    widening = find_widening(collection.description, plan, Statistics(statistics.collection, terms))
    assert widening is not None
    bound = Bound(collection.mixture, statistics.collection.longest_sentence)
    least = Bound(collection.mixture, widening.longest).least_log_collection
    worst = -np.inf
    for owner, segment in enumerate(spool.segments):
        upper_bounds = compute_upper_bounds(statistics, owner, collection.mixture)
        starts = segment.column("document_starts").tolist()
        for number in range(len(segment.terms)):
            term = segment.terms[number]
            for place in range(starts[number], starts[number + 1]):
                id = segment.document_ids[int(segment.column("document_numbers")[place])]
                widened = collection.impacts[id][term] + widening.growth + widening.losses.get(term, 0.0)
                worst = max(worst, upper_bounds[place] - widened)
        table = statistics.document_table
        base = int(table.document_bases[owner])
        for document_number in range(segment.document_count):
            one = slice(base + document_number, base + document_number + 1)
            highest, _ = bound.log_collection_range(table.shortest[one], table.longest[one])
            impact = collection.impacts[segment.document_ids[document_number]][EMPTY]
            worst = max(worst, float(highest[0]) - (impact + least))
    return float(worst)


RANKINGS = [Ranking(), Ranking("2s", "surrounding"), Ranking("dir")]


@pytest.mark.slow
@pytest.mark.parametrize("ranking", RANKINGS, ids=str)
@given(seed=SEEDS)
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_widened_impacts_are_never_below_the_bounds(folder: Path, ranking: Ranking, seed: int) -> None:
    mixture = ranking.mixture()
    assert mixture is not None
    assert shortfall(random_life(folder, seed, mixture)) < 1e-9


@pytest.mark.slow
def test_without_the_widening_they_would_be(folder: Path) -> None:
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
    assert find_widening(known, plan, statistics) is not None
    assert find_widening(older, plan, statistics) is None
    assert find_widening({**known, "sentences": 1}, plan, statistics) is None
