"""The complete experiment: from a folder of raw files to all results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from esr.errors import UsageError, unknown
from esr.evaluation.reproduce import indexes, interpretations, raw, year_statistics
from esr.evaluation.reproduce import second_task as second_tasks
from esr.evaluation.reproduce.claims_2011 import TARGETS as TARGETS_2011
from esr.evaluation.reproduce.claims_2012 import TARGETS as TARGETS_2012
from esr.evaluation.reproduce.experiment_results import ExperimentResults
from esr.evaluation.reproduce.protocol import Protocol
from esr.evaluation.reproduce.systems import SYSTEMS
from esr.evaluation.reproduce.target import Verdict, judge
from esr.evaluation.reproduce.year import Year, load
from esr.evaluation.reproduce.year_experiment import SystemFigures, TrainedSystem, YearExperiment
from esr.evaluation.tuning import grid as grids

ALL = "all"
TARGETS = (*TARGETS_2011, *TARGETS_2012)
Tick = Callable[[str], None]
Trained = dict[str, dict[str, TrainedSystem]]
Tested = dict[tuple[str, str], dict[str, SystemFigures]]


def run(
    data: Path, work: Path, train: str, protocol: Protocol, tick: Tick = lambda step: None
) -> ExperimentResults:
    """Unpack, load, train on one year or each, test on the others. Raises InputError for broken data."""
    _check_grid(protocol)
    available = raw.find(data)
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
        by_interpretation[name] = interpretations.measure(year, work, protocol.depth)
    second_task = {}
    for name, year in years.items():
        tick(f"what is new in {name}")
        if (figures := second_tasks.measure(year)) is not None:
            second_task[name] = figures
    return ExperimentResults(
        protocol,
        available.absent,
        {name: year_statistics.measure(year) for name, year in years.items()},
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
            topic_indexes = stack.enter_context(indexes.open_indexes(year, work, protocol.statistics))
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
        name for system in SYSTEMS.values() if not system.is_fixed for name in grids.default(system.ranking)
    }
    for name in protocol.grid:
        if name not in tuned:
            raise unknown("parameter to tune", name, tuned)


def verdicts(results: ExperimentResults) -> Sequence[Verdict]:
    """The verdicts on all targets, in the order of the papers."""
    return [judge(target, results) for target in TARGETS]
