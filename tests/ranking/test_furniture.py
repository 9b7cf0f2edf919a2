"""Lowering furniture: the answer is that of the whole plan, on either engine, and costs no second plan."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from esr.index.filters import NO_FILTERS
from esr.models.adjustment import Adjustment
from esr.ranking.ranking import Ranking, lower_furniture
from esr.ranking.searcher import Searcher
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import differences
from tests.support.index_contents import ENGINES, open_loaded

WORDS = ["flood", "dam", "town", "army", "help", "river", "rain", "north", "minister", "road"]
LINKS = ["READ MORE: {} {} {}", "Source: {} {} {}", "OPINION: {} {} Then the {} came back."]


def documents(count: int = 120) -> list[Document]:
    """Every third sentence is furniture, and has more of the words of queries than the others."""
    draw = random.Random(7)
    made = []
    for number in range(count):
        texts = []
        for place in range(6):
            words = [draw.choice(WORDS[:5] if place % 3 == 0 else WORDS) for _ in range(3)]
            text = draw.choice(LINKS) if place % 3 == 0 else "The {} and the {} were near the {} then."
            texts.append(text.format(*words))
        sentences = tuple(Sentence(f"d{number}.s{n}", text) for n, text in enumerate(texts))
        made.append(Document(f"d{number}", sentences))
    return made


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with open_loaded(request, tmp_path_factory.mktemp("furniture"), documents()) as opened:
        yield opened


def texts(searcher: Searcher, ranking: Ranking, query: str = "flood dam") -> list[str]:
    return [hit.text for hit in searcher.search(query, 10, ranking=ranking).hits]


def test_a_load_stores_the_feature_for_furniture_alone(searcher: Searcher) -> None:
    assert list(searcher.index.features()) == ["furniture"]
    for record in searcher.index.sentences([f"d3.s{n}" for n in range(6)]):
        assert dict(record.features) == ({"furniture": 0.875} if record.position % 3 == 0 else {})
    assert all(not s.features for s in searcher.index.document("d3").sentences)


def test_furniture_comes_after_sentences_unless_the_ranking_keeps_it(searcher: Searcher) -> None:
    plain = texts(searcher, Ranking())
    assert sum(":" in text for text in plain) >= 4
    lowered = lower_furniture(Ranking(), searcher.index)
    assert not any(":" in text for text in texts(searcher, lowered))
    assert lower_furniture(lowered, searcher.index) == lowered
    assert lower_furniture(Ranking(features=[Adjustment("furniture", "linear")]), searcher.index).features


@pytest.mark.parametrize("query", ["flood dam", "town", "army help river", "minister"])
@pytest.mark.parametrize("k", [1, 7, 60, 1000])
@pytest.mark.parametrize("weight", [-12.0, -0.5])
def test_the_answer_is_that_of_the_whole_plan(searcher: Searcher, query: str, k: int, weight: float) -> None:
    lowered = Adjustment("furniture", "satu", {"w": weight, "k": 0.5})
    prepared = searcher.prepare(query, Ranking(features=[lowered]))
    whole = prepared.index.search(prepared.plan, k + 20, NO_FILTERS)
    best = prepared.search(k)
    assert not differences(whole.hits, best.hits, k)
    assert best.total == whole.total
    assert all(hit.record is not None for hit in best.hits)


def test_a_feature_that_may_raise_is_part_of_the_first_stage(searcher: Searcher) -> None:
    linear = Adjustment("furniture", "linear", {"w": -12.0})
    prepared = searcher.prepare("flood dam", Ranking(features=[linear]))
    whole = prepared.index.search(prepared.plan, 40, NO_FILTERS)
    assert not differences(whole.hits, prepared.search(10).hits, 10)
