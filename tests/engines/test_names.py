"""Names and sources of an index, grouped, listed and filtered by alike on both engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

import esr
from esr.documents.annotation import Entity
from esr.documents.enrichment import SentenceEnrichment
from esr.engines.aliases import Aliases
from esr.engines.factory import is_elasticsearch
from esr.engines.index import Filters, Index
from esr.engines.names import Name
from esr.engines.resolve import resolve_name, resolve_source
from esr.enrichment.recipe import Recipe
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.support.elasticsearch import document, load
from tests.support.stored_names import forget_keys

pytestmark = pytest.mark.slow

PERSON, PLACE, BODY = "person", "location", "organization"
NAMES = {
    "a": [[("Barack Obama", PERSON), ("the U.S.", PLACE)], [("Obama", PERSON)]],
    "b": [[("barack obama's", PERSON), ("Barack Obama", PLACE)], [("Barack Obama", BODY), ("US", PLACE)]],
    "c": [[("US", BODY), ("U.S.", BODY), ("US", PLACE)], [], [("USA", PLACE), ("US", PLACE)]],
    "d": [[("Zoé", PERSON)], [("Zoe", PERSON)], [("Am.[a]z*n?", BODY)]],
}
SOURCES = {"a": "BBC", "b": "bbc", "c": "The Wire", "d": "BBC"}
RECIPE = Recipe(("entities",), {"made": "by hand"})


def enriched(names: list[list[tuple[str, str]]]) -> list[SentenceEnrichment]:
    return [SentenceEnrichment({}, tuple(Entity(*name) for name in of_one), None) for of_one in names]


def enrich(searcher: Searcher, names: Mapping[str, list[list[tuple[str, str]]]]) -> None:
    with searcher.index.enrichment() as enrichment:
        enrichment.store(RECIPE, [(id, enriched(of_document)) for id, of_document in names.items()])
        enrichment.finish(RECIPE)


@contextmanager
def open_enriched(where: str, names: Mapping[str, list[list[tuple[str, str]]]]) -> Iterator[Searcher]:
    """An index of documents that have these names, sentence by sentence."""
    load(
        where,
        [
            document(id, *(f"storm {n}" for n in range(len(of_document))), source=SOURCES.get(id, "Other"))
            for id, of_document in names.items()
        ],
    )
    with esr.open(where) as searcher:
        enrich(searcher, names)
        yield searcher


@pytest.fixture
def searcher(anywhere: str) -> Iterator[Searcher]:
    with open_enriched(anywhere, NAMES) as searcher:
        yield searcher


@pytest.fixture
def fresh_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elasticsearch is asked anew each time, as it is after some seconds."""
    monkeypatch.setattr("esr.engines.elasticsearch.store.names.MAX_AGE", -1.0)


def names(index: Index, *keys: str) -> list[Name]:
    return list(index.find_names(keys).values())


def facet(
    searcher: Searcher, field: str, size: int = 10, filters: Filters | None = None
) -> list[tuple[str, int]]:
    prepared = searcher.prepare("storm", Ranking(candidates="all"))
    return prepared.index.facets(prepared.plan, {field: filters or Filters()}, size)[field]


def total(searcher: Searcher, *entities: str) -> int:
    return searcher.search("storm", 100, filters=Filters(entities=entities)).total


def test_forms_are_one_name_of_the_type_and_under_the_form_of_most_sentences(searcher: Searcher) -> None:
    found = names(searcher.index, "barack obama", "obama", "us", "usa", "zoe", "nobody")
    assert found == [
        # Two sentences have it as a person, one as a place and one as an organization.
        Name("barack obama", "Barack Obama", PERSON, 3, ("barack obama",), (PLACE, BODY)),
        Name("obama", "Obama", PERSON, 1, ("obama",)),
        # Of three sentences with US and one with U.S. and one with the U.S.
        Name("us", "US", PLACE, 4, ("us",), (BODY,)),
        Name("usa", "USA", PLACE, 1, ("usa",)),
        # Equal numbers: the first by code points.
        Name("zoe", "Zoe", PERSON, 2, ("zoe",)),
    ]


