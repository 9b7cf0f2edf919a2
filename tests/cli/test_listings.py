from __future__ import annotations

import json

import pytest

from esr import analysis, boosts, encoders, features, loaders, models, priors
from tests.cli.conftest import Esr

KNOWN = {
    "models": models.MODELS,
    "priors": priors.PRIORS,
    "features": features.FEATURES,
    "boosts": boosts.BOOSTS,
    "encoders": encoders.KNOWN,
    "analyzers": analysis.all_definitions(),
    "formats": loaders.FORMATS,
}


@pytest.mark.parametrize("command", KNOWN)
def test_a_list_names_everything_that_is_registered(esr: Esr, command: str) -> None:
    lines = esr(command).output.splitlines()
    names = [line.split(" ")[0] for line in lines if line and not line.startswith(" ")]
    assert names == list(KNOWN[command])
    data = json.loads(esr(command, "--json").stdout)
    assert [entry["name"] for entry in data] == list(KNOWN[command])
    assert all(entry["description"] for entry in data)


def test_models_are_listed_with_their_parameters_and_the_default_is_marked(esr: Esr) -> None:
    output = esr("models").output
    assert "2si (default model)" in output
    for model in models.MODELS.values():
        for parameter in model.parameters:
            assert f"{parameter.name}=" in output and parameter.range in output
    (entry,) = (e for e in json.loads(esr("models", "--json").stdout) if e["name"] == "2si")
    assert {p["name"]: p["default"] for p in entry["parameters"]}["mu"] == 30.0
    assert entry["contexts"][0] == "both"
