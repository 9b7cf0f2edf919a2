from __future__ import annotations

from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st

from esr import models
from webui.arguments.form import Form, build_form, clean_arguments
from webui.running.settings import Settings

LIMITS = Settings()


def form_of(*arguments: tuple[str, str]) -> Form:
    return build_form(clean_arguments(urlencode(arguments).encode(), LIMITS), LIMITS)


def test_the_form_has_the_values_of_the_address() -> None:
    form = form_of(("q", "storm"), ("k", "7"), ("from", "2017"), ("sort", "date"), ("group", "document"))
    assert (form.query, form.date_from, form.is_grouped, form.is_folded) == ("storm", "2017", True, True)
    assert [c.value for c in (*form.counts, *form.sorts) if c.is_selected] == ["7", "date"]
    assert form.summary == ["Balanced", "newest first", "by document", "from 2017"]


def test_the_form_has_the_share_that_makes_a_repeat() -> None:
    form = form_of(("q", "storm"), ("novel", "yes"), ("overlap", "0.75"))
    assert form.is_novel and form.summary == ["Balanced", "only what is new"]
    assert [(o.value, o.label) for o in form.overlaps if o.is_selected] == [("0.75", "75%")]
    assert [o.value for o in form_of(("overlap", "much")).overlaps if o.is_selected] == ["0.8"]


def test_the_form_says_how_the_query_is_read() -> None:
    form = form_of(("q", "storm"), ("require", "all"), ("syntax", "none"))
    assert (form.requires_all, form.is_literal) == (True, True)
    assert form.summary == ["Balanced", "all words", "searched literally"]
    plain = form_of(("q", "storm"), ("require", "some"), ("syntax", "full"))
    assert (plain.requires_all, plain.is_literal) == (False, False)


def test_filters_are_ticked_boxes() -> None:
    form = form_of(("source", "a"), ("source", "b"), ("entity", "person:A B"), ("document", "d"))
    assert [(k.name, k.value) for k in form.filters] == [
        ("source", "a"),
        ("source", "b"),
        ("entity", "person:A B"),
        ("document", "d"),
    ]


def test_a_wrong_value_leaves_the_form_usable() -> None:
    form = form_of(("model", "nonsense"), ("sort", "nonsense"), ("k", "99999"), ("nonsense", "1"))
    assert [c.value for c in (*form.counts, *form.sorts) if c.is_selected] == ["10", ""]
    assert form.ranking.model.model is models.DEFAULT


def test_a_number_too_long_to_read_leaves_the_form_usable() -> None:
    limits = Settings(query_chars=5_000)
    form = build_form(clean_arguments(b"k=" + b"1" * 4_400, limits), limits)
    assert [c.value for c in form.counts if c.is_selected] == ["10"]


@given(st.binary(max_size=80))
def test_any_address_makes_a_form(raw: bytes) -> None:
    form = build_form(clean_arguments(b"q=" + raw, LIMITS), LIMITS)
    assert len(form.summary) >= 1
    assert not any(ord(character) < 32 for character in form.query)
