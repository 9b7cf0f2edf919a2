"""The same histories without simulation, so that the model cannot lie: on a disk, and in Elasticsearch."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from contextlib import closing

import pytest

from esr.elastic import requests
from esr.elastic.write import bulk
from tests.simulation.gateway import Gateway
from tests.simulation.history import run_really
from tests.simulation.runner import desk
from tests.simulation.steps import ON_SERVERS, History, describe, draw_history, draw_server_history
from tests.support.elasticsearch import fresh
from tests.support.runs import rounds

pytestmark = pytest.mark.slow


def _run(history: History, where: str, gateway: Gateway | None = None) -> Counter[str]:
    with desk() as root:
        return run_really(history, where, root, gateway)


def test_histories_on_a_disk_are_as_the_model_says() -> None:
    counts = Counter[str]()
    for seed in range(rounds(400)):
        history = draw_history(seed, faults=False)
        with tempfile.TemporaryDirectory(dir=os.environ.get("ESR_TEST_DISK")) as folder:
            try:
                counts += _run(history, f"{folder}/index")
            except AssertionError as error:
                raise AssertionError("\n".join([f"seed {seed}: {error}", *describe(history)])) from error
    assert counts["steps"] and counts["searches"]


def test_histories_in_elasticsearch_are_as_the_model_says(elasticsearch_url: str) -> None:
    counts = Counter[str]()
    for seed in range(rounds(60)):
        history = draw_history(seed, faults=False, kinds=ON_SERVERS)
        with fresh(elasticsearch_url) as where:
            try:
                counts += _run(history, where)
            except AssertionError as error:
                raise AssertionError("\n".join([f"seed {seed}: {error}", *describe(history)])) from error
    assert counts["steps"] and counts["searches"]


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that are refused are sent again soon."""
    monkeypatch.setattr(bulk, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(bulk, "LONGEST_WAIT", 0.02)
    monkeypatch.setattr(requests, "PAUSES", (0.01, 0.01, 0.01))


@pytest.mark.endurance
@pytest.mark.usefixtures("short_waits")
def test_histories_with_disturbed_requests_are_as_the_model_says(elasticsearch_url: str) -> None:
    counts = Counter[str]()
    with closing(Gateway(elasticsearch_url)) as gateway:
        for seed in range(rounds(100)):
            history = draw_server_history(seed)
            with fresh(elasticsearch_url) as where:
                try:
                    counts += _run(history, where, gateway)
                except AssertionError as error:
                    raise AssertionError("\n".join([f"seed {seed}: {error}", *describe(history)])) from error
    assert counts["disturbed"] > counts["failed"], counts
