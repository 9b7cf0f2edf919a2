"""The miniature on disk, and the results of the whole experiment on it with a small grid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.lab.reproduce import experiment
from esr.lab.reproduce.experiment_results import ExperimentResults
from esr.lab.reproduce.protocol import Protocol
from esr.lab.reproduce.raw_files import find_raw_files
from esr.lab.reproduce.year import Year, load
from esr.lab.reproduce.year_experiment import YearExperiment, open_indexes
from tests.lab.reproduce import miniature

GRID = {
    "mu": [10.0, 100.0],
    "lambda": [0.3, 0.6],
    "gamma": [0.2],
    "k1": [1.0, 1.5],
    "b": [0.0, 0.5],
    "b_sent": [0.0, 0.5],
    "alpha": [0.6, 1.0],
    "beta": [0.5],
    "lambda_SR": [0.2],
    "lambda_PR": [0.0, 0.2],
    "w": [0.1, 0.5],
}


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return miniature.write(tmp_path_factory.mktemp("novelty"))


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="session")
def years(data: Path, work: Path) -> dict[str, Year]:
    available = find_raw_files(data)
    return {files.year: load(files, work, available.annotations) for files in available.years}


@pytest.fixture
def year_experiment(years: dict[str, Year], work: Path) -> Iterator[YearExperiment]:
    """2003, with so small a depth that the rankings end at different places."""
    with open_indexes(years["2003"], work, Protocol()) as topic_indexes:
        yield YearExperiment(years["2003"], topic_indexes, Protocol(depth=20, grid=GRID))


@pytest.fixture(scope="session")
def results(data: Path, work: Path) -> ExperimentResults:
    return experiment.run(data, work, "all", Protocol(depth=20, grid=GRID))
