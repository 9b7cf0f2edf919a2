from __future__ import annotations

from esr import adjustments, models, priors
from webui.arguments.ranking_controls import Row, controls


def test_every_model_parameter_prior_and_form_of_the_registries_has_a_control() -> None:
    held = controls([], ["subj"])
    assert [choice.model.name for choice in held.models] == list(models.MODELS)
    for choice in held.models:
        assert [c.parameter for c in choice.parameters] == list(choice.model.parameters)
    assert [p.prior for p in held.priors] == list(priors.PRIORS.values())
    assert [f.name for f in held.forms] == [n for n, f in adjustments.FORMS.items() if not f.trained]
    assert [c.value for c in held.features] == ["len", "position", "subj"]


def test_the_controls_hold_what_the_address_says() -> None:
    held = controls([("model", "dir"), ("params.mu", "50"), ("prior.length", "2")], [])
    assert held.model.model.name == "dir"
    assert [(c.name, c.value) for c in held.model.parameters if c.value] == [("params.mu", "50")]
    assert held.summary == ["ranked by dir", "mu 50", "prior length × 2"]


def test_the_controls_of_the_other_ranking_have_its_prefix() -> None:
    held = controls([("model", "dir"), ("vs.model", "bm25"), ("vs.params.k1", "2")], [], "vs.")
    assert held.model.model.name == "bm25"
    assert [c.name for c in held.model.parameters if c.value] == ["vs.params.k1"]


def test_a_feature_is_a_row_and_one_more_is_empty() -> None:
    held = controls([("feature", "position:satu:-0.5:k=2")], [])
    assert held.rows == [Row("position", "satu", "-0.5", "k=2"), Row("", "", "", "")]


def test_what_fits_no_control_is_kept_to_be_unticked() -> None:
    held = controls([("params.nope", "1"), ("prior.nope", "2"), ("feature", "subj")], [])
    assert [(k.name, k.label) for k in held.kept] == [
        ("params.nope", "nope 1"),
        ("prior.nope", "prior nope × 2"),
        ("feature", "feature subj"),
    ]


def test_a_context_that_the_model_has_no_use_for_cannot_be_chosen() -> None:
    assert not any(c.possible for c in controls([("model", "bm25")], []).contexts[1:])
    assert all(c.possible for c in controls([("model", "2si")], []).contexts)


def test_a_field_for_numbers_is_used_for_numbers_only() -> None:
    for value, number in (("50", True), ("", True), ("x", False), ("nan", False)):
        held = controls([("model", "dir"), ("params.mu", value)], [])
        assert next(c for c in held.model.parameters if c.parameter.name == "mu").number is number


def test_boosts_are_held_and_what_is_none_is_kept_to_be_unticked() -> None:
    held = controls([("boost", "variants:0.3"), ("boost", "nonsense")], [])
    assert [tuple(row) for row in held.boosts.rows] == [("variants", "0.3", ""), ("", "", "")]
    assert [(each.name, each.value) for each in held.kept] == [("boost", "nonsense")]
    assert "boost variants 0.3" in held.summary


def test_signals_are_held_and_what_is_none_is_kept_to_be_unticked() -> None:
    held = controls([("rerank", "sdm:2:alpha=0.3"), ("rerank", "nonsense"), ("depth", "50")], [])
    assert [tuple(row) for row in held.signals.rows] == [("mrf_sdm", "2", "alpha=0.3"), ("", "", "")]
    assert [(each.name, each.value) for each in held.kept] == [("rerank", "nonsense")]
    assert "signal mrf_sdm 2" in held.summary and "depth 50" in held.summary
