"""Trials of mutants: a process that has imported the code and collected the tests forks for each.

Starting pytest anew takes seconds of processor time, a fork some milliseconds. The child gives the functions
of the changed file their changed code, and runs the tests that execute the changed line until one fails. A
change outside of functions takes a new import: the main process has not imported esr, so a fork of it can.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

import coverage
import pytest

from tools.mutation.interpreted import KERNEL, interpret_kernel
from tools.mutation.mutants import Mutant

OWN = ("esr", "webui", "tests", "clients", "tools")
MOST_SECONDS = 20.0
"""Seconds of tests of a mutant, as long as they took without it: the shortest first."""
MEMORY = 8 << 30
WAITED = 30
"""How many times its processor time a trial may take by the clock."""
KILLED, SURVIVED, UNTESTED, UNDECIDED = "killed", "survived", "no test", "undecided"
"""Outcomes. A trial is undecided if it had not enough processor time: the machine was too busy."""
MARKS = "not elasticsearch and not browser and not endurance"


class Target:
    """A folder whose mutants are tried, with the tests that are to notice them."""

    def __init__(self, name: str, tests: Sequence[str], further: Sequence[str], slow: bool) -> None:
        self.name = name
        self.prepare = interpret_kernel if name.startswith(KERNEL) else lambda: None
        """Is called in a process before it imports the code."""
        self.tests = tests
        """The mirrored tests, which run first."""
        self.further = further
        self.marks = MARKS if slow else f"{MARKS} and not slow"


def try_mutants(
    target: Target,
    mutants: Sequence[Mutant],
    seed: int,
    jobs: int,
    deadline: float,
    report: Callable[..., None],
) -> None:
    """Try each mutant and report it with its outcome, until the deadline of `time.monotonic`."""
    with tempfile.TemporaryDirectory() as folder:
        loaded = _Loaded(target, mutants, seed, jobs, deadline, Path(folder))
        child = os.fork()
        if not child:
            _run_apart(loaded.run, Path(folder) / "errors")
        for number, outcome in _follow(child, loaded.outcomes):
            report(mutants[number], outcome)
        if not loaded.result.is_file():
            raise SystemExit((Path(folder) / "errors").read_text("utf-8", "replace")[-5000:])
        result = json.loads(loaded.result.read_text("utf-8"))
        if result["failed"]:
            print("left out, as they fail without a change:", *result["failed"], sep="\n  ", flush=True)
        _import_all(name for name in result["modules"] if name.partition(".")[0] not in OWN)
        seconds = 20.0 + 4 * result["seconds"]
        again = [mutants[number] for number in result["again"]]
        control = iter(
            [(-1, seconds, _anew(target, None, seed, Path(folder) / "control", result["failed"]))]
            if again
            else []
        )
        if any(outcome != SURVIVED for _, outcome in _race(control, 1, deadline)):
            raise SystemExit(f"{' '.join(target.tests)}: the tests fail without a change after a new import")
        trials = (
            (number, seconds, _anew(target, mutant, seed, Path(folder) / f"again{number}", result["failed"]))
            for number, mutant in enumerate(again)
        )
        for number, outcome in _race(trials, jobs, deadline):
            report(again[number], outcome)


def _follow(child: int, path: Path) -> Iterator[tuple[int, str]]:
    """Yield the outcomes that a child writes to a file, one a line, until it ends."""
    path.touch()
    with path.open(encoding="utf-8") as lines:
        is_over = False
        while not is_over:
            is_over = os.waitpid(child, os.WNOHANG)[0] == child
            for line in lines:
                number, _, outcome = line.rstrip("\n").partition(" ")
                yield int(number), outcome
            time.sleep(0 if is_over else 0.05)


def _anew(
    target: Target, mutant: Mutant | None, seed: int, folder: Path, left_out: Sequence[str]
) -> Callable[[], int]:
    """Run the mirrored tests with the changed module, in a process that has not imported it."""

    def run() -> int:
        path, text = (os.path.realpath(mutant.path), mutant.source()) if mutant else ("", "")
        original = SourceFileLoader.get_code

        def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
            if os.path.realpath(self.path) == path:
                return compile(text, self.path, "exec", dont_inherit=True)
            return original(self, fullname)

        setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        folder.mkdir()
        target.prepare()
        deselected = [f"--deselect={test}" for test in left_out]
        return int(pytest.main(["-x", *_options(target.marks, seed), *deselected, *target.tests]))

    return run


def _options(marks: str, seed: int) -> list[str]:
    quiet = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    # Plug-ins that are imported before cannot be rewritten, which need not be.
    warned = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    return [*quiet, *warned, "-m", marks, f"--hypothesis-seed={seed}", "--hypothesis-profile=quick"]


class _Loaded:
    """The process that has imported the code: a plug-in of its pytest, which runs instead of the tests."""

    def __init__(
        self, target: Target, mutants: Sequence[Mutant], seed: int, jobs: int, deadline: float, folder: Path
    ) -> None:
        self.target, self.mutants, self.seed = target, mutants, seed
        self.jobs, self.deadline, self.folder = jobs, deadline, folder
        self.result, self.outcomes = folder / "result.json", folder / "outcomes"
        self.paths = sorted({os.path.realpath(mutant.path) for mutant in mutants})
        self.at_import: dict[str, set[int]] = {}
        self.coverage = coverage.Coverage(
            data_file=None, include=self.paths, config_file=False, branch=False, messages=False
        )
        # Tests need not import the code while they are collected.
        self.coverage.set_option("run:disable_warnings", ["no-data-collected"])

    def run(self) -> int:
        self.target.prepare()
        self.coverage.start()
        paths = [path for path in (*self.target.tests, *self.target.further) if Path(path).exists()]
        return int(pytest.main([*_options(self.target.marks, self.seed), *paths], plugins=[self]))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants instead of the tests."""
        self.coverage.stop()
        data = self.coverage.get_data()
        self.at_import = {path: set(data.lines(path) or ()) for path in self.paths}
        baseline = self._measure(session)
        _import_all(baseline["modules"])
        failed = {number for number, passed in enumerate(baseline["passed"]) if not passed}
        functions = _functions(self.paths)
        again: list[int] = []
        trials = self._trials(session, baseline, failed, functions, again)
        for number, outcome in _race(trials, self.jobs, self.deadline):
            self._note(number, outcome)
        result = {
            "again": again,
            "failed": [session.items[number].nodeid for number in sorted(failed)],
            "modules": baseline["modules"],
            "seconds": sum(
                baseline["seconds"][number]
                for number, item in enumerate(session.items)
                if self._is_mirrored(item)
            ),
        }
        self.result.write_text(json.dumps(result), "utf-8")
        return True

    def _note(self, number: int, outcome: str) -> None:
        """Write an outcome for the main process, which reports it at once."""
        with self.outcomes.open("a", encoding="utf-8") as file:
            file.write(f"{number} {outcome}\n")

    def _trials(
        self,
        session: pytest.Session,
        baseline: Mapping[str, Any],
        failed: set[int],
        functions: Mapping[str, list[FunctionType]],
        again: list[int],
    ) -> Iterator[tuple[int, float, Callable[[], int]]]:
        """A trial of each mutant that is in a function and that a test executes."""
        for number, mutant in enumerate(self.mutants):
            path = os.path.realpath(mutant.path)
            tests = set(baseline["tests"][path].get(str(mutant.line), ())) - failed
            if not mutant.in_function or (not tests and mutant.line in self.at_import[path]):
                again.append(number)
            elif not tests:
                self._note(number, UNTESTED)
            else:
                items, seconds = self._choose(session.items, tests, baseline["seconds"])
                yield number, 10.0 + 5 * seconds, self._trial(session, items, mutant, functions[path], number)

    def _choose(
        self, items: Sequence[pytest.Item], tests: set[int], seconds: Sequence[float]
    ) -> tuple[list[pytest.Item], float]:
        order = sorted(tests, key=lambda test: (not self._is_mirrored(items[test]), seconds[test]))
        chosen: list[pytest.Item] = []
        total = 0.0
        for test in order:
            total += seconds[test]
            if chosen and total > MOST_SECONDS:
                break
            chosen.append(items[test])
        return chosen, total

    def _is_mirrored(self, item: pytest.Item) -> bool:
        return any(item.nodeid.startswith(path) for path in self.target.tests)

    def _trial(
        self,
        session: pytest.Session,
        items: list[pytest.Item],
        mutant: Mutant,
        functions: list[FunctionType],
        number: int,
    ) -> Callable[[], int]:
        def run() -> int:
            _change(functions, mutant)
            os.environ["PYTEST_DEBUG_TEMPROOT"] = str(self.folder / str(number))
            (self.folder / str(number)).mkdir()
            session.items[:] = items
            session.config.option.maxfail = 1
            for number_of, item in enumerate(items):
                following = items[number_of + 1] if number_of + 1 < len(items) else None
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed:
                    return 1
            return 0

        return run

    def _measure(self, session: pytest.Session) -> dict[str, Any]:
        """Run all tests once in a child: which execute each line, how long they take, what they import."""
        path = self.folder / "baseline.json"

        def run() -> int:
            os.environ["PYTEST_DEBUG_TEMPROOT"] = str(self.folder)
            watch = coverage.Coverage(
                data_file=None, include=self.paths, config_file=False, branch=False, messages=False
            )
            watch.start()
            seconds, passed = [], []
            for number, item in enumerate(session.items):
                watch.switch_context(str(number))
                started, failures = time.process_time(), session.testsfailed
                following = session.items[number + 1] if number + 1 < len(session.items) else None
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                seconds.append(time.process_time() - started)
                passed.append(session.testsfailed == failures)
            watch.stop()
            data = watch.get_data()
            tests = {
                path: {
                    line: [int(test) for test in tests if test]
                    for line, tests in data.contexts_by_lineno(path).items()
                }
                for path in self.paths
            }
            path.write_text(
                json.dumps(
                    {"seconds": seconds, "passed": passed, "tests": tests, "modules": sorted(sys.modules)}
                ),
                "utf-8",
            )
            return 0

        list(_race(iter([(0, 3600.0, run)]), 1, time.monotonic() + 7200, self.folder / "baseline.txt"))
        if not path.is_file():
            raise SystemExit((self.folder / "baseline.txt").read_text("utf-8", "replace")[-5000:])
        loaded: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return loaded


