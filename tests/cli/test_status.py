"""`esr status` and `esr refresh-priors`: what is message of priors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from esr.cli import status
from esr.engines.embedded.maintenance.priors import EmbeddedPriors
from esr.engines.priors import Drift, RefreshReport
from tests.cli.conftest import Esr

DRIFTS = [
    Drift("old", 78_000, 200, 0.01234, 0.251, 1.5, 8.0),
    Drift("new", 10, 10, 0.0, 0.0, 0.0, 7.0),
]


def test_a_folder_has_no_drift_and_nothing_to_refresh(esr: Esr, index: Path) -> None:
    assert "drift" not in esr("status", "--index", index, "--drift").stdout
    assert json.loads(esr("status", "--index", index, "--drift", "--json").stdout)["drift"] == []
    message = esr("refresh-priors", index).stdout
    assert message == "an index folder always computes its priors exactly: there is nothing to do\n"


def test_drift_is_reported_for_each_load_with_advice(
    esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EmbeddedPriors, "drift", lambda self: DRIFTS)
    old, new, advice = esr("status", "--index", index, "--drift").stdout.splitlines()[-3:]
    assert old == (
        "drift        old: log p(t|C) by 0.0123 per occurrence; priors are off by 0.251, at most 1.500, "
        "and spread by 8.000 (200 of 78,000 sentences sampled)"
    )
    assert new == "drift        new: none, stored priors are exact (10 of 10 sentences sampled)"
    assert "esr refresh-priors makes them exact" in advice
    assert (
        json.loads(esr("status", "--index", index, "--drift", "--json").stdout)["drift"][0]["largest"] == 1.5
    )
    assert list(status._format_drifts(DRIFTS[1:])) == [new]


def test_drift_is_not_sampled_unasked(esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes thousands of searches."""
    monkeypatch.delattr(EmbeddedPriors, "drift")
    assert "drift" not in esr("status", "--index", index).stdout
    assert "drift" not in json.loads(esr("status", "--index", index, "--json").stdout)


def test_a_refresh_reports_its_counts(esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbeddedPriors, "refresh", lambda self, step: RefreshReport(1000, 20, 1.5))
    message = esr("refresh-priors", index).stdout
    assert message == f"{index}: 20 of 1,000 sentences got another prior, in 1.5 s\n"
    assert json.loads(esr("refresh-priors", index, "--json").stdout)["changed"] == 20


def test_a_refresh_does_not_print_a_password(esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbeddedPriors, "refresh", lambda self, step: RefreshReport(1000, 20, 1.5))
    monkeypatch.setattr("esr.cli.refresh_priors.open_priors", lambda where: EmbeddedPriors(str(index)))
    message = esr("refresh-priors", "http://me:secret@h:9200/news").stdout
    assert message.startswith("http://…@h:9200/news: 20 of")


def test_refreshing_needs_an_index(esr_error: Esr, tmp_path: Path) -> None:
    assert "there is no index" in str(esr_error("refresh-priors", tmp_path / "none"))
