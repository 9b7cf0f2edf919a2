"""Suggestions and completions in languages whose analyzer cuts or joins written words, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.ranking.completions import complete
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.ranking.spelling import suggest
from tests.support.elasticsearch import document
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
