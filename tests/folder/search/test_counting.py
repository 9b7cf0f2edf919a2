"""Counts by the kernel are those of the masks, which `test_conditions.py` holds to a plain scan."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from esr.folder.index import EmbeddedIndex
from esr.folder.search.candidates import count_masked
from esr.folder.search.counting import count_sentences
from esr.folder.search.kernel_loader import KERNEL
from esr.folder.write import segment_writer
from esr.index.filters import NO_FILTERS, Filters
from esr.plans.condition import AllOf, AnyOf, Condition, HasPrefix, HasTerm, HasWords, Not
from tests.support.folder_index import document, load
from tests.support.needed import need

WORDS = [f"w{n}" for n in range(12)]


@pytest.fixture
def kernel() -> Any:
    return need(KERNEL)


@pytest.fixture(scope="module", params=[1, 3])
def index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedIndex]:
    """Words from frequent to rare, in one segment and in several."""
    rng, where = random.Random(1), tmp_path_factory.mktemp("counting") / "index"

    def sentence() -> str:
        return " ".join(WORDS[min(int(rng.paretovariate(0.5)) - 1, len(WORDS) - 1)] for _ in range(6))

    documents = [
        document(f"d{n}", *(sentence() for _ in range(rng.randrange(1, 9))), source=f"s{n % 3}")
        for n in range(60)
    ]
    with pytest.MonkeyPatch.context() as patch:
        if request.param > 1:
            patch.setattr(segment_writer, "FULL_TERMS", 400)
        load(where, documents)
    opened = EmbeddedIndex(str(where))
    assert (len(opened.cache.snapshot.segments) > 1) == (request.param > 1)
    yield opened


def random_condition(rng: random.Random, depth: int = 2) -> Condition:
    if depth and rng.random() < 0.6:
        parts = tuple(random_condition(rng, depth - 1) for _ in range(rng.randrange(1, 5)))
        return rng.choice([AllOf, AnyOf])(parts)
    word = rng.choice([*WORDS, "unseen"])
    leaves = [HasWords((word,)), HasWords((word, rng.choice(WORDS))), HasPrefix("w1"), Not(HasTerm(word))]
    return rng.choice([HasTerm(word)] * 5 + leaves)


@pytest.mark.parametrize("filters", [NO_FILTERS, Filters(sources=("s1",)), Filters(sources=("none",))])
def test_any_condition_is_counted_as_its_mask_is(index: EmbeddedIndex, kernel: Any, filters: Filters) -> None:
    rng, cache = random.Random(2), index.cache
    conditions = [random_condition(rng) for _ in range(300)]
    conditions += [AnyOf(tuple(map(HasTerm, WORDS))), AllOf((HasTerm("w0"), HasTerm("w1")))]
    counts = count_sentences(kernel, conditions, cache, filters)
    assert counts == [count_masked(condition, cache, filters) for condition in conditions]
    assert len(set(counts)) > 20 or filters.sources == ("none",)
    # The marks of a search are left as they came.
    assert count_sentences(kernel, conditions, cache, filters) == counts


def test_an_index_without_sentences_has_none(tmp_path: Path, kernel: Any) -> None:
    load(tmp_path / "index", [])
    cache = EmbeddedIndex(str(tmp_path / "index")).cache
    conditions = [HasTerm("a"), AnyOf((HasTerm("a"), HasTerm("b"))), HasWords(("a",)), HasPrefix("a")]
    for filters in (NO_FILTERS, Filters(sources=("s",))):
        assert count_sentences(kernel, conditions, cache, filters) == [0] * len(conditions)


def test_postings_are_counted_once_for_the_same_terms(index: EmbeddedIndex, kernel: Any) -> None:
    cache, calls = index.cache, []

    class Counting:
        def count_any(self, *args: Any) -> int:
            calls.append("any")
            return int(kernel.count_any(*args))

        def count_all(self, *args: Any) -> int:
            calls.append("all")
            return int(kernel.count_all(*args))

    def count(filters: Filters, *conditions: Condition) -> list[int]:
        return count_sentences(Counting(), conditions, cache, filters)

    cache.memory.__init__()  # type: ignore[misc]  # other tests have counted
    terms = HasTerm("w1"), HasTerm("w2")
    first = count(NO_FILTERS, AllOf(terms), AnyOf(terms))
    assert count(NO_FILTERS, AnyOf(terms[::-1]), AllOf(terms[::-1])) == first[::-1]
    assert calls == ["all", "any"]
    source = Filters(sources=("s1",))
    assert count(source, AllOf(terms), AnyOf(terms)) == [
        count_masked(condition(terms), cache, source) for condition in (AllOf, AnyOf)
    ]
    assert calls == ["all", "any"] * 2