def _import_all(names: Iterator[str] | Sequence[str]) -> None:
    """Import what a child has imported, so that the next need not. What cannot be is left to them."""
    for name in names:
        if name not in sys.modules and not name.startswith(("__", "tests.")):
            with suppress(Exception):
                importlib.import_module(name)


def _functions(paths: Sequence[str]) -> dict[str, list[FunctionType]]:
    """All functions of these files that are loaded."""
    functions: dict[str, list[FunctionType]] = {path: [] for path in paths}
    gc.unfreeze()
    for item in gc.get_objects():
        if type(item) is FunctionType and item.__code__.co_filename in functions:
            functions[item.__code__.co_filename].append(item)
    gc.freeze()
    return functions


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _codes(constant)


def _change(functions: Sequence[FunctionType], mutant: Mutant) -> None:
    """Give loaded functions the code that they have in the mutant."""
    path = os.path.realpath(mutant.path)
    codes = dict(_codes(compile(mutant.source(), path, "exec", dont_inherit=True)))
    for function in functions:
        old = function.__code__
        new = codes.get((old.co_qualname, old.co_firstlineno))
        if new is not None and len(new.co_freevars) == len(old.co_freevars):
            function.__code__ = new


def _race(
    trials: Iterator[tuple[int, float, Callable[[], int]]],
    jobs: int,
    deadline: float,
    output: Path | None = None,
) -> Iterator[tuple[int, str]]:
    """Run trials in children, so many at once, each for its seconds of processor time at most.

    A child that waits much longer than that is ended. Then the trial is undecided.
    """
    running: dict[int, tuple[int, float]] = {}
    late: set[int] = set()
    rest = iter(trials)
    is_over = False
    while True:
        while not is_over and len(running) < jobs and time.monotonic() < deadline:
            trial = next(rest, None)
            if trial is None:
                is_over = True
                break
            number, seconds, run = trial
            child = os.fork()
            if not child:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
                if output is None:
                    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                _run_apart(run, output)
            running[child] = number, time.monotonic() + WAITED * seconds
        if not running:
            return
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            time.sleep(0.01)
            for pid, (_, end) in running.items():
                if pid not in late and time.monotonic() > end:
                    late.add(pid)
                    _end_group(pid)
            continue
        _end_group(child)
        number, _ = running.pop(child)
        failed = UNDECIDED if child in late else KILLED
        late.discard(child)
        yield number, SURVIVED if status == 0 else failed


def _end_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _run_apart(run: Callable[[], int], output: Path | None) -> NoReturn:
    """End this child with what the function returns."""
    code = 1
    try:
        stream = os.open(output or os.devnull, os.O_WRONLY | os.O_CREAT, 0o600)
        for number in (1, 2):
            os.dup2(stream, number)
        code = run()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        temporary = os.environ.get("PYTEST_DEBUG_TEMPROOT")
        if output is None and temporary:
            shutil.rmtree(temporary, ignore_errors=True)
        os._exit(code)
