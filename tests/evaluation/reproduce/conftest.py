"""The miniature on disk, and what the whole experiment finds on it with few settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.evaluation.reproduce import experiment, indexes, raw
from esr.evaluation.reproduce.found import Found
from esr.evaluation.reproduce.laboratory import Laboratory
from esr.evaluation.reproduce.protocol import Protocol
from esr.evaluation.reproduce.year import Year, load
from tests.evaluation.reproduce import miniature

GRID = {
    "mu": [10.0, 100.0],
    "lambda": [0.3, 0.6],
    "gamma": [0.2],
    "k1": [1.0, 1.5],
    "b": [0.0, 0.5],
    "b_sent": [0.0, 0.5],
    "alpha": [0.6, 1.0],
}


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return miniature.write(tmp_path_factory.mktemp("novelty"))


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="session")
def years(data: Path, work: Path) -> dict[str, Year]:
    return {each.year: load(each, work) for each in raw.find(data).years}


@pytest.fixture
def laboratory(years: dict[str, Year], work: Path) -> Iterator[Laboratory]:
    """2003, with rankings that end early, so that their ends differ."""
    with indexes.opened(years["2003"], work, "year") as parts:
        yield Laboratory(years["2003"], parts, Protocol(depth=20, grid=GRID))


@pytest.fixture(scope="session")
def found(data: Path, work: Path) -> Found:
    return experiment.run(data, work, "all", Protocol(depth=20, grid=GRID))
