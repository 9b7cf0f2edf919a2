"""What terms add at most is made once, rounded to the safe side, and does not take all memory."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esr.engines.embedded.index import EmbeddedIndex
from esr.engines.embedded.search import impacts as kept
from esr.engines.embedded.search.impacts import Impacts, impacts
from esr.engines.segments.reader.postings import of_term
from esr.engines.segments.reader.snapshot import Snapshot
from esr.plans.plan import Affine, Mixture, PlanTerm
from tests.support.folder_index import document, load

WORDS = ["bank", "flood", "river", "vote", "court"]
TERMS = [PlanTerm(word, 1.0, 1e-3) for word in WORDS]


def mixture(mu: float = 30.0) -> Mixture:
    return Mixture(mu, Affine(0.5, -0.5), Affine(0.2, -0.2), Affine(0.3, -0.3), Affine(0.0, 1.0))


@pytest.fixture
def snapshot(tmp_path: Path) -> Iterator[Snapshot]:
    chance = random.Random(1)
    texts = [[" ".join(chance.choices(WORDS, k=6)) for _ in range(1 + n % 5)] for n in range(40)]
    load(tmp_path / "index", [document(f"d{n}", *each) for n, each in enumerate(texts)])
    yield EmbeddedIndex(str(tmp_path / "index"))._now()


def values(known: Impacts, snapshot: Snapshot, terms: Sequence[PlanTerm]) -> list[list[float]]:
    """The impacts of each term."""
    found = known.of(terms, snapshot)
    sizes = [snapshot.find(term.term).statistics.df for term in terms]
    return [found.values[s : s + n].tolist() for s, n in zip(found.starts, sizes, strict=True)]


@pytest.mark.parametrize("weight", [2.0, -2.0])
def test_they_are_rounded_to_the_side_where_they_stay_bounds(snapshot: Snapshot, weight: float) -> None:
    known, term = impacts(mixture(), snapshot), PlanTerm("flood", weight, 0.003)
    rows, entries = of_term(snapshot, "flood", {"sentence", "surrounding", "document"})
    right = known.bound.most(term, rows, entries)
    (found,) = values(known, snapshot, [term])
    assert (weight * np.array(found) >= weight * right).all()
    np.testing.assert_allclose(found, right, rtol=1e-6)
    assert known.of([term], snapshot).greatest == abs(weight) * max(map(abs, found))


def test_a_term_is_made_once_for_each_background_and_sign(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def making(snapshot: Snapshot, term: str, fields: Any) -> Any:
        made.append(term)
        return of_term(snapshot, term, fields)

    monkeypatch.setattr(kept, "of_term", making)
    known = impacts(mixture(), snapshot)
    one = PlanTerm("flood", 1.0, 1e-3)
    same = [one, one._replace(weight=3.5)]
    others = [one._replace(background=1e-4), one._replace(weight=-1.0), one._replace(own=False)]
    for term in [*same, *same, *others, *others]:
        known.of([term], snapshot)
    assert made == ["flood"] * 4
    assert impacts(mixture(), snapshot) is known


def test_beyond_the_limit_they_are_made_anew(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = values(impacts(mixture(), snapshot), snapshot, TERMS)
    monkeypatch.setattr(kept, "LIMIT", 4 * (len(whole[0]) + len(whole[1])))
    known = Impacts(mixture(), snapshot)
    for term, right in zip([*TERMS, *TERMS], [*whole, *whole], strict=True):
        assert values(known, snapshot, [term]) == [right]
    assert len(known._known) <= 2
    assert values(known, snapshot, TERMS) == whole  # a query may need more than the limit


def test_the_transform_that_was_not_asked_for_the_longest_is_forgotten(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = impacts(mixture(1.0), snapshot), impacts(mixture(2.0), snapshot)
    for known in (first, second):
        known.of(TERMS, snapshot)
    assert impacts(mixture(1.0), snapshot) is first
    monkeypatch.setattr(kept, "LIMIT", first.nbytes + second.nbytes - 1)
    impacts(mixture(3.0), snapshot)
    assert impacts(mixture(1.0), snapshot) is first
    assert impacts(mixture(2.0), snapshot) is not second


def test_threads_have_the_same(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    right = dict(zip(WORDS, values(Impacts(mixture(), snapshot), snapshot, TERMS), strict=True))
    monkeypatch.setattr(kept, "LIMIT", 600)  # so that they are made again and again
    known = Impacts(mixture(), snapshot)

    def ask(seed: int) -> bool:
        terms = random.Random(seed).sample(TERMS, 2)
        return values(known, snapshot, terms) == [right[term.term] for term in terms]

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(ask, range(400)))
    finally:
        sys.setswitchinterval(usual)
