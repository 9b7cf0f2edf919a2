"""The same histories without simulation, so that the model cannot lie: on a disk, and in Elasticsearch."""

from __future__ import annotations

import os
import tempfile
from collections import Counter

import pytest

from tests.simulation.history import run_really
from tests.simulation.runner import desk
from tests.simulation.steps import KINDS, NEED_FOLDERS, History, describe, draw_history
from tests.support.elasticsearch import fresh
from tests.support.runs import rounds

pytestmark = pytest.mark.slow

IN_ELASTICSEARCH = {kind: weight for kind, weight in KINDS.items() if kind not in NEED_FOLDERS}


def _run(history: History, where: str) -> Counter[str]:
    with desk() as root:
        return run_really(history, where, root)


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
        history = draw_history(seed, faults=False, kinds=IN_ELASTICSEARCH)
        with fresh(elasticsearch_url) as where:
            try:
                counts += _run(history, where)
            except AssertionError as error:
                raise AssertionError("\n".join([f"seed {seed}: {error}", *describe(history)])) from error
    assert counts["steps"] and counts["searches"]
