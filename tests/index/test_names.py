"""Names and sources on both engines: written forms with one key are grouped, listed and filtered alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.enrichment.recipe import Recipe
from esr.errors import InputError
from esr.index.contract import Index
from esr.index.factory import is_elasticsearch
from esr.index.filters import Filters, resolve_name, resolve_source
from esr.index.names import (
    MAX_KEY_CHARS,
    Aliases,
    Name,
    ShortForm,
    join_short_forms,
    name_key,
    read_aliases,
    resolve_names,
)
from esr.index.questions import ByField, ByName, NameForms, Names, NamesWithPrefix, NameUnit, Values
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.attributes import value_key
from esr.text.sentence_enrichment import Entity, SentenceEnrichment
from tests.support.elasticsearch import document, load
from tests.support.index_contents import forget_keys

PERSON, PLACE, BODY = "person", "location", "organization"
NAMES = {
    "a": [[("Barack Obama", PERSON), ("the U.S.", PLACE)], []],
    "b": [[("barack obama's", PERSON), ("Barack Obama", PLACE)], [("Barack Obama", BODY), ("US", PLACE)]],
    "c": [
        [("US", BODY), ("U.S.", BODY), ("US", PLACE)],
        [("Obama", PERSON)],
        [("USA", PLACE), ("US", PLACE)],
    ],
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
    with open_searcher(where) as searcher:
        enrich(searcher, names)
        yield searcher


@pytest.fixture
def searcher(anywhere: str) -> Iterator[Searcher]:
    with open_enriched(anywhere, NAMES) as searcher:
        yield searcher


@pytest.fixture
def fresh_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elasticsearch is asked anew each time, as it is after some seconds."""
    monkeypatch.setattr("esr.elastic.vocabulary.MAX_AGE", -1.0)


def names(index: Index, *keys: str) -> list[Name]:
    return list(index.vocabulary(Names(keys)).values())


def facet(
    searcher: Searcher, field: str, size: int = 10, filters: Filters | None = None
) -> list[tuple[str, int]]:
    (counts,) = searcher.index.count([None], filters or Filters(), ByField([field], size))
    return counts[field]


def total(searcher: Searcher, *entities: str) -> int:
    return searcher.search("storm", 100, filters=Filters(entities=entities)).total


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_facets_count_a_sentence_once_for_a_name_whatever_its_forms_and_types(searcher: Searcher) -> None:
    assert facet(searcher, PERSON) == [("Barack Obama", 3), ("Zoe", 2), ("Obama", 1)]
    assert facet(searcher, PLACE) == [("US", 4), ("USA", 1)]
    assert facet(searcher, BODY) == [("Am.[a]z*n?", 1)]
    assert facet(searcher, PERSON, 1) == [("Barack Obama", 3)]
    assert facet(searcher, PERSON, filters=Filters(documents=("b", "d"))) == [("Barack Obama", 2), ("Zoe", 2)]


@pytest.mark.slow
def test_sources_that_differ_in_case_are_one(searcher: Searcher) -> None:
    assert facet(searcher, "source") == [("BBC", 7), ("The Wire", 3)]
    for text in ("bbc", "BBC", "Bbc "):
        assert searcher.search("storm", filters=Filters(sources=(text,))).total == 7
    assert searcher.search("storm", filters=Filters(sources=("bbc.co.uk",))).total == 0
    assert searcher.search("storm", filters=Filters(sources=("bbc.co.uk", "the wire"))).total == 3
    assert resolve_source(searcher.index, "Bbc") == ("BBC", "bbc")
    assert resolve_source(searcher.index, "bbc.co.uk") == ()


@pytest.mark.slow
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


@pytest.mark.slow
def test_several_names_are_alternatives_and_unknown_ones_add_nothing(searcher: Searcher) -> None:
    assert total(searcher, "nobody", "zoe", "person:obama") == 3


@pytest.mark.slow
def test_names_are_listed_by_prefix_those_of_most_sentences_first(searcher: Searcher) -> None:
    assert searcher.index.vocabulary(NamesWithPrefix("us", 10)) == ["us", "usa"]
    assert searcher.index.vocabulary(NamesWithPrefix("", 3)) == ["us", "barack obama", "zoe"]
    assert searcher.index.vocabulary(NamesWithPrefix("am.[", 3)) == ["am.[a]z*n?"]
    assert searcher.index.vocabulary(NamesWithPrefix("b.r", 3)) == []


