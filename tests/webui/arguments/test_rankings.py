from __future__ import annotations

from urllib.parse import urlencode

import pytest

from esr import models
from esr.models import priors
from esr.models.forms import FORMS
from esr.ranking.ranking import Ranking
from esr.text.document import VECTORS
from webui.arguments.rankings import PRESETS, FeatureRow, Preset, available_presets, ranking_controls
from webui.arguments.request import read_search
from webui.running.settings import Settings


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.label)
def test_a_preset_is_a_ranking_that_can_be_read(preset: Preset) -> None:
    read_search(urlencode({"q": "storm", **preset.arguments}).encode(), Settings())


def test_a_preset_is_offered_only_where_sentences_have_its_feature() -> None:
    plain, full = available_presets(["position"]), available_presets(["position", "subj"])
    assert {p.label for p in full} - {p.label for p in plain} == {"Reports first", "Opinions first"}


def test_words_and_meaning_is_offered_where_sentences_have_vectors() -> None:
    labels = [preset.label for preset in available_presets(["position", VECTORS])]
    assert "Words and meaning" in labels
    assert "Words and meaning" not in [preset.label for preset in available_presets(["position"])]
    (preset,) = (preset for preset in PRESETS if preset.label == "Words and meaning")
    query = urlencode({"q": "storm", **preset.arguments}).encode()
    assert read_search(query, Settings()).ranking.as_dict() == Ranking.from_file("hybrid").as_dict()


def test_every_model_parameter_prior_and_form_of_the_registries_has_a_control() -> None:
    controls = ranking_controls([], ["subj"])
    assert [choice.model.name for choice in controls.models] == list(models.MODELS)
    for choice in controls.models:
        assert [c.parameter for c in choice.parameters] == list(choice.model.parameters)
    assert [p.prior for p in controls.priors] == list(priors.PRIORS.values())
    assert [f.name for f in controls.forms] == [n for n, f in FORMS.items() if not f.is_trained]
    assert [c.value for c in controls.features] == ["len", "position", "subj"]


def test_the_controls_have_the_values_of_the_address() -> None:
    controls = ranking_controls([("model", "dir"), ("params.mu", "50"), ("prior.length", "2")], [])
    assert controls.model.model.name == "dir"
    assert [(c.name, c.value) for c in controls.model.parameters if c.value] == [("params.mu", "50")]
    assert controls.summary == ["ranked by dir", "mu 50", "prior length × 2"]


def test_the_controls_of_the_other_ranking_have_its_prefix() -> None:
    controls = ranking_controls([("model", "dir"), ("vs.model", "bm25"), ("vs.params.k1", "2")], [], "vs.")
    assert controls.model.model.name == "bm25"
    assert [c.name for c in controls.model.parameters if c.value] == ["vs.params.k1"]


def test_there_is_a_row_for_each_feature_and_an_empty_one() -> None:
    controls = ranking_controls([("feature", "position:satu:-0.5:k=2")], [])
    assert controls.feature_rows == [
        FeatureRow("position", "satu", "-0.5", "k=2"),
        FeatureRow("", "", "", ""),
    ]


def test_a_setting_without_a_control_becomes_a_checkbox() -> None:
    controls = ranking_controls([("params.nope", "1"), ("prior.nope", "2"), ("feature", "subj")], [])
    assert [(k.name, k.label) for k in controls.checkboxes] == [
        ("params.nope", "nope 1"),
        ("prior.nope", "prior nope × 2"),
        ("feature", "feature subj"),
    ]


def test_a_context_that_the_model_does_not_use_cannot_be_selected() -> None:
    assert not any(c.is_possible for c in ranking_controls([("model", "bm25")], []).contexts[1:])
    assert all(c.is_possible for c in ranking_controls([("model", "2si")], []).contexts)


def test_a_number_field_is_used_for_numbers_only() -> None:
    for value, is_number in (("50", True), ("", True), ("x", False), ("nan", False)):
        controls = ranking_controls([("model", "dir"), ("params.mu", value)], [])
        assert next(c for c in controls.model.parameters if c.parameter.name == "mu").is_number is is_number


def test_boosts_have_rows_and_unreadable_ones_checkboxes() -> None:
    controls = ranking_controls([("boost", "variants:0.3"), ("boost", "nonsense")], [])
    assert [tuple(row) for row in controls.boosts.rows] == [("variants", "0.3", ""), ("", "", "")]
    assert [(box.name, box.value) for box in controls.checkboxes] == [("boost", "nonsense")]
    assert "boost variants 0.3" in controls.summary


def test_signals_have_rows_and_unreadable_ones_checkboxes() -> None:
    controls = ranking_controls([("rerank", "sdm:2:alpha=0.3"), ("rerank", "nonsense"), ("depth", "50")], [])
    assert [tuple(row) for row in controls.signals.rows] == [("mrf_sdm", "2", "alpha=0.3"), ("", "", "")]
    assert [(box.name, box.value) for box in controls.checkboxes] == [("rerank", "nonsense")]
    assert "signal mrf_sdm 2" in controls.summary and "depth 50" in controls.summary


def test_what_needs_parses_or_vectors_is_offered_where_the_index_has_them() -> None:
    def offered(*stored: str, **arguments: str) -> tuple[set[str], set[str]]:
        controls = ranking_controls([*arguments.items()], [], stored=stored)
        models = {choice.model.name for choice in controls.models}
        return models & {"tdsr", "mrf_fidm", "mrf_sdm", "mrf_fdm"}, {
            s.name for s in controls.signals.available
        }

    everything = {"tdsr", "mrf_fidm", "mrf_sdm", "mrf_fdm"}, {"tdsr", "mrf_sdm", "mrf_fdm", "meaning"}
    assert offered("parse", "vectors") == everything
    assert offered("parse") == (everything[0], everything[1] - {"meaning"})
    assert offered("vectors") == ({"mrf_fidm"}, {"meaning"})
    assert offered() == ({"mrf_fidm"}, set())
    chosen = offered(model="tdsr", rerank="meaning:50")
    assert chosen == ({"mrf_fidm", "tdsr"}, {"meaning"}), "a form holds its address"
