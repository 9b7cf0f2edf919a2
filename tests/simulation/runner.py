"""Runs histories by the thousand, finds planted faults, and shrinks a history that fails."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from tests.simulation.file_system import Loss
from tests.simulation.history import run_history
from tests.simulation.model import Wrong
from tests.simulation.planted import FAULTS, Fault
from tests.simulation.steps import Crash, History, Step, draw_history

Draw = Callable[[int], History]
"""Makes the history of a seed."""


class Defect(NamedTuple):
    """A history that fails, and why."""

    seed: int
    history: History
    reason: str


class Finding(NamedTuple):
    """How a planted fault was found: after how many histories, and how many seconds of processor time."""

    fault: str
    defect: Defect | None
    histories: int
    seconds: float


@contextmanager
def desk() -> Iterator[Path]:
    """A folder for a history: in memory, since what is lost is simulated."""
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="esr-simulation-", dir=memory if memory.is_dir() else None)
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        (Path(folder) / "desk").mkdir()
        yield (Path(folder) / "desk").resolve()
    finally:
        tempfile.tempdir = before
        shutil.rmtree(folder)


def check_history(history: History, seed: int, counts: Counter[str] | None = None) -> Defect | None:
    """Run a history, and say whether and why it fails."""
    with desk() as folder:
        try:
            counted = run_history(history, folder, seed)
        except Wrong as error:
            return Defect(seed, history, str(error).replace(str(folder), ""))
    if counts is not None:
        counts.update(counted)
    return None


def check_seeds(seeds: Sequence[int], draw: Draw = draw_history) -> tuple[list[Defect], Counter[str], float]:
    """Run the histories that are drawn of seeds.

    Returns those that fail, what was counted, and the processor time in seconds.
    """
    started, counts = time.process_time(), Counter[str]()
    defects = [defect for seed in seeds if (defect := check_history(draw(seed), seed, counts))]
    counts["histories"] = len(seeds)
    return defects, counts, time.process_time() - started


PORTION = 25


def check_many(
    first: int, histories: int, seconds: float, processes: int, draw: Draw = draw_history
) -> Iterator[tuple[list[Defect], Counter[str], float]]:
    """Yield the results of portions of seeds, until there are so many histories or the time is over."""
    end = time.monotonic() + seconds
    starts = range(first, first + histories, PORTION)
    portions = [range(start, min(start + PORTION, first + histories)) for start in starts]
    if processes == 1:
        for portion in portions:
            if time.monotonic() < end:
                yield check_seeds(portion, draw)
        return
    with ProcessPoolExecutor(processes) as pool:
        for start in range(0, len(portions), processes):
            if time.monotonic() >= end:
                return
            yield from pool.map(partial(check_seeds, draw=draw), portions[start : start + processes])


# Planted faults


def find_fault(number: int, first: int, histories: int) -> Finding:
    """Run histories with a planted fault until one of them fails."""
    fault = FAULTS[number]
    started = time.process_time()
    for count, seed in enumerate(range(first, first + histories), 1):
        if defect := check_with(fault, fault.draw(seed), seed):
            return Finding(fault.name, defect, count, time.process_time() - started)
    return Finding(fault.name, None, histories, time.process_time() - started)


def check_with(fault: Fault, history: History, seed: int) -> Defect | None:
    with fault.applied():
        return check_history(history, seed)


# Shrinking


MAX_ATTEMPTS = 150
Check = Callable[[History], Defect | None]


def shrink(defect: Defect, check: Check | None = None) -> Defect:
    """A simpler history that fails too: fewer and plainer steps, and earlier crashes that lose less."""
    retry = check or (lambda history: check_history(history, defect.seed))
    attempts = 0
    while True:
        for history in _simpler(defect.history):
            attempts += 1
            if attempts > MAX_ATTEMPTS:
                return defect
            if smaller := retry(history):
                defect = smaller
                break
        else:
            return defect


def _simpler(history: History) -> Iterator[History]:
    """Histories that are simpler by one change, the simplest first."""
    steps = history.steps
    for stop in range(1, len(steps)):
        yield replace(history, steps=steps[:stop])
    for number in range(len(steps)):
        if len(steps) > 1:
            yield replace(history, steps=(*steps[:number], *steps[number + 1 :]))
    for number, step in enumerate(steps):
        for simpler in _simpler_steps(step):
            yield replace(history, steps=(*steps[:number], simpler, *steps[number + 1 :]))
    default = History(())
    for name in ("full_terms", "small", "batch"):
        if getattr(history, name) != getattr(default, name):
            yield replace(history, **{name: getattr(default, name)})


def _simpler_steps(step: Step) -> Iterator[Step]:
    default = Step(step.kind)
    for name in ("trouble", "settles", "searches", "resumes", "seconds", "version", "number", "keep", "ids"):
        if getattr(step, name) != getattr(default, name):
            yield replace(step, **{name: getattr(default, name)})
    if len(step.documents) > 1:
        yield replace(step, documents=step.documents[:1])
        yield replace(step, documents=step.documents[1:])
    if isinstance(step.trouble, Crash):
        loss = step.trouble.loss
        for plainer in (
            Loss("none", "none", 0),
            Loss(loss.entries, "all", loss.seed),
            Loss("all", loss.content, loss.seed),
        ):
            if plainer != loss and (loss.entries, loss.content).count("all") + (loss.entries == "none") < 1:
                yield replace(step, trouble=replace(step.trouble, loss=plainer))
        for at in (0.0, 0.25, 0.5, 0.75):
            if at < step.trouble.at - 0.05:
                yield replace(step, trouble=replace(step.trouble, at=at))
