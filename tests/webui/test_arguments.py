from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr import models, priors
from esr.documents import dates
from esr.engines.index import Filters
from esr.ranking.ranking import Ranking
from webui.arguments import KNOWN, BadArgument, Search, decode, read
from webui.settings import Settings

LIMITS = Settings()


def search(*pairs: tuple[str, str]) -> Search:
    return read(urlencode(pairs).encode(), LIMITS)


def error(*pairs: tuple[str, str]) -> BadArgument:
    with pytest.raises(BadArgument) as caught:
        search(*pairs)
    return caught.value


def test_a_query_alone_takes_all_defaults() -> None:
    assert search(("q", " storm damage ")) == Search("storm damage", Ranking(), Filters(), LIMITS.default_k)


def test_every_argument_has_its_place() -> None:
    found = search(
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
    assert found.ranking.as_dict()["params"]["mu"] == 50.0
    assert found.ranking.model == "dir"
    assert found.ranking.priors == {"length": 0.5}
    assert found.ranking.candidates == "all"
    assert found.k == 7
    first, last = dates.parse_date_start("2017-03"), dates.parse_date_end("2017-03")
    assert found.filters == Filters(first, last, ("bbc", "npr"), ("a",))


def test_empty_arguments_count_as_not_given() -> None:
    empty = [(name, "  ") for name in KNOWN if "." not in name]
    assert search(*empty) == Search("", k=LIMITS.default_k)


@pytest.mark.parametrize("model", models.MODELS)
def test_every_model_and_its_contexts_can_be_asked_for(model: str) -> None:
    for context in ("", *models.get(model).contexts):
        found = search(("q", "x"), ("model", model), ("context", context)).ranking
        assert (found.model, found.context) == (model, context or None)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("modle", "2si", "did you mean 'model'"),
        ("model", "bm52", "did you mean 'bm25'"),
        ("context", "documents", "did you mean 'document'"),
        ("candidates", "matchin", "did you mean 'matching'"),
        ("params.muu", "3", "did you mean 'mu'"),
        ("params.mu", "-1", "(0, inf)"),
        ("params.mu", "fifty", "'fifty'"),
        ("params.", "1", "unknown parameter"),
        ("prior.lenght", "1", "did you mean 'length'"),
        ("prior.length", "nan", "is a number"),
        ("k", "0", "from 1 to 100"),
        ("k", "101", "from 1 to 100"),
        ("k", "1_0", "whole number"),
        ("k", "١", "whole number"),
        ("k", "9" * 200, "whole number"),
        ("from", "yesterday", "2017-03-01"),
        ("to", "2017-02-30", "2017-03-01"),
        ("q", "a\x00b", "U+0000"),
        ("source", "a\x1bb", "U+001B"),
        ("q", "a\x85b", "U+0085"),
        ("q", "abc\u202edef", "text direction"),
        ("q", "x" * 2001, "at most 2,000"),
        ("source", "x" * 301, "at most 300"),
    ],
)
def test_a_bad_value_is_named_with_what_would_be_right(name: str, value: str, said: str) -> None:
    caught = error((name, value))
    assert said in str(caught)
    assert caught.field == name
    assert "\n" not in str(caught)


def test_a_context_that_the_model_does_not_take_is_told_without_words_of_the_command_line() -> None:
    caught = error(("model", "bm25"), ("context", "both"))
    assert (caught.field, str(caught)) == (
        "context",
        "model 'bm25' looks at the sentence alone: leave out context",
    )
    assert "--" not in str(error(("context", "document"), ("params.nu", "0.1")))


def test_what_may_be_given_once_may_not_be_given_twice() -> None:
    assert "2 times" in str(error(("q", "a"), ("q", "b")))
    assert error(("params.mu", "1"), ("params.mu", "2")).field == "params.mu"


def test_dates_in_the_wrong_order_are_an_error() -> None:
    assert "exchange" in str(error(("from", "2017-03-02"), ("to", "2017-03-01")))
    assert search(("from", "2017-03-01"), ("to", "2017-03-01")).filters.date_from is not None


def test_an_address_has_limits() -> None:
    assert len(str(error(("x" * 5_000, "1")))) < 300
    assert "at most 120" in str(error(*[("source", str(n)) for n in range(121)]))
    assert "at most 8,000" in str(error(*[("source", "x" * 300)] * 30))


@pytest.mark.parametrize("raw", [b"q=%ff", b"q=\xff", b"q=%ed%a0%80", b"%ff=1"])
def test_bytes_that_are_not_utf8_are_an_error(raw: bytes) -> None:
    with pytest.raises(BadArgument, match="UTF-8"):
        read(raw, LIMITS)


def test_letters_of_any_script_and_joiners_are_taken() -> None:
    for query in ("погода", "می‌خواهم", "天气", "‏שלום", "हिन्दी", "tab\there"):
        assert search(("q", query)).query == query


def test_known_arguments_name_every_prior_and_parameter_prefix() -> None:
    for prior in priors.PRIORS:
        assert search(("prior." + prior, "1")).ranking.priors == {prior: 1.0}


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    query = raw.decode("latin-1").encode()
    for candidate in (raw, b"q=" + raw, query, quote(raw).encode()):
        try:
            assert isinstance(decode(candidate, LIMITS), dict)
        except BadArgument as caught:
            assert str(caught)
