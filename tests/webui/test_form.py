from __future__ import annotations

from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st

from esr import models
from webui.form import Form, address, form, pairs
from webui.settings import Settings

LIMITS = Settings()


def made(*given: tuple[str, str]) -> Form:
    return form(pairs(urlencode(given).encode(), LIMITS), LIMITS)


def test_the_form_offers_every_model_and_context_of_the_registry() -> None:
    empty = made()
    assert [choice.value for choice in empty.models] == list(models.MODELS)
    assert [choice.value for choice in empty.contexts] == ["", *models.CONTEXTS]
    assert [choice.value for choice in empty.models if choice.chosen] == [models.DEFAULT.name]


def test_the_form_holds_what_the_address_says() -> None:
    held = made(("q", "storm"), ("model", "dir"), ("k", "7"), ("from", "2017"), ("source", "bbc"))
    assert (held.query, held.date_from, held.source) == ("storm", "2017", "bbc")
    assert [c.value for c in (*held.models, *held.counts) if c.chosen] == ["dir", "7"]
    assert held.summary == ["ranked by dir", "7 sentences", "from 2017", "in bbc"]


def test_settings_without_a_control_are_kept_and_named() -> None:
    held = made(("params.mu", "50"), ("prior.length", "1"), ("source", "a"), ("source", "b"))
    assert [(k.name, k.value, k.label) for k in held.kept] == [
        ("source", "b", "source b"),
        ("params.mu", "50", "mu 50"),
        ("prior.length", "1", "prior length × 1"),
    ]


def test_a_wrong_value_leaves_the_form_usable() -> None:
    held = made(("model", "nonsense"), ("context", "nonsense"), ("k", "99999"), ("nonsense", "1"))
    chosen = [c.value for c in (*held.models, *held.contexts, *held.counts) if c.chosen]
    assert chosen == [models.DEFAULT.name, "", "10"]
    assert not held.kept


def test_an_address_can_be_changed_in_parts() -> None:
    given = [("q", "storm"), ("source", "a"), ("source", "b"), ("k", "10")]
    assert list(address(given, k="20")) == [("q", "storm"), ("source", "a"), ("source", "b"), ("k", "20")]
    assert list(address(given, source=None)) == [("q", "storm"), ("k", "10")]


@given(st.binary(max_size=80))
def test_any_address_makes_a_form(raw: bytes) -> None:
    held = form(pairs(b"q=" + raw, LIMITS), LIMITS)
    assert len(held.summary) >= 2
    assert not any(ord(character) < 32 for character in held.query)