@pytest.mark.slow
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


@pytest.mark.slow
def test_names_that_were_replaced_do_not_count(anywhere: str, fresh_reads: None) -> None:
    first = {"a": [[("LYRA", BODY)]], "b": [[("Lyra", BODY), ("Zoe", PERSON)], [("Lyra", PLACE)]]}
    with open_enriched(anywhere, first) as searcher:
        assert names(searcher.index, "lyra") == [Name("lyra", "Lyra", BODY, 3, ("lyra",), (PLACE,))]
        enrich(searcher, {"b": [[], []]})
        assert names(searcher.index, "lyra", "zoe") == [Name("lyra", "LYRA", BODY, 1, ("lyra",))]
        assert searcher.index.vocabulary(NamesWithPrefix("", 9)) == ["lyra"]
        assert facet(searcher, PERSON) == [] and total(searcher, "lyra") == 1


def store_aliases(searcher: Searcher, **forms: list[str]) -> int:
    with searcher.index.enrichment() as enrichment:
        return enrichment.update_names(
            Aliases({form.replace("_", " "): aliases for form, aliases in forms.items()})
        )


@pytest.mark.slow
def test_aliases_make_one_name_until_another_table_comes(searcher: Searcher, fresh_reads: None) -> None:
    assert store_aliases(searcher, United_States=["US", "USA"], Nobody=["No One"]) == 0
    keys = ("united states", "us", "usa")
    name = Name("united states", "United States", PLACE, 4, keys, (BODY,))
    assert names(searcher.index, *keys, "no one") == [name] * 3
    assert facet(searcher, PLACE) == [("United States", 4)]
    for text in ("the United States", "location:USA", "u.s."):
        assert total(searcher, text) == 4, text
    assert (
        searcher.index.vocabulary(NamesWithPrefix("un", 10))
        == searcher.index.vocabulary(NamesWithPrefix("us", 10))
        == ["united states"]
    )
    assert store_aliases(searcher, Barack_Obama=["Obama"]) == 0
    assert facet(searcher, PLACE) == [("US", 4), ("USA", 1)]
    assert facet(searcher, PERSON) == [("Barack Obama", 4), ("Zoe", 2)]
    assert total(searcher, "obama") == 4
    store_aliases(searcher)
    assert total(searcher, "obama") == 1


@pytest.mark.slow
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
    assert searcher.index.snapshot().vocabulary(Values("source")).find("NEW")


@pytest.mark.slow
def test_names_that_an_older_version_stored_are_grouped_by_the_next_enrichment(
    anywhere: str, searcher: Searcher, fresh_reads: None
) -> None:
    expected = facet(searcher, PERSON)
    forget_keys(anywhere)
    if not is_elasticsearch(anywhere):  # the keys are computed when they are needed
        with open_searcher(anywhere) as other:
            assert facet(other, PERSON) == expected and total(other, "barack obama") == 3
    with open_searcher(anywhere) as older:
        with older.index.enrichment() as enrichment:
            updated = enrichment.update_names(None)
            enrichment.finish(RECIPE)
        assert updated == (9 if is_elasticsearch(anywhere) else 10)
        assert facet(older, PERSON) == expected and total(older, "barack obama") == 3
        with older.index.enrichment() as enrichment:
            assert enrichment.update_names(None) == 0
            assert enrichment.progress(RECIPE) == (4, 4)


@pytest.mark.slow
def test_another_version_of_keys_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_enriched(str(tmp_path / "index"), NAMES) as searcher:
        monkeypatch.setattr("esr.folder.format.layers.KEY_VERSION", 2)
        for expected in (10, 0):
            with searcher.index.enrichment() as enrichment:
                assert enrichment.update_names(None) == expected


