"""Processes to be killed, forked from one that has imported esr: they start at once, as tests need dozens.

    loader = ForkedProcess(run_esr, ["load", "news.jsonl", "--index", where])
    loader.kill()

Each is a process of its own, with nothing open that this one has.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

_IMPORTED = [
    "esr.cli.enrich",
    "esr.cli.load",
    "esr.cli.following",
    "esr.elastic.write.writer",
    "esr.elastic.write.enrichment",
    "esr.folder.index",
    "esr.ranking.searcher",
    "tests.support.elasticsearch",
    "tests.support.fake_enricher",
    "tests.support.forked",
    "tests.support.killed_load",
]
"""What takes its time. Further modules are imported by the process that needs them."""


class ForkedProcess:
    """Calls a function of a module in a process of its own, with arguments that can be pickled."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_IMPORTED)
        number, name = tempfile.mkstemp(prefix="esr-forked-")
        os.close(number)
        self._output = Path(name)
        self._process = context.Process(target=_call, args=(name, function, arguments))
        self._process.start()

    @property
    def is_running(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        """`kill -9`, and wait until it is dead."""
        self._process.kill()
        self._end(10)

    def finish(self, timeout: float = 120) -> str:
        """Wait until it ends by itself, without an error. Returns what it printed."""
        output = self._end(timeout)
        assert self._process.exitcode == 0, output
        return output

    def wait(self, timeout: float = 120) -> int:
        """Wait until it ends. Returns its exit status, which is -9 if it was killed."""
        self._end(timeout)
        assert self._process.exitcode is not None
        return self._process.exitcode

    def _end(self, timeout: float) -> str:
        self._process.join(timeout)
        output = self._output.read_text("utf-8") if self._output.exists() else ""
        self._output.unlink(missing_ok=True)
        if self._process.is_alive():
            self._process.kill()
            raise AssertionError(f"it did not end within {timeout} s: {output}")
        return output


def _call(output: str, function: Callable[..., object], arguments: Sequence[object]) -> None:
    with open(output, "ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    function(*arguments)


def run_esr(arguments: Sequence[object], changes: Mapping[str, Any] | None = None) -> None:
    """The command `esr`. `changes` gives attributes, such as `esr.cli.load:NAME`, another value first."""
    from esr.cli import main

    change(changes or {})
    main([str(argument) for argument in arguments], prog_name="esr")


def load_news(where: str, documents: Sequence[Any], changes: Mapping[str, Any]) -> None:
    """Load documents instead of what is there, taking up a load that was killed."""
    from tests.support.elasticsearch import load

    change(changes)
    load(where, documents, if_exists="replace", resume=True)


def change(attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        module, _, attribute = name.partition(":")
        owner = resolve_name(module)
        assert hasattr(owner, attribute), name
        setattr(owner, attribute, value)
