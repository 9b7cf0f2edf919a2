from __future__ import annotations

from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st

from esr import models
from webui.arguments.form import Form, form, pairs
from webui.running.settings import Settings

LIMITS = Settings()


def made(*given: tuple[str, str]) -> Form:
    return form(pairs(urlencode(given).encode(), LIMITS), LIMITS)


def test_the_form_holds_what_the_address_says() -> None:
    held = made(("q", "storm"), ("k", "7"), ("from", "2017"), ("sort", "date"), ("group", "document"))
    assert (held.query, held.date_from, held.grouped, held.folded) == ("storm", "2017", True, True)
    assert [c.value for c in (*held.counts, *held.sorts) if c.chosen] == ["7", "date"]
    assert held.summary == ["ranked by 2si", "newest first", "by document", "from 2017"]


def test_filters_are_boxes_to_untick() -> None:
    held = made(("source", "a"), ("source", "b"), ("entity", "person:A B"), ("document", "d"))
    assert [(k.name, k.value) for k in held.ticked] == [
        ("source", "a"),
        ("source", "b"),
        ("entity", "person:A B"),
        ("document", "d"),
    ]


def test_a_wrong_value_leaves_the_form_usable() -> None:
    held = made(("model", "nonsense"), ("sort", "nonsense"), ("k", "99999"), ("nonsense", "1"))
    assert [c.value for c in (*held.counts, *held.sorts) if c.chosen] == ["10", ""]
    assert held.ranking.model.model is models.DEFAULT


@given(st.binary(max_size=80))
def test_any_address_makes_a_form(raw: bytes) -> None:
    held = form(pairs(b"q=" + raw, LIMITS), LIMITS)
    assert len(held.summary) >= 1
    assert not any(ord(character) < 32 for character in held.query)
