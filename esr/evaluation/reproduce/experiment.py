"""The whole experiment: from a folder of raw files to all that was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from esr.errors import UsageError, unknown
from esr.evaluation.reproduce import indexes, raw, readings, shares
from esr.evaluation.reproduce.claims import TARGETS as FIRST
from esr.evaluation.reproduce.found import Found
from esr.evaluation.reproduce.laboratory import Laboratory
from esr.evaluation.reproduce.later_claims import TARGETS as LATER
from esr.evaluation.reproduce.protocol import Protocol
from esr.evaluation.reproduce.systems import SYSTEMS
from esr.evaluation.reproduce.target import Verdict, judge
from esr.evaluation.reproduce.year import load
from esr.evaluation.tuning import grid as grids

ALL = "all"
TARGETS = (*FIRST, *LATER)
Tick = Callable[[str], None]


def run(data: Path, work: Path, train: str, protocol: Protocol, tick: Tick = lambda what: None) -> Found:
    """Unpack, load, train on one year or on each, test on the others. Raises InputError for broken data."""
    _check_grid(protocol)
    held = raw.find(data)
    names = [each.year for each in held.years]
    training = names if train == ALL else [train]
    if not set(training) <= set(names):
        raise UsageError(f"cannot train on {train}: {data} holds no file of it, only {', '.join(names)}")
    years = {}
    for each in held.years:
        tick(f"reading {each.year}")
        years[each.year] = load(each, work)
    with ExitStack() as stack:
        laboratories = {}
        for name, year in years.items():
            tick(f"indexing {name}")
            parts = stack.enter_context(indexes.opened(year, work, protocol.statistics))
            laboratories[name] = Laboratory(year, parts, protocol)
        trained = {
            name: laboratories[name].train(lambda system, year=name: tick(f"{year} {system}"))  # type: ignore[misc]
            for name in training
        }
        tested = {}
        for source in training:
            for target in (name for name in names if name != source):
                tick(f"testing {source} to {target}")
                tested[source, target] = {
                    system: laboratories[target].test(trained[source][system].ranking) for system in SYSTEMS
                }
    read = {}
    for name, year in years.items():
        tick(f"readings of {name}")
        read[name] = readings.measure(year, work, protocol.depth)
    return Found(
        protocol,
        held.absent,
        {name: shares.measure(year) for name, year in years.items()},
        {name: year.findings for name, year in years.items()},
        trained,
        tested,
        read,
    )


def _check_grid(protocol: Protocol) -> None:
    """Raises UsageError for a parameter that no system tunes."""
    tuned = {
        name for system in SYSTEMS.values() if not system.fixed for name in grids.default(system.ranking)
    }
    for name in protocol.grid:
        if name not in tuned:
            raise unknown("parameter to tune", name, tuned)


def verdicts(found: Found) -> Sequence[Verdict]:
    """Every target with its mark, in the order of the papers."""
    return [judge(target, found) for target in TARGETS]
