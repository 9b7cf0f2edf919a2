from __future__ import annotations

from urllib.parse import urlencode

import pytest

from esr.documents.enrichment import VECTORS
from esr.ranking.ranking import Ranking
from webui.arguments.presets import PRESETS, Preset, available_presets
from webui.arguments.search_request import read_search
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