def resolve(*sentences: str) -> dict[str, str]:
    """The keys of names that forms stand for. Sentences have names by type: `person: Ann Lee, Lee`."""
    entities = []
    for sentence in sentences:
        by_type = {}
        for part in filter(None, sentence.split("; ")):
            type, names = part.split(": ")
            by_type[type] = tuple(names.split(", "))
        entities.append(by_type)
    return {form: name.key for form, name in resolve_names(entities).items()}


def test_last_words_and_polite_forms_stand_for_the_full_name_of_their_document() -> None:
    flynn = resolve("person: Michael Flynn", "person: Flynn, Mr Flynn", "organization: Flynn's")
    assert flynn == dict.fromkeys(("Flynn", "Mr Flynn", "Flynn's"), "michael flynn")
    assert resolve("person: Bill de Blasio, de Blasio, Blasio") == {
        "de Blasio": "bill de blasio",
        "Blasio": "bill de blasio",
    }
    assert resolve("person: Xi Jinping", "person: Xi") == {"Xi": "xi jinping"}
    (name,) = resolve_names([{PERSON: ("Donald Trump",)}, {BODY: ("Trump",)}]).values()
    assert name == ("donald trump", PERSON)


def test_acronyms_and_companies_stand_for_the_full_name_of_their_type() -> None:
    states = (
        "location: United States, U.S., US; organization: Federal Bureau of Investigation, FBI, U.S. Senate"
    )
    assert resolve(states) == {
        **{"U.S.": "united states", "US": "united states"},
        "FBI": "federal bureau of investigation",
    }
    assert resolve("location: US; organization: University of Sheffield") == {}
    assert resolve("organization: Apple Inc., Apple", "organization: Apple") == {"Apple": "apple inc"}


@pytest.mark.parametrize(
    "sentences",
    [
        ("person: Donald Trump, Melania Trump", "person: Trump"),  # either of two persons
        ("person: George W. Bush, George H. W. Bush", "person: Bush"),
        ("person: Donald Trump, Donald Trump Jr", "person: Donald"),
        ("person: Trump", "person: Ivanka Trump"),  # the full name comes later
        ("person: Denzel Washington", "location: Washington"),
        ("person: Kim Jong Un", "organization: UN"),
        ("person: Ford Transit van", "person: van"),
        ("person: Michael Flynn", "person: Lori Flynn"),
        ("person: Pope Francis", "person: Lady Gaga"),  # no other name, and no polite form
        ("location: Mexico City, New York City, Washington D.C.", "location: Mexico, New York, Washington"),
        ("organization: UN Security Council, EU Commission", "organization: UN, EU"),
    ],
)
def test_what_is_not_sure_stands_for_itself(sentences: tuple[str, ...]) -> None:
    assert resolve(*sentences) == {}


def test_a_name_without_its_middle_initial_is_preferred() -> None:
    assert resolve("person: Donald J. Trump, Donald Trump", "person: Trump") == {"Trump": "donald trump"}
    assert resolve("person: Donald J. Trump", "person: Trump") == {"Trump": "donald j trump"}


def join(found: dict[str, int], alone: dict[str, int]) -> dict[str, list[str]]:
    """What becomes of "flynn", with these numbers of documents where it has a name, and of types alone."""
    forms = [ShortForm("flynn", full, documents) for full, documents in found.items()]
    return join_short_forms(forms, {"flynn": alone, **{full: {PERSON: 1} for full in found}})


def test_a_short_form_is_joined_to_a_name_of_the_collection_if_nearly_all_documents_agree() -> None:
    joined = {"michael flynn": ["flynn"]}
    assert join({"michael flynn": 8}, {}) == join({"michael flynn": 17, "lori flynn": 1}, {}) == joined
    assert join({"michael flynn": 7}, {}) == join({"michael flynn": 16, "lori flynn": 1}, {}) == {}
    assert join({"michael flynn": 7, "mike flynn": 1}, {}) == joined  # one name in two spellings
    assert join({"michael flynn": 10}, {PERSON: 2, BODY: 4}) == joined
    assert join({"michael flynn": 10}, {PLACE: 5}) == {}  # mostly something else where it is alone


