from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webui.arguments.form_submission import shorten
from webui.running.settings import Settings

Pair = tuple[str, str]
FORM = [("q", "storm"), ("form", "2si"), ("fold", "yes")]


def short(*fields: Pair) -> list[Pair] | None:
    return shorten([*FORM, *fields], Settings())


def test_an_address_that_is_no_form_stays_unchanged() -> None:
    assert shorten([("q", "storm"), ("k", "10"), ("source", "")], Settings()) is None


@pytest.mark.parametrize(
    "default",
    [
        ("model", "2si"),
        ("context", ""),
        ("context", "both"),
        ("params.mu", ""),
        ("params.mu", "30"),
        ("prior.length", "0"),
        ("k", "10"),
        ("sort", ""),
        ("source", " "),
        ("feature.0.name", ""),
        ("feature.0.form", "log"),
    ],
)
def test_defaults_are_left_out(default: Pair) -> None:
    assert short(default) == [("q", "storm")]


@pytest.mark.parametrize(
    "setting",
    [
        ("context", "document"),
        ("params.mu", "50"),
        ("params.mu", "wrong"),
        ("prior.length", "1"),
        ("k", "20"),
        ("sort", "date"),
        ("require", "all"),
        ("syntax", "none"),
        ("source", "bbc"),
        ("entity", "person:A"),
        ("feature", "len:log:0.1"),
    ],
)
def test_other_settings_stay(setting: Pair) -> None:
    assert sorted(short(setting) or []) == sorted([("q", "storm"), setting])


def test_parameters_and_context_of_the_previous_model_are_dropped() -> None:
    given = [("model", "bm25"), ("params.mu", "50"), ("context", "document")]
    assert short(*given) == [("q", "storm"), ("model", "bm25")]


def test_a_parameter_of_another_context_is_dropped() -> None:
    assert short(("context", "document"), ("params.nu", ".3")) == [("q", "storm"), ("context", "document")]
    assert short(("params.nu", ".3")) == [("q", "storm"), ("params.nu", ".3")]


def test_rows_keep_the_order_of_their_numbers() -> None:
    rows = [(f"feature.{n}.name", f"f{n}") for n in (10, 2, 1)]
    assert [value for name, value in short(*rows) if name == "feature"] == [
        "f1:linear",
        "f2:linear",
        "f10:linear",
    ]


def test_the_fields_of_a_feature_become_its_text() -> None:
    row = [("feature.1.name", "position"), ("feature.1.form", "satu"), ("feature.1.weight", "-2")]
    assert short(*row, ("feature.1.rest", "k=2")) == [("q", "storm"), ("feature", "position:satu:-2:k=2")]
    assert short(("feature.0.name", "len"), ("feature.0.form", "log")) == [
        ("q", "storm"),
        ("feature", "len:log"),
    ]


def test_an_unticked_box_for_folding_is_an_argument() -> None:
    assert shorten([("q", "storm"), ("form", "2si")], Settings()) == [("q", "storm"), ("fold", "no")]


def test_the_other_ranking_always_names_its_model() -> None:
    assert short(("vs.form", "2si"), ("vs.model", "2si"), ("vs.params.mu", "9")) == [
        ("q", "storm"),
        ("vs.model", "2si"),
        ("vs.params.mu", "9"),
    ]


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=8))
def test_the_short_address_of_any_form_is_no_form(given: list[Pair]) -> None:
    found = shorten([*FORM, *given], Settings())
    assert found is not None and shorten(found, Settings()) is None


def test_the_fields_of_a_signal_become_its_text() -> None:
    row = [("rerank.0.name", "mrf_sdm"), ("rerank.0.weight", "2"), ("rerank.0.rest", "alpha=0.3")]
    assert short(*row) == [("q", "storm"), ("rerank", "mrf_sdm:2:alpha=0.3")]
    assert short(("rerank.0.name", ""), ("rerank.0.weight", "2")) == [("q", "storm")]


def test_the_default_depth_and_index_are_left_out() -> None:
    assert short(("depth", "1000")) == [("q", "storm")]
    assert short(("depth", "50")) == [("q", "storm"), ("depth", "50")]
    given = [*FORM, ("index", "news")]
    assert shorten(given, Settings(), "news") == [("q", "storm")]
    assert shorten(given, Settings(), "other") == [("q", "storm"), ("index", "news")]
