"""Calls of the Python API: pages, counts and tables of answers, what is refused, and what messages say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import esr
from tests.library.test_index import ROWS, place
from tests.support.index_contents import ENGINES
from tests.support.runs import need

pytestmark = pytest.mark.slow

MORE = [
    *ROWS,
    {"id": "b1", "date": "2024-03-06", "text": "The flood reached the harbour. Ships left. Flood, flood."},
    {"id": "b2", "date": "2024-03-06", "text": "The flood reached the harbour. Nobody was hurt."},
]


@pytest.fixture(scope="module", params=ENGINES)
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[esr.Index]:
    """An index of MORE on each engine, which no test changes."""
    with place(request, tmp_path_factory.mktemp("calls")) as where, esr.create(where, MORE) as created:
        yield created


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[esr.Index]:
    """The same index in a folder."""
    with esr.create(tmp_path_factory.mktemp("calls") / "news", MORE) as created:
        yield created


# Pages and counts


@pytest.mark.parametrize("fold", [False, True])
def test_pages_join_to_the_list_of_all_hits(either: esr.Index, fold: bool) -> None:
    whole = either.search("flood harbour", 50, fold=fold)
    assert len(whole) >= 5
    pages = [either.search("flood harbour", 2, offset=n, fold=fold) for n in range(0, len(whole) + 2, 2)]
    assert [(hit.rank, hit.id, hit.score, hit.text) for page in pages for hit in page] == [
        (hit.rank, hit.id, hit.score, hit.text) for hit in whole
    ]
    assert {page.total for page in pages} == {whole.total}
    assert len(pages[-1]) == 0
    assert [len(hit.folded) for page in pages for hit in page] == [len(hit.folded) for hit in whole]


def test_matches_are_counted_as_in_the_api_and_facets_sum_to_them(either: esr.Index) -> None:
    hits = either.search("flood harbour", 1)
    texts = [sentence.text for document in either.documents() for sentence in document.sentences]
    words = [{word.strip(".,").lower() for word in text.split()} for text in texts]
    assert hits.matching == sum(bool({"flood", "harbour"} & of) for of in words)
    assert hits.all_words == sum({"flood", "harbour"} <= of for of in words)
    assert hits.total > hits.matching
    dated = either.search("flood harbour", 1, after=1900)
    assert sum(dated.facets("month")["month"].values()) == either.search("flood harbour", 1).matching - 1
    assert dated.matching == hits.matching - 1, "one document has no date"


# Tables


def test_answers_are_data_frames(index: esr.Index) -> None:
    need("pandas")
    timeline = index.timeline("flood", "harbour", interval="month")
    frame = timeline.to_pandas()
    assert [*frame.columns] == ["query", "period", "count", "sentences", "per_million"]
    assert frame["count"].sum() == sum(series.total for series in timeline.series)
    assert frame["count"].dtype == np.int64
    frequencies = index.frequencies("flood", by="source")
    assert [*frequencies.to_pandas()["group"]] == [*frequencies.groups]
    collocations = index.collocations("flood", min_count=1)
    frame = collocations.to_pandas()
    assert [*frame["word"]] == [each.word for each in collocations.collocations]
    assert [*frame["mi"]] == [each.measures["mi"] for each in collocations.collocations]
    keyness = index.keyness("source:Northern-Wire OR harbour", min_count=1)
    assert [*keyness.to_pandas()["per_million_other"]] == [word.per_million[1] for word in keyness.words]
    contrast = index.contrast("flood", "harbour", min_count=1)
    assert [*contrast.to_pandas()["log_ratio"]] == [each.log_ratio for each in contrast.collocations]
    lines = index.concordance("flood")
    assert [*lines.to_pandas()["left"]] == [line.left for line in lines.lines]


def test_an_empty_table_has_the_columns_of_a_full_one(index: esr.Index) -> None:
    need("polars")
    for full, empty in (
        (index.collocations("flood", min_count=1), index.collocations("storm", min_count=9)),
        (index.keyness("harbour", min_count=1), index.keyness("harbour", min_count=99)),
        (index.contrast("flood", "harbour", min_count=1), index.contrast("flood", "harbour", min_count=99)),
        (index.concordance("flood"), index.concordance("flood", document="a0")),
    ):
        assert len(full.to_polars()) > len(empty.to_polars()) == 0
        assert empty.to_polars().columns == full.to_polars().columns


# What does not exist


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda index: index.document("nothing"), "there is no document 'nothing'"),
        (lambda index: index.similar("nothing.s0"), "there is no sentence 'nothing.s0'"),
        (lambda index: index.search("flood", 2).explain("nothing.s0"), "there is no sentence 'nothing.s0'"),
        (lambda index: index.search("flood", 2).explain(99), "there is no hit 99: the answer has 2 hits"),
        (lambda index: index.search("flood", 2).explain(-3), "there is no hit -3"),
        (lambda index: index.rollback("nothing"), "there is no generation 'nothing'"),
    ],
)
def test_what_does_not_exist_is_not_found(either: esr.Index, call: Any, message: str) -> None:
    with pytest.raises(esr.NotFound, match=message) as caught:
        call(either)
    assert isinstance(caught.value, esr.UsageError)


def test_a_name_that_the_index_does_not_have_is_not_found(index: esr.Index) -> None:
    with pytest.raises(esr.NotFound):
        index.name("Nobody")


# What is refused


@pytest.mark.parametrize("value", ["yes", "no", 1, 0, "True", []], ids=repr)
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("literal", lambda index, value: index.search("flood", literal=value)),
        ("fold", lambda index, value: index.search("flood", fold=value)),
        ("own_document", lambda index, value: index.similar("a1.s2", own_document=value)),
        ("stop_words", lambda index, value: index.collocations("flood", stop_words=value)),
        ("strict", lambda index, value: index.append([], strict=value)),
    ],
)
def test_a_flag_is_true_or_false_alone(index: esr.Index, name: str, call: Any, value: object) -> None:
    with pytest.raises(esr.UsageError, match=f"{name} is True or False, not "):
        call(index, value)


@pytest.mark.parametrize("value", [True, False, None, np.True_], ids=repr)
def test_true_false_and_none_are_flags(index: esr.Index, value: Any) -> None:
    assert index.search("flood", literal=value)


@pytest.mark.parametrize("offset", [-1, 1.5, "2", None, True], ids=repr)
def test_an_offset_is_a_whole_number(index: esr.Index, offset: Any) -> None:
    with pytest.raises(esr.UsageError, match="offset must be a whole number from 0"):
        index.search("flood", offset=offset)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"from_": "2024"}, "did you mean 'after'"),
        ({"since": "2024"}, "did you mean 'after'"),
        ({"until": "2024"}, "did you mean 'before'"),
        ({"limit": 5}, "did you mean 'k'"),
        ({"top_k": 5}, "did you mean 'k'"),
        ({"ofset": 5}, "did you mean 'offset'"),
        ({"sorce": "x"}, "did you mean 'source'"),
        ({"lang": "de"}, "did you mean 'query_language'"),
        ({"colour": "red"}, "known: "),
    ],
    ids=str,
)
def test_a_hint_names_the_option_that_is_meant(index: esr.Index, options: Any, hint: str) -> None:
    (name,) = options
    with pytest.raises(esr.UsageError, match=f"unknown option '{name}': {hint}"):
        index.search("flood", **options)


def test_a_hint_names_no_option_that_the_call_lacks(index: esr.Index) -> None:
    for call in (index.timeline, index.newest):
        with pytest.raises(esr.UsageError, match="unknown option 'offset': known: "):
            call("flood", offset=5)


def test_an_unknown_ranking_is_answered_by_the_known_ones(index: esr.Index, tmp_path: Path) -> None:
    message = "there is no ranking 'nosuch': give a file, or one of words, hybrid, meaning, latest"
    with pytest.raises(esr.UsageError, match=message):
        index.search("flood", ranking="nosuch")
    with pytest.raises(esr.InputError, match="cannot be read"):
        index.search("flood", ranking=tmp_path)


def test_a_number_as_a_date_is_a_year(either: esr.Index) -> None:
    assert {hit.document_id for hit in either.search("flood", 9, before=2024)} == set()
    written = [hit.id for hit in either.search("flood", 9, after="2024")]
    assert [hit.id for hit in either.search("flood", 9, after=2024)] == written
    with pytest.raises(
        esr.UsageError, match="a date such as '2024-01-31', a year, or milliseconds since 1970"
    ):
        either.search("flood", after=20240305)


# Wrong kinds

TEXTS = {
    "quotes": lambda index, value: index.quotes(value),
    "quotes about": lambda index, value: index.quotes("May", about=value),
    "name": lambda index, value: index.name(value),
    "names": lambda index, value: index.names(value),
    "names prefix": lambda index, value: index.names(prefix=value),
    "names type": lambda index, value: index.names(type=value),
    "document": lambda index, value: index.document(value),
    "remove": lambda index, value: index.remove([value]),
    "remove query": lambda index, value: index.remove(query=value),
    "remove before": lambda index, value: index.remove(before=value),
    "rollback": lambda index, value: index.rollback(value),
    "concordance": lambda index, value: index.concordance(value),
    "concordance unit": lambda index, value: index.concordance("flood", unit=value),
    "concordance sort": lambda index, value: index.concordance("flood", sort=value),
    "collocations": lambda index, value: index.collocations(value),
    "collocations measure": lambda index, value: index.collocations("flood", measure=value),
    "contrast": lambda index, value: index.contrast("flood", value),
    "keyness": lambda index, value: index.keyness(value),
    "keyness against": lambda index, value: index.keyness("flood", against=value),
    "timeline": lambda index, value: index.timeline(value),
    "timeline interval": lambda index, value: index.timeline("flood", interval=value),
    "frequencies": lambda index, value: index.frequencies(value),
    "frequencies by": lambda index, value: index.frequencies("flood", by=value),
    "facets": lambda index, value: index.search("flood").facets(value),
    "enrich": lambda index, value: index.enrich(value),
    "enrich encoder": lambda index, value: index.enrich("vectors", encoder=value),
    "enrich aliases": lambda index, value: index.enrich("entities", aliases=value),
    "query language": lambda index, value: index.search("flood", query_language=value),
    "create analyzer": lambda index, value: esr.create("new", ROWS, analyzer=value),
    "create id": lambda index, value: esr.create("new", ROWS, id=value),
    "create mapping": lambda index, value: esr.create("new", ROWS, mapping=value),
    "create if_exists": lambda index, value: esr.create("new", ROWS, if_exists=value),
    "load path": lambda index, value: esr.load("new", value),
    "load format": lambda index, value: esr.load("new", "news.jsonl", format=value),
    "login": lambda index, value: esr.open(index.where, api_key=value),
    "where": lambda index, value: esr.open(value),
}
NUMBERS = {
    "newest": lambda index, value: index.newest("flood", k=value),
    "novel": lambda index, value: index.novel("flood", k=value),
    "similar": lambda index, value: index.similar("a1.s0", k=value),
    "batch": lambda index, value: index.batch(["flood"], k=value),
    "concordance": lambda index, value: index.concordance("flood", k=value),
    "concordance width": lambda index, value: index.concordance("flood", width=value),
    "concordance sample": lambda index, value: index.concordance("flood", sample=value),
    "collocations": lambda index, value: index.collocations("flood", k=value),
    "collocations window": lambda index, value: index.collocations("flood", window=value),
    "collocations min_count": lambda index, value: index.collocations("flood", min_count=value),
    "contrast": lambda index, value: index.contrast("flood", "ships", k=value),
    "keyness": lambda index, value: index.keyness("ships", k=value),
    "keyness min_count": lambda index, value: index.keyness("ships", min_count=value),
    "name companions": lambda index, value: index.name("May", companions=value),
    "network": lambda index, value: index.network(least=value),
    "timeline peaks": lambda index, value: index.timeline("flood", peaks=value),
    "facets": lambda index, value: index.search("flood").facets("source", size=value),
    "window": lambda index, value: index.search("flood")[0].window(value),
    "enrich workers": lambda index, value: index.enrich("quotes", workers=value),
    "enrich slice": lambda index, value: index.enrich("quotes", slice=(value, 2)),
    "append keep": lambda index, value: index.append(ROWS, keep=value),
    "append workers": lambda index, value: index.append(ROWS, workers=value),
    "append empty": lambda index, value: index.append(ROWS, allow_empty_documents=value),
    "create shards": lambda index, value: esr.create("new", ROWS, shards=value),
}


@pytest.mark.parametrize("value", [5, b"flood", {}], ids=repr)
@pytest.mark.parametrize("call", TEXTS.values(), ids=TEXTS)
def test_what_is_no_text_is_refused_by_name(index: esr.Index, call: Any, value: object) -> None:
    if call is TEXTS["create mapping"] and value == {}:
        return
    with pytest.raises(esr.UsageError, match=r" (is|are) .*, not "):
        call(index, value)


@pytest.mark.parametrize("value", [-1, float("nan"), "5", True], ids=repr)
@pytest.mark.parametrize("call", NUMBERS.values(), ids=NUMBERS)
def test_what_is_no_number_in_range_is_refused_by_name(index: esr.Index, call: Any, value: object) -> None:
    with pytest.raises(esr.UsageError, match=r" (is|must be) .*, not "):
        call(index, value)


def test_an_index_without_names_says_so_in_place_of_an_empty_list(index: esr.Index) -> None:
    for call in (index.names, index.network):
        with pytest.raises(esr.UsageError, match="has no names: find them with esr enrich"):
            call()


def test_an_empty_location_is_no_index() -> None:
    for where in ("", "  "):
        with pytest.raises(esr.UsageError, match="an index is a folder or http"):
            esr.open(where)


def test_every_method_takes_a_parsed_query(index: esr.Index) -> None:
    parsed = esr.parse_query("flood")
    for method in (index.search, index.newest, index.novel, index.concordance, index.collocations):
        method(parsed)  # type: ignore[operator]
    assert index.timeline(parsed).series  # type: ignore[arg-type]