def test_a_filter_accepts_a_name_that_a_fair_share_of_its_sentences_gives_its_type(anywhere: str) -> None:
    types = [BODY] * 6 + [PERSON] * 3 + [PLACE]
    with open_enriched(anywhere, {"t": [[("Trump", type)] for type in types]}) as searcher:
        (name,) = names(searcher.index, "trump")
        assert (name.type, name.other_types) == (BODY, (PERSON,))
        for query, count in (("person:Trump", 10), ("org:Trump", 10), ("name:Trump", 10), ("place:Trump", 0)):
            assert searcher.search(f"storm {query}", 100).total == count, query
        assert total(searcher, "person:trump") == 10
        (unknown,) = searcher.search("place:Trump").unknown_filters
        assert unknown.message.endswith("not: location; search for organization:Trump")
        assert searcher.search(unknown.message.rpartition("search for ")[2]).total == 10


def test_facets_count_a_sentence_once_for_a_name_whatever_its_forms_and_types(searcher: Searcher) -> None:
    assert facet(searcher, PERSON) == [("Barack Obama", 3), ("Zoe", 2), ("Obama", 1)]
    assert facet(searcher, PLACE) == [("US", 4), ("USA", 1)]
    assert facet(searcher, BODY) == [("Am.[a]z*n?", 1)]
    assert facet(searcher, PERSON, 1) == [("Barack Obama", 3)]
    assert facet(searcher, PERSON, filters=Filters(documents=("b", "d"))) == [("Barack Obama", 2), ("Zoe", 2)]


def test_sources_that_differ_in_case_are_one(searcher: Searcher) -> None:
    assert facet(searcher, "source") == [("BBC", 7), ("The Wire", 3)]
    for text in ("bbc", "BBC", "Bbc "):
        assert searcher.search("storm", filters=Filters(sources=(text,))).total == 7
    assert searcher.search("storm", filters=Filters(sources=("bbc.co.uk",))).total == 0
    assert searcher.search("storm", filters=Filters(sources=("bbc.co.uk", "the wire"))).total == 3
    assert resolve_source(searcher.index, "Bbc") == ("BBC", "bbc")
    assert resolve_source(searcher.index, "bbc.co.uk") == ()


@pytest.mark.parametrize(
    "text, sentences",
    [
        ("Barack Obama", 3),
        ("BARACK OBAMA’S", 3),
        ("person:barack obama", 3),
        ("location:Barack Obama", 3),  # as one of the three has it
        ("the us", 4),
        ("location: U.S.", 4),
        ("organization:US", 4),
        ("person:US", 0),
        ("zoe", 2),
        ("Am.[a]z*n?", 1),
        ("Am.[a]z", 0),
        ("nobody", 0),
        (".", 0),
    ],
)
def test_a_filter_takes_any_form_and_the_type_of_the_name(
    searcher: Searcher, text: str, sentences: int
) -> None:
    assert total(searcher, text) == sentences
    assert bool(resolve_name(searcher.index, text)) == bool(sentences)


def test_several_names_are_alternatives_and_unknown_ones_add_nothing(searcher: Searcher) -> None:
    assert total(searcher, "nobody", "zoe", "person:obama") == 3


def test_names_are_listed_by_prefix_those_of_most_sentences_first(searcher: Searcher) -> None:
    assert searcher.index.name_keys("us", 10) == ["us", "usa"]
    assert searcher.index.name_keys("", 3) == ["us", "barack obama", "zoe"]
    assert searcher.index.name_keys("am.[", 3) == ["am.[a]z*n?"]
    assert searcher.index.name_keys("b.r", 3) == []


def test_types_and_forms_count_a_sentence_once(anywhere: str) -> None:
    twice = {
        "a": [[("Orion", PLACE), ("Orion's", PLACE)], [("Orion", PERSON)]],
        "b": [[("Vega", PERSON), ("Vega", PLACE)], [("VEGA", PERSON)]],
    }
    with open_enriched(anywhere, twice) as searcher:
        assert names(searcher.index, "orion", "vega") == [
            Name("orion", "Orion", PERSON, 2, ("orion",), (PLACE,)),
            Name("vega", "VEGA", PERSON, 2, ("vega",), (PLACE,)),
        ]


