"""Filters on attributes, their counts and values: both engines give what a scan of the documents does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from esr.errors import UsageError
from esr.index.contract import find_documents
from esr.index.factory import open_delivery
from esr.index.filters import (
    FACET_FIELDS,
    NO_FILTERS,
    Filters,
    attribute_names,
    build_attribute_filters,
    find_unknown_filters,
    resolve_condition,
)
from esr.index.names import ENTITY_TYPES
from esr.index.questions import ByField, Fact, Lookup, Records, Values
from esr.index.values import Value, ValueTable
from esr.index.writer import LoadOptions
from esr.loaders import read_documents
from esr.plans.plan import AllOf, AnyOf, Condition, HasSource, HasTerm, Not
from esr.query import parse
from esr.ranking.completions import complete
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.attributes import META, attributes, value_key
from esr.text.document import Document, Sentence
from esr.text.validate import to_json_line
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import document, fresh, load, located
from tests.support.fake_index import FLOOD, STORM, FakeIndex
from tests.support.index_contents import documents

NEWS = list(random_documents(0, 90, seed=11))
QUERY = "flood bank river"
FIELDS = ("author", "section", "keyword", "meta.desk", "meta.a.b", "meta.a.b.c", "meta..", "meta.none")
WANTED = [
    {"author": ["jane doe"]},
    {"author": ["OLAF GRÖSSE", "nobody"]},
    {"section": ["SPORT", "world: asia"], "keyword": ["Brexit"]},
    {"meta.desk": ["berlin"]},
    {"meta.DESK": ["BONN"], "author": ["Jane Doe"]},
    {"meta.a.b.c": ["deep value"]},
    {"meta.rank": ["3"]},
    {"meta.url": ["https://x.example/?q=a b"]},
    {"meta.odd key..": ["v w"]},
    {"meta..": ["dot"]},
    {"meta.none": ["x"]},
    {"keyword": ["none"]},
]


@pytest.fixture(scope="module")
def searchers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, elasticsearch_url: str
) -> Iterator[list[Searcher]]:
    """The collection in a folder, in several segments, and behind aliases of one shard and of three."""
    folder = str(tmp_path_factory.mktemp("attributes") / "index")
    with ExitStack() as stack:
        places = [folder, *(stack.enter_context(fresh(elasticsearch_url)) for _ in range(2))]
        for where, options in zip(places, ({}, {"shards": 1}, {"shards": 3}), strict=True):
            load(where, NEWS[:30], **options)
            load(where, NEWS[30:], if_exists="append")
        yield [stack.enter_context(open_searcher(where)) for where in places]


def wanted_values(one: Document, name: str) -> set[str]:
    """The keys of the values of an attribute, found without the engines."""
    return {
        value_key(value)
        for key, values in attributes(one).items()
        if value_key(key) == value_key(name)
        for value in values
    }


def passes(one: Document, wanted: dict[str, list[str]]) -> bool:
    return all({value_key(v) for v in values} & wanted_values(one, name) for name, values in wanted.items())


def filters_for(wanted: dict[str, list[str]]) -> Filters:
    return Filters(attributes=build_attribute_filters(wanted, ()))


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_a_filter_lets_through_what_a_scan_does(
    searchers: list[Searcher], wanted: dict[str, list[str]]
) -> None:
    for searcher in searchers:
        has_term = searcher.index.analyzer.terms  # no sentence without a term is ranked
        passing = [one for one in NEWS if passes(one, wanted)]
        expected = {s.id for one in passing for s in one.sentences if has_term(s.text)}
        ranking = Ranking(candidates="all")
        answer = searcher.search(QUERY, 1000, ranking=ranking, filters=filters_for(wanted), records=False)
        assert {hit.sentence_id for hit in answer.hits} == expected
        matching = searcher.search(QUERY, 1000, filters=filters_for(wanted), records=False)
        everything = searcher.search(QUERY, 1000, records=False)
        kept = [hit.sentence_id for hit in everything.hits if hit.sentence_id in expected]
        assert [hit.sentence_id for hit in matching.hits] == kept
        unknown = [value.field for value in answer.unknown_filters]
        assert bool(unknown) == any(
            not any(value_key(v) in wanted_values(one, name) for one in NEWS)
            for name, values in wanted.items()
            for v in values
        )


@pytest.mark.parametrize("filtered", [{}, {"section": ["sport"]}, {"meta.desk": ["berlin"]}], ids=str)
def test_counts_are_those_of_a_scan(searchers: list[Searcher], filtered: dict[str, list[str]]) -> None:
    for searcher in searchers:
        prepared = searcher.snapshot().prepare(QUERY, Ranking())
        plan = replace(prepared.plan, candidates="matching")
        hits = prepared.index.search(plan, 10_000, NO_FILTERS, records=True).hits
        by_document = Counter(hit.record.document_id for hit in hits if hit.record)
        for field in FIELDS:
            expected: Counter[str] = Counter()
            for one in NEWS:
                if passes(one, filtered) and by_document[one.id]:
                    expected.update(dict.fromkeys(wanted_values(one, field), by_document[one.id]))
            counted, best = (
                prepared.index.count([prepared.matching], filters_for(filtered), ByField([field], size))[0][
                    field
                ]
                for size in (100, 1)
            )
            assert {value_key(value): n for value, n in counted} == dict(expected), field
            assert counted == sorted(counted, key=lambda value: (-value[1], value[0]))
            table = searcher.index.vocabulary(Values(field))
            assert all(table.form(value) == value for value, _ in counted)
            assert best == counted[:1]


def test_a_query_names_a_key_with_spaces_or_colons_in_quotes(anywhere: str) -> None:
    keys = {"dc:creator": "Roe", "odd key": "v w"}
    load(anywhere, [replace(document("a", "A flood."), metadata=keys), document("b", "A flood.")])
    with open_searcher(anywhere) as searcher:
        for query in ('flood meta."dc:creator":roe', 'flood meta."odd key":"v w"'):
            assert [hit.sentence_id for hit in searcher.search(parse(query)).hits] == ["a.s0"]
        for typed, completed in (("meta.dc", 'meta."dc:creator":'), ('meta."dc:c', 'meta."dc:creator":')):
            assert [one.query for one in complete(searcher, f"flood {typed}", 5)] == [f"flood {completed}"]
        assert [one.query for one in complete(searcher, 'meta."dc:creator":R', 5)] == [
            'meta."dc:creator":Roe'
        ]
        assert complete(searcher, "meta.odd", 5)[0].query == 'meta."odd key":'


def test_keys_of_metadata_with_brackets_can_be_counted(anywhere: str) -> None:
    fields = ["meta.a>b", "meta.tags[0]"]
    load(anywhere, [document("a", "A flood.", "It fell.", metadata={"a>b": "x", "tags[0]": "y"})])
    with open_searcher(anywhere) as searcher:
        prepared = searcher.snapshot().prepare("flood fell", Ranking())
        counts = prepared.index.count([prepared.matching], NO_FILTERS, ByField([*fields], 5))[0]
    assert counts == {"meta.a>b": [("x", 2)], "meta.tags[0]": [("y", 2)]}


def test_values_and_keys_are_the_same_on_both_engines(searchers: list[Searcher]) -> None:
    for field in (*FIELDS, META, "source"):
        listed = [searcher.index.vocabulary(Values(field)).with_prefix("", 100) for searcher in searchers]
        assert listed[0] == listed[1] == listed[2], field
        assert listed[0] or field == "meta.none"
    names = [
        attribute_names(lambda field, index=searcher.index: index.vocabulary(Values(field)), "meta.desk")
        for searcher in searchers
    ]
    assert names[0] == names[1] == names[2] == ("meta.desk", "meta.Desk")


def test_unknown_values_say_so_and_offer_the_nearest(searchers: list[Searcher]) -> None:
    wanted = {"author": ["Jane Do"], "section": ["qqqq"], "meta.dsk": ["Berlin"], "meta.desk": ["Berln"]}
    messages = [
        [tuple(unknown) for unknown in s.search(QUERY, 1, filters=filters_for(wanted)).unknown_filters]
        for s in searchers
    ]
    assert messages[0] == messages[1] == messages[2]
    assert [(field, nearest) for field, _, _, nearest in messages[0]] == [
        ("author", messages[0][0][3]),
        ("section", None),
        ("meta", "desk=Berlin"),
        ("meta", "desk=Berlin"),
    ]
    assert value_key(messages[0][0][3] or "") == "jane doe"
    assert messages[0][2][2] == "unknown metadata 'dsk': did you mean 'desk'?"
    assert str(messages[0][3][2]).startswith("unknown desk 'Berln': did you mean '")


def test_an_index_without_attributes_has_none(anywhere: str) -> None:
    load(anywhere, [document("a", "A flood came.")])
    with open_searcher(anywhere) as searcher:
        prepared = searcher.snapshot().prepare("flood", Ranking())
        counts = prepared.index.count([prepared.matching], NO_FILTERS, ByField(FIELDS, 5))[0]
        assert counts == {field: [] for field in FIELDS}
        assert [len(searcher.index.vocabulary(Values(field))) for field in (*FIELDS, META)] == [0] * (
            len(FIELDS) + 1
        )


@pytest.mark.parametrize("pair", ["desk", "=Berlin", "desk=", " = "])
def test_metadata_is_filtered_by_pairs(pair: str) -> None:
    with pytest.raises(UsageError, match="metadata is filtered by KEY=VALUE"):
        build_attribute_filters({}, [pair])


def test_a_field_is_counted_without_the_filters_on_itself_and_with_all_others() -> None:
    filters = Filters(
        date_from=0, date_to=1, sources="Wire", entities="Ann Lee", attributes={"author": "Ann Lee"}
    )
    own = {"source": ["sources"], "month": ["date_from", "date_to"], "author": ["attributes"]}
    own |= {type: ["entities"] for type in ENTITY_TYPES}
    for field in FACET_FIELDS:
        left = filters.without_field(field).as_dict()
        assert [name for name in filters.as_dict() if name not in left] == own.get(field, []), field


def test_a_key_of_the_metadata_is_the_field_of_a_filter_in_any_case() -> None:
    filters = Filters(attributes={"meta.Desk": "Berlin", "meta.page": "1"})
    others = filters.without_field("meta.Desk")
    for field in ("meta.desk", "meta.Desk", "meta.DESK"):
        assert filters.without_field(field) == others != filters
        assert filters.attribute_values(field) == ("Berlin",)
        assert filters.condition_on(field) is not None


def test_values_of_metadata_may_have_an_equals_sign() -> None:
    def built(pairs: Sequence[str]) -> list[tuple[Sequence[str], Sequence[str]]]:
        return [(one.names, one.values) for one in build_attribute_filters({}, pairs)]

    assert built(["q=a=b", "q=c"]) == [(("meta.q",), ("a=b", "c"))]


# Conditions resolve sources, attributes and names wherever they occur, and report unknown ones.


class Vocabulary:
    """The source BBC."""

    def vocabulary(self, lookup: Lookup[Any]) -> Any:
        return ValueTable([("BBC", 1)]) if isinstance(lookup, Values) else {}

    def status(self, fact: Fact[Any]) -> Any:
        raise NotImplementedError


TERM, ASKED, RESOLVED = HasTerm("oil"), HasSource(("bbc",)), HasSource(("BBC",))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (ASKED, RESOLVED),
        (Not(ASKED), Not(RESOLVED)),
        (AllOf((TERM, ASKED)), AllOf((TERM, RESOLVED))),
        (AnyOf((ASKED, TERM)), AnyOf((RESOLVED, TERM))),
        (AllOf((TERM, AnyOf((TERM, ASKED)))), AllOf((TERM, AnyOf((TERM, RESOLVED))))),
    ],
)
def test_what_asks_for_a_source_is_resolved(condition: Condition, expected: Condition) -> None:
    assert resolve_condition(Vocabulary(), condition) == expected


@pytest.mark.parametrize("condition", [TERM, AllOf((TERM, TERM)), AnyOf((TERM, TERM))])
def test_what_has_terms_alone_stays(condition: Condition) -> None:
    assert resolve_condition(Vocabulary(), condition) is condition


INDEX = FakeIndex(STORM._replace(entities={"person": ["Barack Obama"], "organization": ["UN"]}), FLOOD)


def messages(*entities: str, sources: tuple[str, ...] = (), index: FakeIndex = INDEX) -> list[str]:
    unknown = find_unknown_filters(index, Filters(sources=sources, entities=entities))
    return [value.message for value in unknown]


def test_what_the_index_has_is_not_unknown() -> None:
    assert messages("barack obama’s", "person:Barack Obama", "U.N.", sources=("THE EXAMPLE",)) == []


@pytest.mark.parametrize("written", ["Barak Obama", "person:Barac Obama", "Brack Obama"])
def test_the_nearest_name_is_offered(written: str) -> None:
    (message,) = messages(written)
    assert message.endswith("did you mean 'Barack Obama'?")


def test_another_type_is_told() -> None:
    assert messages("location:UN") == [
        "'UN' is an organization in this index, not: location; search for organization:UN"
    ]
    (message,) = messages("location:Barack Obama")
    assert message.endswith('search for person:"Barack Obama"')
    (unknown,) = find_unknown_filters(INDEX, Filters(entities=("location:UN",)))
    assert unknown.nearest == "organization:UN"


def test_a_name_without_a_near_one_is_unknown() -> None:
    assert messages("Qwerty") == ["unknown name 'Qwerty': no sentence has it"]


def test_an_index_without_names_says_how_it_gets_them() -> None:
    assert messages("Qwerty", index=FakeIndex(STORM)) == [
        "unknown name 'Qwerty': the index has no names, find them with esr enrich"
    ]


def test_known_sources_are_listed_where_none_is_near() -> None:
    assert messages(sources=("qqq",)) == ["unknown source 'qqq': known: The Example"]
    assert messages(sources=("The Exmple",)) == ["unknown source 'The Exmple': did you mean 'The Example'?"]
    assert messages(sources=("qqq",), index=FakeIndex(FLOOD)) == ["unknown source 'qqq': known: none"]


TABLE = ValueTable([("bbc", 2), ("BBC", 5), ("The Guardian", 9), ("guardian.co.uk", 1), ("Wire", 7)])
BBC = Value("BBC", 7, ("BBC", "bbc"))


@pytest.mark.parametrize("text", ["bbc", "BBC", "Bbc", " bbc "])
def test_a_source_is_found_in_any_case_under_the_form_of_most_documents(text: str) -> None:
    assert TABLE.find(text) == BBC
    assert TABLE.form(text) == "BBC"


def test_another_source_is_not_found() -> None:
    assert TABLE.find("bbc.co.uk") is None and TABLE.form("bbc.co.uk") == "bbc.co.uk"


def test_of_forms_that_are_as_frequent_the_first_is_shown() -> None:
    assert ValueTable([("wire", 1), ("Wire", 1)]).form("WIRE") == "Wire"


def test_sources_are_listed_by_the_beginning_of_a_word() -> None:
    assert [source.form for source in TABLE.with_prefix("GUA", 9)] == ["The Guardian", "guardian.co.uk"]
    assert [source.form for source in TABLE.with_prefix("", 3)] == ["The Guardian", "BBC", "Wire"]
    assert TABLE.with_prefix("uardian", 9) == []


def test_the_nearest_source_is_offered_if_one_is_near() -> None:
    assert TABLE.nearest("bcb") == BBC
    assert TABLE.nearest("The Gardian") == TABLE.find("The Guardian")
    assert TABLE.nearest("qqqqq") is None


def test_a_table_tells_whether_a_source_has_several_forms() -> None:
    assert TABLE.has_variants
    assert not ValueTable([("a", 1), ("b", 2)]).has_variants


# What is known of a document is stored, exported and shown; a change of it changes the document.


FULL = Document(
    "full",
    (Sentence("full.s0", "A flood came."),),
    title="Flood",
    authors=("Jane Doe", "Olaf Größe"),
    section="World: Asia",
    keywords=("flood", "日本"),
    metadata={
        "desk": {"city": "Berlin", "": [1, 2.50, 10**20, None, True]},
        "odd\0.key..": "x" * 40_000,
        ".": {},
    },
)
PLAIN = Document("plain", (Sentence("plain.s0", "Rain fell."),))


def test_documents_are_stored_as_they_came_and_shown_at_their_sentences(anywhere: str) -> None:
    load(anywhere, [FULL, PLAIN])
    assert documents(anywhere) == [FULL, PLAIN]
    with open_searcher(anywhere) as searcher:
        full, plain = searcher.index.read(["full.s0", "plain.s0"], Records())
        assert find_documents(searcher.index, ["plain", "nope", "full"]) == {"full": FULL, "plain": PLAIN}
        assert find_documents(searcher.index, []) == {}
    assert (full.authors, full.section, full.keywords) == (FULL.authors, FULL.section, FULL.keywords)
    assert (plain.authors, plain.section, plain.keywords) == ((), None, ())


def test_an_export_that_is_loaded_gives_the_same_export(anywhere: str, tmp_path: Path) -> None:
    load(anywhere, [FULL, PLAIN])
    lines = list(map(to_json_line, documents(anywhere)))
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    assert [to_json_line(one.document) for one in read_documents([str(file)])] == lines


def test_a_change_of_any_field_is_a_change_of_the_document(anywhere: str) -> None:
    load(anywhere, [FULL, PLAIN])

    def append(document: Document) -> int:
        return open_delivery(anywhere, LoadOptions()).append(located([document])).changed

    assert append(FULL) == 0
    current = FULL
    changes: dict[str, object] = {
        "authors": ("Jane Doe",),
        "section": None,
        "keywords": ("日本", "flood"),
        "metadata": {"desk": "Bonn"},
    }
    for name, value in changes.items():
        current = replace(current, **{name: value})  # type: ignore[arg-type]
        assert append(current) == 1, name
    assert sorted(documents(anywhere), key=lambda one: one.id) == [current, PLAIN]
