from __future__ import annotations

import json
from pathlib import Path

import pytest

from esr import encoders, features, loaders, models
from esr.models import priors
from esr.ranking import boosts
from esr.text.analyzer import all_definitions, get_analyzer
from tests.cli.conftest import Esr

KNOWN = {
    "models": models.MODELS,
    "priors": priors.PRIORS,
    "features": features.FEATURES,
    "boosts": boosts.BOOSTS,
    "encoders": encoders.KNOWN,
    "analyzers": all_definitions(),
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


TEXT = "The U.S. troops won't leave Beyoncé's café"


def test_a_text_becomes_the_terms_of_the_default_analyzer(esr: Esr) -> None:
    assert esr("analyze", TEXT).stdout == "us troop leav beyonc cafe\n"


@pytest.mark.parametrize(
    ("name", "text", "terms"),
    [
        ("plain", TEXT, "the u s troops won t leave beyoncé s café"),
        ("multilingual", "中国经济", "中国 国经 经济"),
        ("german", "Tuerkei und Türkei", "turkei turkei"),
    ],
)
def test_a_text_becomes_the_terms_of_the_analyzer_that_is_named(
    esr: Esr, name: str, text: str, terms: str
) -> None:
    assert esr("analyze", text, "--analyzer", name).stdout == f"{terms}\n"


def test_an_index_has_its_own_analyzer(esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert esr("analyze", "The storms", "--index", index).stdout == "the storms\n"
    monkeypatch.setenv("ESR_INDEX", str(index))
    assert esr("analyze", "The storms").stdout == "the storms\n"
    assert esr("analyze", "The storms", "--analyzer", "english-stem").stdout == "storm\n"


def test_json_has_the_places_of_words(esr: Esr) -> None:
    data = json.loads(esr("analyze", TEXT, "--json").stdout)
    tokens = data.pop("tokens")
    version = get_analyzer("english-stem").version
    assert data == {"analyzer": "english-stem", "version": version, "text": TEXT}
    assert tokens[0] == {"start": 4, "end": 7, "term": "us"}
    assert [TEXT[token["start"] : token["end"]] for token in tokens[3:]] == ["Beyoncé's", "café"]


def test_a_text_without_terms_is_said_to_have_none(esr: Esr) -> None:
    result = esr("analyze", "of the")
    assert (result.stdout, result.exit_code) == ("", 0)
    assert result.stderr == "The analyzer english-stem makes no term of this text.\n"


def test_an_analyzer_and_an_index_cannot_both_be_given(esr_error: Esr, index: Path) -> None:
    message = esr_error("analyze", "storm", "--index", index, "--analyzer", "plain")
    assert message == "give --analyzer or --index, not both"
    assert "did you mean 'plain'" in str(esr_error("analyze", "storm", "--analyzer", "plian"))