CABINET = {
    **{f"d{n}": [[("Ann Lee", PERSON)], [("Lee", PERSON), ("FEMA", BODY)]] for n in range(8)},
    "alone": [[("Lee", BODY)]],
    "may": [[("Theresa May", PERSON)], [("May", PERSON)]],
    "other": [[("Brian May", PERSON)], [("Ms May", PERSON)], []],
    "both": [[("Brian May", PERSON), ("Theresa May", PERSON)], [("May", PERSON)]],
}


@pytest.mark.slow
def test_short_forms_are_found_as_the_names_that_they_stand_for(anywhere: str, fresh_reads: None) -> None:
    with open_enriched(anywhere, CABINET) as searcher:
        update(searcher)
        lee = Name("ann lee", "Ann Lee", PERSON, 17, ("ann lee", "lee"))
        assert names(searcher.index, "ann lee", "lee") == [lee, lee]
        for text in ("person:Lee", "Lee", "person:Ann Lee", "Lee's"):
            assert total(searcher, text) == 17, text
        assert total(searcher, "person:Theresa May") == 3 and total(searcher, "Brian May") == 3
        assert total(searcher, "May") == total(searcher, "Ms May") == 6  # whoever it may be
        assert facet(searcher, PERSON) == [("Ann Lee", 17), ("Brian May", 3), ("Theresa May", 3), ("May", 1)]
        assert list(searcher.index.vocabulary(NameForms("lee")).items()) == [("Lee", 9), ("Ann Lee", 8)]
        before = read_counts(searcher)
        assert before[0]["ann lee"] == 17 and before[1]["ann lee"] == 9
        forget_keys(anywhere)
        update(searcher)
        assert read_counts(searcher) == before
        store_aliases(searcher, Lee_Corp=["Lee"])  # a table rules
        assert total(searcher, "Lee") == 1 and total(searcher, "Ann Lee") == 16


def update(searcher: Searcher) -> None:
    with searcher.index.enrichment() as enrichment:
        enrichment.update_names(None)
        enrichment.finish(RECIPE)


def read_counts(searcher: Searcher) -> list[dict[str, int]]:
    units: tuple[NameUnit, ...] = ("sentences", "documents")
    return [searcher.index.count([None], Filters(), ByName(100, unit=unit))[0] for unit in units]


@pytest.mark.parametrize(
    ("form", "found", "type"), [("Brexit", PERSON, BODY), ("Twitter", PERSON, BODY), ("Kiev", BODY, PLACE)]
)
def test_a_name_that_models_take_for_another_type_has_its_own(form: str, found: str, type: str) -> None:
    (name,) = resolve_names([{found: (form,)}, {found: (form,)}]).values()
    assert (name.key, name.type) == (name_key(form), type)
    assert resolve_names([{type: (form,)}]) == {}


def test_the_type_of_such_a_name_holds_in_the_whole_collection(anywhere: str, fresh_reads: None) -> None:
    with open_enriched(anywhere, {"a": [[("Brexit", PERSON)]], "b": [[("Brexit", PLACE)]]}) as searcher:
        update(searcher)
    with open_searcher(anywhere) as searcher:
        (name,) = searcher.index.vocabulary(Names(["brexit"])).values()
        assert (name.form, name.type, name.other_types, name.sentences) == ("Brexit", BODY, (), 2)


def test_enrichment_that_was_interrupted_resolves_the_same_names(tmp_path: Path) -> None:
    whole, parts = str(tmp_path / "whole"), str(tmp_path / "parts")
    with open_enriched(whole, CABINET) as searcher:
        update(searcher)
        expected = read_counts(searcher), searcher.index.vocabulary(Names(["lee", "may"]))
    with open_enriched(parts, CABINET) as searcher:
        for id in reversed(CABINET):
            enrich(searcher, {id: CABINET[id]})
        update(searcher)
        update(searcher)
        assert (read_counts(searcher), searcher.index.vocabulary(Names(["lee", "may"]))) == expected


