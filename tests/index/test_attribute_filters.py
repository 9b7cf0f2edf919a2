"""Filters on attributes, their counts and values: both engines give what a scan of the documents does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import pytest
from msgspec.structs import replace

from esr.errors import UsageError
from esr.index.filters import NO_FILTERS, Filters, attribute_names, build_attribute_filters
from esr.query import parse
from esr.ranking.query_report import complete
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import META, Document, attributes, value_key
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import document, fresh, load

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
    expected = {s.id for one in NEWS if passes(one, wanted) for s in one.sentences}
    for searcher in searchers:
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
        plan = prepared.matching_plan
        hits = prepared.index.search(plan, 10_000, NO_FILTERS, records=True).hits
        by_document = Counter(hit.record.document_id for hit in hits if hit.record)
        for field in FIELDS:
            expected: Counter[str] = Counter()
            for one in NEWS:
                if passes(one, filtered) and by_document[one.id]:
                    expected.update(dict.fromkeys(wanted_values(one, field), by_document[one.id]))
            counted = prepared.index.facets(plan, {field: filters_for(filtered)}, 100)[field]
            assert {value_key(value): n for value, n in counted} == dict(expected), field
            assert counted == sorted(counted, key=lambda value: (-value[1], value[0]))
            table = searcher.index.values(field)
            assert all(table.form(value) == value for value, _ in counted)
            best = prepared.index.facets(plan, {field: filters_for(filtered)}, 1)[field]
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
        counts = prepared.index.facets(prepared.plan, dict.fromkeys(fields, NO_FILTERS), 5)
    assert counts == {"meta.a>b": [("x", 2)], "meta.tags[0]": [("y", 2)]}


def test_values_and_keys_are_the_same_on_both_engines(searchers: list[Searcher]) -> None:
    for field in (*FIELDS, META, "source"):
        listed = [searcher.index.values(field).with_prefix("", 100) for searcher in searchers]
        assert listed[0] == listed[1] == listed[2], field
        assert listed[0] or field == "meta.none"
    names = [attribute_names(searcher.index, "meta.desk") for searcher in searchers]
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
        counts = prepared.index.facets(prepared.matching_plan, dict.fromkeys(FIELDS, NO_FILTERS), 5)
        assert counts == {field: [] for field in FIELDS}
        assert [len(searcher.index.values(field)) for field in (*FIELDS, META)] == [0] * (len(FIELDS) + 1)


@pytest.mark.parametrize("pair", ["desk", "=Berlin", "desk=", " = "])
def test_metadata_is_filtered_by_pairs(pair: str) -> None:
    with pytest.raises(UsageError, match="metadata is filtered by KEY=VALUE"):
        build_attribute_filters({}, [pair])


def test_values_of_metadata_may_have_an_equals_sign() -> None:
    def built(pairs: Sequence[str]) -> list[tuple[Sequence[str], Sequence[str]]]:
        return [(one.names, one.values) for one in build_attribute_filters({}, pairs)]

    assert built(["q=a=b", "q=c"]) == [(("meta.q",), ("a=b", "c"))]
