"""Completion of the end of a query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import esr
from esr.documents.annotation import Entity
from esr.documents.enrichment import SentenceEnrichment
from esr.enrichment.recipe import Recipe
from esr.ranking.completion import complete
from esr.ranking.searcher import Searcher
from tests.support.both_engines import ENGINES, open_loaded
from tests.support.elasticsearch import document, load

TEXTS = ["Climate talks and climbers", "The climate of Zürich", "Climate models", "A clinic in Zürich"]


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    news = [document("a", *TEXTS, source="BBC News"), document("b", "Rain", source="Reuters")]
    news.append(document("c", *["They said so"] * 200, "Saida lies by the sea"))
    news.append(document("d", "Michael Flynn saw the Michael Ridge, a flight away"))
    entities = (Entity("Michael Flynn", "person"), Entity("Michael Ridge", "location"))
    with open_loaded(request, tmp_path_factory.mktemp("completion"), news) as opened:
        with opened.index.enrichment() as enrichment:
            recipe = Recipe(("entities",), {"made": "by hand"})
            enrichment.store(recipe, [("d", [SentenceEnrichment({}, entities, None)])])
            enrichment.finish(recipe)
        yield opened


def queries(searcher: Searcher, text: str, limit: int = 8) -> list[str]:
    return [completion.query for completion in complete(searcher, text, limit)]


def test_the_last_word_is_completed_most_frequent_first(searcher: Searcher) -> None:
    assert queries(searcher, "rain cli") == ["rain climate", "rain climbers", "rain clinic"]
    assert queries(searcher, "rain cli", 1) == ["rain climate"]


def test_case_and_accents_make_no_difference(searcher: Searcher) -> None:
    assert queries(searcher, "Zur") == queries(searcher, "zür") == ["zurich"]


def test_a_word_is_completed_within_quotes_and_behind_signs(searcher: Searcher) -> None:
    assert queries(searcher, '+rain -"the clin') == ['+rain -"the clinic']


def test_sources_are_completed_behind_their_field(searcher: Searcher) -> None:
    assert queries(searcher, "rain source:b") == ['rain source:"BBC News"']
    assert queries(searcher, "rain -source:REU") == ["rain -source:Reuters"]


@pytest.mark.parametrize(
    ("begun", "completed"),
    [
        ("M*", 'source:"M*A*S*H"'),
        ("+", 'source:"+972mag"'),
        ("Jane", 'source:“Jane "JD" Doe”'),
        ("«", 'source:"« Le Monde »"'),
        ("?", None),
    ],
)
def test_a_completed_value_is_read_as_that_value(tmp_path: Path, begun: str, completed: str | None) -> None:
    sources = ["M*A*S*H", "+972mag", 'Jane "JD" Doe', "« Le Monde »", "???"]
    load(str(tmp_path / "index"), [document(f"d{n}", "Rain", source=s) for n, s in enumerate(sources)])
    with esr.open(str(tmp_path / "index")) as searcher:
        assert queries(searcher, f"rain source:{begun}") == ([f"rain {completed}"] if completed else [])
        for completion in complete(searcher, f"source:{begun}", 8):
            (group,) = esr.parse_query(completion.query).groups
            assert (group.role, group.alternatives[0].text) == ("required", completion.text)


def test_a_complete_word_is_not_completed_to_words_that_are_rare_beside_it(searcher: Searcher) -> None:
    assert queries(searcher, "rain said") == ["rain said"]
    assert queries(searcher, "rain sai")[0] == "rain said"


def test_a_name_in_open_quotes_is_completed_with_names_of_the_type(searcher: Searcher) -> None:
    for begun in ('person:"Michael Fl', "person:Mich", "person:“michael f"):
        assert queries(searcher, f"rain {begun}") == ['rain person:"Michael Flynn"']
    assert queries(searcher, '"rain" -place:"Michael') == ['"rain" -place:"Michael Ridge"']
    assert len(queries(searcher, 'name:"Michael')) == 2
    assert queries(searcher, 'source:"BBC N') == ['source:"BBC News"']


@pytest.mark.parametrize("text", ["", " ", "climate ", "c", "zzz", "rain!", "person:", "\u200b", "source:"])
def test_nothing_to_complete_is_no_error(searcher: Searcher, text: str) -> None:
    assert all(completion.kind in ("source", "name") for completion in complete(searcher, text, 8))
