from __future__ import annotations

from urllib.parse import urlencode

import pytest

from webui.arguments.presets import PRESETS, Preset, available_presets
from webui.arguments.search_request import read_search
from webui.running.settings import Settings


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.label)
def test_a_preset_is_a_ranking_that_can_be_read(preset: Preset) -> None:
    read_search(urlencode({"q": "storm", **preset.arguments}).encode(), Settings())


def test_a_preset_is_offered_only_where_sentences_have_its_feature() -> None:
    plain, full = available_presets(["position"]), available_presets(["position", "subj"])
    assert {p.label for p in full} - {p.label for p in plain} == {"Reports first", "Opinions first"}
