"""The complete experiment: from a folder of raw files to all results and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from esr.errors import UsageError, unknown
from esr.lab import measures
from esr.lab.grid import build_default_grid
from esr.lab.reproduce.claims import TARGETS as TARGETS_2012
from esr.lab.reproduce.claims import TARGETS_2011, ExperimentResults, Verdict, judge
from esr.lab.reproduce.data import Year, find_raw_files, load
from esr.lab.reproduce.second_task import measure_second_task, measure_year
from esr.lab.reproduce.systems import (
    STATISTICS,
    SYSTEMS,
    Protocol,
    SystemFigures,
    TrainedSystem,
    YearExperiment,
    open_indexes,
)
from esr.ranking.ranking import Ranking

POOLED = "matching, all topics' sentences together, year"


def measure_interpretations(year: Year, work: Path, depth: int) -> dict[str, float]:
    """AP of plain tfisf under each interpretation of the protocol.

    Interpretations differ in which sentences are ranked and in the scope of statistics. They show which one
    gives the published 0.308 and 0.215.
    """
    figures = {}
    for statistics in STATISTICS:
        with open_indexes(year, work, statistics) as topic_indexes:
            experiment = YearExperiment(year, topic_indexes, Protocol(statistics=statistics, depth=depth))
            for rule in ("matching", "all"):
                tested = experiment.test(Ranking("tfisf", candidates=rule))
                figures[f"{rule}, {statistics}"] = tested.means["AP"]
            if statistics == "year":
                run = experiment.run(Ranking("tfisf", candidates="matching"), restricted=False)
                values = measures.evaluate(["AP"], year.qrels, run)["AP"]
                figures[POOLED] = measures.mean("AP", values.values())
    return figures


ALL = "all"
TARGETS = (*TARGETS_2011, *TARGETS_2012)
Tick = Callable[[str], None]
Trained = dict[str, dict[str, TrainedSystem]]
Tested = dict[tuple[str, str], dict[str, SystemFigures]]


def run(
    data: Path, work: Path, train: str, protocol: Protocol, tick: Tick = lambda step: None
) -> ExperimentResults:
    """Unpack and load the data, train on one year or on each, and test on the others.

    Raises InputError for broken data, and UsageError for a training year without data.
    """
    _check_grid(protocol)
    available = find_raw_files(data)
    names = [files.year for files in available.years]
    training_years = names if train == ALL else [train]
    if not set(training_years) <= set(names):
        raise UsageError(f"cannot train on {train}: {data} has no file of it, only of {', '.join(names)}")
    years = {}
    for files in available.years:
        tick(f"reading {files.year}")
        years[files.year] = load(files, work)
    trained, tested = _train_and_test(years, training_years, work, protocol, tick)
    by_interpretation = {}
    for name, year in years.items():
        tick(f"interpretations of {name}")
        by_interpretation[name] = measure_interpretations(year, work, protocol.depth)
    second_task = {}
    for name, year in years.items():
        tick(f"what is new in {name}")
        if (figures := measure_second_task(year)) is not None:
            second_task[name] = figures
    return ExperimentResults(
        protocol,
        available.absent,
        {name: measure_year(year) for name, year in years.items()},
        {name: year.findings for name, year in years.items()},
        trained,
        tested,
        by_interpretation,
        second_task,
    )


def _train_and_test(
    years: Mapping[str, Year], training_years: Sequence[str], work: Path, protocol: Protocol, tick: Tick
) -> tuple[Trained, Tested]:
    with ExitStack() as stack:
        experiments = {}
        for name, year in years.items():
            tick(f"indexing {name}")
            topic_indexes = stack.enter_context(open_indexes(year, work, protocol.statistics))
            experiments[name] = YearExperiment(year, topic_indexes, protocol)
        trained = {
            name: experiments[name].train(lambda system, year=name: tick(f"{year} {system}"))  # type: ignore[misc]
            for name in training_years
        }
        tested = {}
        for source in training_years:
            for target in (name for name in years if name != source):
                tick(f"testing {source} to {target}")
                tested[source, target] = {
                    system: experiments[target].test(trained[source][system].ranking) for system in SYSTEMS
                }
    return trained, tested


def _check_grid(protocol: Protocol) -> None:
    """Raise UsageError for a parameter that no system tunes."""
    tuned = {
        name
        for system in SYSTEMS.values()
        if not system.is_fixed
        for name in build_default_grid(system.ranking)
    }
    for name in protocol.grid:
        if name not in tuned:
            raise unknown("parameter to tune", name, tuned)


def verdicts(results: ExperimentResults) -> Sequence[Verdict]:
    """The verdicts on all targets, in the order of the papers."""
    return [judge(target, results) for target in TARGETS]