def test_ids_of_documents_and_of_the_table_are_kept_and_found(anywhere: str, fresh_reads: None) -> None:
    given = [{"name": "Ann Lee", "id": "Q1"}, {"name": "Idaho", "id": ["Q2", "US 3"]}, {"name": "Bo"}, "Oz"]
    metadata = {"a": {"names": given}, "b": {"names": {"name": "The Idaho", "id": "Q2"}}, "c": {"names": [7]}}
    metadata["d"] = {"names": [{"name": "Utah", "id": "Q2"}, {"name": "Lee", "id": "utah"}]}
    found = {
        "a": [[("Ann Lee", PERSON)], [("Lee", PERSON), ("Idaho", PLACE)]],
        **{"b": [[("Idaho", PLACE)]], "c": [[]], "d": [[("Utah", PLACE)], [("Lee", PERSON)]]},
    }
    documents = [
        document(id, *(f"storm {n}" for n in range(len(of_one))), metadata=metadata[id])
        for id, of_one in found.items()
    ]
    load(anywhere, documents)
    with open_searcher(anywhere) as searcher:
        assert list(searcher.index.documents()) == documents
        enrich(searcher, found)
        update(searcher)
        wanted = searcher.index.vocabulary(Names(["ann lee", "idaho", "utah", "lee"]))
        assert {key: name.ids for key, name in wanted.items()} == {
            "ann lee": ("Q1",),
            "idaho": ("Q2", "US 3"),  # two documents give it Q2, one gives it to Utah
            "utah": (),
            "lee": ("utah",),
        }
        counts = {"q2": 2, "name:q2": 0, "location:Q2": 2, "person:Q2": 0, "us 3": 2, "Q3": 0, "Q1": 2}
        assert {text: total(searcher, text) for text in counts} == counts
        assert searcher.search("storm name:Q2", 9).total == 2
        assert total(searcher, "utah") == 2, "the place, and the name with this id"
        assert searcher.index.vocabulary(NamesWithPrefix("q", 9)) == ["ann lee", "idaho"]
        assert searcher.index.vocabulary(NamesWithPrefix("id", 9)) == ["idaho"]
        store_aliases(searcher, Utah=["id:Q2"], Lee=["Bo", "id:Q5"])
        assert (total(searcher, "Q2"), total(searcher, "Q5"), total(searcher, "US 3")) == (1, 1, 2)
        names = searcher.index.vocabulary(Names(["utah", "idaho"]))
        assert (names["utah"].ids, names["idaho"].ids) == (("Q2",), ("US 3",))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "aliases.tsv"


def test_a_table_has_a_name_and_its_aliases_on_each_line(table: Path) -> None:
    table.write_text(
        "\ufeff# names of states\nUnited States\tUS\tU.S.\tAmerica\n\nMyanmar\t Burma \n", "utf-8"
    )
    aliases = read_aliases(table)
    assert aliases.forms == {"United States": ["US", "U.S.", "America"], "Myanmar": ["Burma"]}
    assert aliases.group_key("america") == aliases.group_key("united states") == "united states"
    assert aliases.members("us") == ("united states", "us", "america")
    assert aliases.form("myanmar") == "Myanmar" and aliases.form("burma") is None
    assert (aliases.group_key("china"), aliases.members("china")) == ("china", ("china",))
    assert aliases.with_prefix("bur") == ["myanmar"]
    assert Aliases(aliases.as_dict()) == aliases
    table.write_text("Angela Merkel\tid: Q567\tMerkel\nIdaho\tid:Q1221\n")
    aliases = read_aliases(table)
    assert aliases.forms == {"Angela Merkel": ["id:Q567", "Merkel"], "Idaho": ["id:Q1221"]}
    assert (aliases.ids("angela merkel"), aliases.ids("merkel")) == (("Q567",), ())
    assert aliases.group_key("id:q1221") == "idaho" and aliases.with_prefix("id") == ["idaho"]


def test_an_empty_table_has_no_aliases(table: Path) -> None:
    table.write_text("# nothing\n")
    assert not read_aliases(table)


