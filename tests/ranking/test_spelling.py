"""Which words are suggested and completed, also where an analyzer cuts or joins written words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from esr.ranking.completions import complete
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.spelling import suggest
from tests.support.elasticsearch import document, load
from tests.support.index_contents import ENGINES, open_loaded


@pytest.fixture(params=ENGINES)
def turkish(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Searcher]:
    texts = [
        *["Ankara'nın kararı açıklandı, ABD'nin nihai tutumu da"] * 30,
        "ninem",
        "Çin ve Ankara görüştü",
        "Depremde ölenler var",
    ]
    texts += ["Depremin merkezi denizde"] * 3 + ["Deprem oldu"] * 3
    news = [document("a", *texts, language="tr")]
    with open_loaded(request, tmp_path, news, analyzer="turkish") as opened:
        yield opened


def test_an_ending_that_the_analyzer_removes_is_meant_by_no_word(turkish: Searcher) -> None:
    for query in ("Ankara Çin", "ankara cin", "ankara nım"):
        assert suggest(turkish.prepare(query, Ranking())) == (), query
    (suggestion,) = suggest(turkish.prepare("ankara deprek", Ranking()))
    assert [word.text for word in suggestion.alternatives] == ["Deprem"]


def test_a_query_is_completed_to_no_ending_that_the_analyzer_removes(turkish: Searcher) -> None:
    def words(text: str, limit: int = 8) -> list[str]:
        return [completion.text for completion in complete(turkish, text, limit)]

    assert words("abd ni") == ["nihai", "ninem"]
    assert words("abd ni", 1) == ["nihai"]
    assert words("abd aci") == ["aciklandi"], "it is typed without accents, and has terms only with them"
    assert words("abd da") == ["da"], "a stop word"


def suggested(where: Path, texts: Sequence[str], query: str) -> list[list[str]]:
    """The alternatives of each suggestion in an index of these texts."""
    load(str(where), [document(f"d{n}", text) for n, text in enumerate(texts)])
    with open_searcher(str(where)) as searcher:
        suggestions = suggest(searcher.prepare(query, Ranking()))
        return [[word.text for word in suggestion.alternatives] for suggestion in suggestions]


@pytest.mark.parametrize(("often", "alternatives"), [(19, []), (20, [["Theresa"]])])
def test_a_word_beside_the_same_neighbour_is_meant_if_it_is_ten_times_as_frequent_there(
    tmp_path: Path, often: int, alternatives: list[list[str]]
) -> None:
    texts = ["Teresa May spoke."] * 2 + ["Theresa May spoke."] * often
    assert suggested(tmp_path / "index", texts, "Teresa May") == alternatives


def test_of_words_beside_the_same_neighbour_the_most_frequent_there_is_meant(tmp_path: Path) -> None:
    texts = ["Teresa May spoke."] + ["Theresa May spoke."] * 40 + ["Teressa May spoke."] * 20
    assert suggested(tmp_path / "index", texts, "Teresa May") == [["Theresa"]]


def test_the_likeliest_of_many_similar_words_is_suggested_first(tmp_path: Path) -> None:
    similar = [f"mount{letter}{letter}n" for letter in "bcdfghjklmnpqr"]
    texts = [f"A {word} rose." for word in similar for _ in range(4)] + ["A mountain rose."] * 9
    ((best, *_),) = suggested(tmp_path / "index", texts, "mountein")
    assert best == "mountain"