def test_names_that_were_replaced_do_not_count(anywhere: str, fresh_reads: None) -> None:
    first = {"a": [[("LYRA", BODY)]], "b": [[("Lyra", BODY), ("Zoe", PERSON)], [("Lyra", PLACE)]]}
    with open_enriched(anywhere, first) as searcher:
        assert names(searcher.index, "lyra") == [Name("lyra", "Lyra", BODY, 3, ("lyra",), (PLACE,))]
        enrich(searcher, {"b": [[], []]})
        assert names(searcher.index, "lyra", "zoe") == [Name("lyra", "LYRA", BODY, 1, ("lyra",))]
        assert searcher.index.name_keys("", 9) == ["lyra"]
        assert facet(searcher, PERSON) == [] and total(searcher, "lyra") == 1


def store_aliases(searcher: Searcher, **forms: list[str]) -> int:
    with searcher.index.enrichment() as enrichment:
        return enrichment.update_names(
            Aliases({form.replace("_", " "): aliases for form, aliases in forms.items()})
        )


def test_aliases_make_one_name_until_another_table_comes(searcher: Searcher, fresh_reads: None) -> None:
    assert store_aliases(searcher, United_States=["US", "USA"], Nobody=["No One"]) == 0
    keys = ("united states", "us", "usa")
    name = Name("united states", "United States", PLACE, 4, keys, (BODY,))
    assert names(searcher.index, *keys, "no one") == [name] * 3
    assert facet(searcher, PLACE) == [("United States", 4)]
    for text in ("the United States", "location:USA", "u.s."):
        assert total(searcher, text) == 4, text
    assert searcher.index.name_keys("un", 10) == searcher.index.name_keys("us", 10) == ["united states"]
    assert store_aliases(searcher, Barack_Obama=["Obama"]) == 0
    assert facet(searcher, PLACE) == [("US", 4), ("USA", 1)]
    assert facet(searcher, PERSON) == [("Barack Obama", 4), ("Zoe", 2)]
    assert total(searcher, "obama") == 4
    store_aliases(searcher)
    assert total(searcher, "obama") == 1


def test_aliases_stay_where_nothing_else_is_given(
    searcher: Searcher, anywhere: str, fresh_reads: None
) -> None:
    store_aliases(searcher, Barack_Obama=["Obama"])
    with searcher.index.enrichment() as enrichment:
        enrichment.update_names(None)
    assert total(searcher, "obama") == 4
    load(anywhere, [document("e", "storm")], if_exists="append")
    load(anywhere, [document("f", "storm", source="new")], if_exists="append")
    assert total(searcher, "obama") == 4
    assert total(searcher, "person:zoe") == 2
    assert searcher.index.snapshot().values("source").find("NEW")


def test_names_that_an_older_version_stored_are_grouped_by_the_next_enrichment(
    anywhere: str, searcher: Searcher, fresh_reads: None
) -> None:
    expected = facet(searcher, PERSON)
    forget_keys(anywhere)
    if not is_elasticsearch(anywhere):  # the keys are computed when they are needed
        with esr.open(anywhere) as other:
            assert facet(other, PERSON) == expected and total(other, "barack obama") == 3
    with esr.open(anywhere) as older:
        with older.index.enrichment() as enrichment:
            updated = enrichment.update_names(None)
            enrichment.finish(RECIPE)
        assert updated == (9 if is_elasticsearch(anywhere) else 10)
        assert facet(older, PERSON) == expected and total(older, "barack obama") == 3
        with older.index.enrichment() as enrichment:
            assert enrichment.update_names(None) == 0
            assert enrichment.progress(RECIPE) == (4, 4)


def test_another_version_of_keys_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_enriched(str(tmp_path / "index"), NAMES) as searcher:
        monkeypatch.setattr("esr.engines.segments.store.layer_names.KEY_VERSION", 2)
        for expected in (10, 0):
            with searcher.index.enrichment() as enrichment:
                assert enrichment.update_names(None) == expected
