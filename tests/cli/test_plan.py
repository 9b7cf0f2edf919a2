"""`esr plan`."""

from __future__ import annotations

import json

from tests.cli.conftest import Esr


def test_a_plan_names_what_both_engines_need(esr: Esr) -> None:
    result = esr("plan", "--sentences", "1e8", "--queries-per-second", "50")
    assert result.exit_code == 0
    folder, elasticsearch = result.stdout.strip().split("\n\n")
    assert folder.startswith("folder\n")
    assert "ESR_WORKERS=" in folder
    assert "shards" in elasticsearch
    assert "~" in folder


def test_a_plan_for_programs_has_numbers(esr: Esr) -> None:
    engines = json.loads(esr("plan", "--sentences", "2000000", "--json").stdout)
    assert [engine["engine"] for engine in engines] == ["folder", "Elasticsearch"]
    disk = next(need for need in engines[0]["needs"] if need["name"] == "disk")
    assert disk["unit"] == "B"
    assert disk["is_measured"] is True


def test_a_plan_needs_a_number_of_sentences(esr: Esr) -> None:
    result = esr("plan", "--sentences", "many")
    assert result.exit_code == 2
    assert "'many' is not a valid float range" in result.stderr
