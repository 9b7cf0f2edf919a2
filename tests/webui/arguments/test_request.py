from __future__ import annotations

import sys
from unicodedata import category
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from esr import models
from esr.arguments.tables.table import PAGE
from esr.index.filters import Filters
from esr.models.priors import PRIORS
from esr.ranking.ranking import DEFAULT, Ranking
from esr.text import dates
from esr.text.attributes import ATTRIBUTES
from webui.arguments.request import SearchRequest, check_text, decode_arguments, read_search
from webui.running.problems import RequestError
from webui.running.settings import Settings

LIMITS = Settings()


def parsed(*pairs: tuple[str, str]) -> SearchRequest:
    return read_search(urlencode(pairs).encode(), LIMITS)


def error(*pairs: tuple[str, str]) -> RequestError:
    with pytest.raises(RequestError) as caught:
        parsed(*pairs)
    return caught.value


def test_a_query_alone_takes_all_defaults() -> None:
    assert parsed(("q", " storm damage ")) == SearchRequest(
        "storm damage", DEFAULT, Filters(), LIMITS.default_k
    )


def test_every_argument_is_read() -> None:
    search = parsed(
        ("q", "storm"),
        ("model", "dir"),
        ("candidates", "all"),
        ("k", "7"),
        ("from", "2017-03"),
        ("to", "2017-03"),
        ("source", "bbc"),
        ("source", "npr"),
        ("document", "a"),
        ("params.mu", "50"),
        ("prior.length", "0.5"),
    )
    assert search.ranking.as_dict()["params"]["mu"] == 50.0
    assert search.ranking.model == "dir"
    assert search.ranking.priors == {"length": 0.5}
    assert search.ranking.candidates == "all"
    assert search.k == 7
    first, last = dates.parse_date_start("2017-03"), dates.parse_date_end("2017-03")
    assert search.filters == Filters(first, last, ("bbc", "npr"), ("a",))


def test_empty_arguments_count_as_not_given() -> None:
    empty = [(name, "  ") for name in PAGE if "." not in name]
    assert parsed(*empty) == SearchRequest("", k=LIMITS.default_k)


@pytest.mark.parametrize("model", models.MODELS)
def test_every_model_and_context_can_be_requested(model: str) -> None:
    for context in ("", *models.get(model).contexts):
        ranking = parsed(("q", "x"), ("model", model), ("context", context)).ranking
        assert (ranking.model, ranking.context) == (model, context or None)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("modle", "2si", "did you mean 'model'"),
        ("query", "storm", "did you mean 'q'"),
        ("Query", "storm", "did you mean 'q'"),
        ("limit", "5", "did you mean 'k'"),
        ("model", "bm52", "did you mean 'bm25'"),
        ("context", "documents", "did you mean 'document'"),
        ("candidates", "matchin", "did you mean 'matching'"),
        ("params.muu", "3", "did you mean 'mu'"),
        ("params.mu", "-1", "(0, inf)"),
        ("params.mu", "fifty", "'fifty'"),
        ("params.", "1", "unknown parameter"),
        ("prior.lenght", "1", "did you mean 'length'"),
        ("prior.length", "nan", "must be a finite number"),
        ("k", "0", "from 1 to 100"),
        ("k", "101", "from 1 to 100"),
        ("k", "1_0", "whole number"),
        ("k", "١", "whole number"),
        ("k", "9" * 200, "whole number"),
        ("from", "soon", "2024-01-31"),
        ("to", "2017-02-30", "2024-01-31"),
        ("q", "a\x00b", "U+0000"),
        ("source", "a\x1bb", "U+001B"),
        ("q", "a\x85b", "U+0085"),
        ("q", "abc\u202edef", "text direction"),
        ("q", "x" * 2001, "at most 2,000"),
        ("source", "x" * 301, "at most 300"),
    ],
)
def test_an_error_names_the_bad_value_and_what_is_allowed(name: str, value: str, message: str) -> None:
    caught = error((name, value))
    assert message in str(caught)
    assert caught.field == name
    assert "\n" not in str(caught)


def test_an_error_uses_no_options_of_the_command_line() -> None:
    caught = error(("model", "bm25"), ("context", "both"))
    assert (caught.field, str(caught)) == (
        "context",
        "model 'bm25' uses the sentence alone: leave out context",
    )
    assert "--" not in str(error(("context", "document"), ("params.nu", "0.1")))


def test_an_argument_that_is_not_repeatable_cannot_be_repeated() -> None:
    assert "2 times" in str(error(("q", "a"), ("q", "b")))
    assert error(("params.mu", "1"), ("params.mu", "2")).field == "params.mu"


def test_dates_in_the_wrong_order_are_an_error() -> None:
    assert "swap" in str(error(("from", "2017-03-02"), ("to", "2017-03-01")))
    assert parsed(("from", "2017-03-01"), ("to", "2017-03-01")).filters.date_from is not None


def test_an_address_has_limits() -> None:
    assert len(str(error(("x" * 5_000, "1")))) < 1_000
    assert "at most 120" in str(error(*[("source", str(n)) for n in range(121)]))
    assert "at most 32,000" in str(error(*[("source", "x" * 300)] * 110))


@pytest.mark.parametrize("raw", [b"q=%ff", b"q=\xff", b"q=%ed%a0%80", b"%ff=1", b"q=\xc3%a9"])
def test_bytes_that_are_not_utf8_are_an_error(raw: bytes) -> None:
    with pytest.raises(RequestError, match="UTF-8"):
        read_search(raw, LIMITS)


def test_letters_of_any_script_and_joiners_are_allowed() -> None:
    for query in ("погода", "می‌خواهم", "天气", "‏שלום", "हिन्दी", "tab\there"):
        assert parsed(("q", query)).query == query


def test_every_prior_has_an_argument() -> None:
    for prior in PRIORS:
        assert parsed(("prior." + prior, "1")).ranking.priors == {prior: 1.0}


@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_or_rejected(raw: bytes) -> None:
    query = raw.decode("latin-1").encode()
    for candidate in (raw, b"q=" + raw, query, quote(raw).encode()):
        try:
            assert isinstance(decode_arguments(candidate, LIMITS, "page"), dict)
        except RequestError as caught:
            assert str(caught)


def test_exactly_control_characters_and_those_of_direction_are_refused() -> None:
    directions = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    refused = set()
    for character in map(chr, range(sys.maxunicode + 1)):
        try:
            check_text("q", f"a{character}b", 10)
        except RequestError:
            refused.add(character)
    controls = {c for c in map(chr, range(sys.maxunicode + 1)) if category(c) == "Cc"}
    assert refused == controls - set("\t\n\r") | set(directions)


def test_an_address_without_a_ranking_has_the_default_one() -> None:
    assert parsed(("q", "storm"), ("source", "BBC")).ranking == DEFAULT
    assert parsed(("q", "storm"), ("depth", "7")).ranking == Ranking(depth=7)


@pytest.mark.parametrize(
    ("name", "value"),
    [("from", "2017"), ("to", "2017"), ("source", "a"), ("document", "a"), ("entity", "a"), ("meta", "a=b")]
    + [(name, "a") for name in ATTRIBUTES],
)
def test_each_filter_by_itself_filters(name: str, value: str) -> None:
    assert parsed(("q", "storm"), (name, value)).filters
    assert not parsed(("q", "storm"), ("k", "5")).filters


def test_a_query_is_parsed_once() -> None:
    search = parsed(("q", "storm -damage"))
    assert search.parsed is search.parsed
    assert replace(search, query="flood").parsed.text == "flood"