@pytest.mark.parametrize(
    "text, line, problem",
    [
        ("China\n", 1, "a line needs a name and at least one alias or id, separated by single tabs"),
        ("# states\nUS\t\tUSA\n", 2, "a line needs a name and at least one alias"),
        ("US\tUSA\nAmerica\tthe U.S.\n", 2, "'the U.S.' is on line 1 already: one name, one line"),
        ("US\tUSA\nUSA\tAmerica\n", 2, "'USA' is on line 1 already"),
        ("id:Q30\tUS\n", 1, "a line needs a name and at least one alias or id"),
        ("US\tid: \n", 1, "a line needs a name and at least one alias or id"),
        ("US\tid:Q30\nUtah\tid:q30\n", 2, "'id:q30' is on line 1 already"),
    ],
)
def test_a_bad_line_is_named(table: Path, text: str, line: int, problem: str) -> None:
    table.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        read_aliases(table)
    assert caught.value.where == f"{table}:{line}" and problem in caught.value.problem


def test_bytes_that_are_not_utf_8_and_a_missing_file_are_named(table: Path) -> None:
    with pytest.raises(InputError, match=f"{table}: cannot be read: No such file"):
        read_aliases(table)
    table.write_bytes("US\tUSA\nKöln\tCologne\n".encode("latin-1"))
    with pytest.raises(InputError, match=f"{table}:2: is not UTF-8"):
        read_aliases(table)


def test_a_table_may_not_be_larger_than_an_index_should_hold(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esr.index.names.MAX_ALIASES", 3)
    table.write_text("a\tb\nc\td\n")
    with pytest.raises(InputError, match=f"{table}:2: the table has more than 3 names"):
        read_aliases(table)


PIECES = ["the", "An", "a", "'s", "s'", "’s", ".", "A.", "é", "x", " ", "\u0301", "St."]


@pytest.mark.parametrize(
    "key, forms",
    [
        ("us", ["US", "U.S.", "the U.S.", "U. S.", "The US'", "u.s.", "the U.S.’s"]),
        ("barack obama", ["Barack Obama", "BARACK OBAMA", "Barack\n Obama's", "Barack Obama’s"]),
        ("united states", ["the United States", "United States'", "UNITED STATES’"]),
        ("jp morgan", ["JP Morgan", "J.P. Morgan", "J. P. Morgan's"]),
        ("george w bush", ["George W. Bush", "George W Bush"]),
        ("st louis", ["St. Louis", "St Louis"]),
        ("beyonce", ["Beyoncé", "Beyonce\u0301", "BEYONCÉ's"]),
        ("lukasz", ["Łukasz", "Lukasz"]),
        ("istanbul", ["İstanbul", "ISTANBUL", "Istanbul"]),
        ("strasse", ["Straße", "STRASSE"]),
        ("o'neill", ["O’Neill", "O'Neill"]),
        ("αθηνα", ["Αθήνα", "ΑΘΗΝΑ"]),
        ("семен", ["Семён", "СЕМЕН"]),
        ("nato", ["NATO", "ＮＡＴＯ", "N.A.T.O."]),
    ],
)
def test_the_forms_of_a_name_have_one_key(key: str, forms: list[str]) -> None:
    assert {form: name_key(form) for form in forms} == dict.fromkeys(forms, key)


@pytest.mark.parametrize(
    "one, other",
    [
        ("Йошкар-Ола", "Иошкар-Ола"),
        ("がん", "かん"),
        ("कि", "क"),
        ("Amazon.com", "Amazon com"),
        ("America's Cup", "America Cup"),
        ("The Who", "Who's Who"),
        ("Theresa", "resa"),
        ("Anna", "na"),
        ("'s-Hertogenbosch", "Hertogenbosch"),
    ],
)
def test_what_makes_another_name_stays(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize("name", ["The", "A", "an", "...", "'s", "'", "The The"])
def test_a_name_of_what_is_left_out_keeps_a_key(name: str) -> None:
    assert name_key(name)


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_the_key_of_a_key_is_the_key_and_its_length_is_bounded(name: str) -> None:
    key = name_key(name)
    assert name_key(key) == key
    assert len(key) <= MAX_KEY_CHARS
    assert bool(key) == bool(value_key(name))


def test_a_key_is_cut_at_its_greatest_length() -> None:
    assert name_key("x" * 500) == "x" * MAX_KEY_CHARS


def test_a_source_is_compared_without_its_case_and_by_nothing_else() -> None:
    assert value_key("  The BBC ") == value_key("the bbc") != value_key("BBC")
    assert value_key("Le Monde") != value_key("Le Mondé")
