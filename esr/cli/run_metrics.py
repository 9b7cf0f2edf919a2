"""Metrics of runs that end: loads, deliveries, syncs and backups, for the textfile collector of Prometheus.

Each command and index has a file of its own, which is replaced when a run ends. A run that fails keeps the
time of the last success, so an alert can count from it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from esr.errors import AnotherRun
from esr.index.login_variables import redact
from esr.index.writer import DeliveryReport
from esr.stdlib import hash64, import_lazily

if TYPE_CHECKING:
    import prometheus_client
else:
    prometheus_client = import_lazily("prometheus_client")

METRICS_FOLDER = "ESR_METRICS_FOLDER"
RUN_VARIABLES = {
    METRICS_FOLDER: "the folder to which loads, deliveries, `esr sync` and `esr backup` write metrics of "
    "their runs, for the [textfile collector](operating.md#metrics-of-runs) of Prometheus"
}
_LAST_SUCCESS = "esr_run_last_success_timestamp_seconds"


def count_changes(report: DeliveryReport) -> dict[str, int]:
    """The numbers of documents of a delivery, by what happened to them."""
    return {name: getattr(report, name) for name in ("added", "changed", "removed", "unchanged")}


class Run:
    """A run of a command on an index, with the counts that it reports."""

    def __init__(self, command: str, where: str) -> None:
        self.command = command
        self.index: str = redact(where if "://" in where else os.path.abspath(where))
        self.documents: Mapping[str, int] = {}
        """Numbers of documents by what happened to them."""
        self.copied_bytes: int | None = None
        self.is_incomplete: bool = False
        """Whether the command ends with status 1 although it has done what it could."""

    def set_aside(self, number: int) -> None:
        """Count the documents that could not be loaded; with any, the command ends with status 1."""
        self.documents = {**self.documents, "set_aside": number}
        self.is_incomplete = number > 0


@contextmanager
def measure_run(command: str, where: str | None) -> Iterator[Run]:
    """Measure the block, and write its metrics at the end, also if it fails.

    Without ESR_METRICS_FOLDER, or if another run did not let this one begin, nothing is written.
    """
    run, started = Run(command, where or ""), time.time()
    has_failed, is_written = True, where is not None
    try:
        yield run
        has_failed = run.is_incomplete
    except AnotherRun:
        is_written = False
        raise
    finally:
        folder = os.environ.get(METRICS_FOLDER)
        if folder and is_written:
            try:
                _write(Path(folder), run, started, has_failed)
            except OSError as error:
                problem = error.strerror or error
                click.echo(f"Warning: no metrics are written to {folder}: {problem}", err=True)


def _write(folder: Path, run: Run, started: float, has_failed: bool) -> None:
    """Replace the file of this command and index. Raises OSError."""
    path = folder / f"esr-{run.command}-{hash64(run.index):016x}.prom"
    registry, now = prometheus_client.CollectorRegistry(), time.time()

    def set_gauge(name: str, help: str, value: float, **labels: str) -> None:
        gauge = prometheus_client.Gauge(name, help, ("command", "index", *labels), registry=registry)
        gauge.labels(run.command, run.index, *labels.values()).set(value)

    set_gauge("esr_run_timestamp_seconds", "When the last run ended, in seconds since 1970.", now)
    success = _read_last_success(path) if has_failed else now
    if success is not None:
        set_gauge(_LAST_SUCCESS, "When the last run ended that did not fail, in seconds since 1970.", success)
    set_gauge("esr_run_failed", "Whether the last run failed: 1, or 0.", int(has_failed))
    set_gauge("esr_run_seconds", "Seconds that the last run took.", now - started)
    if run.copied_bytes is not None:
        set_gauge("esr_run_copied_bytes", "Bytes that the last backup copied.", run.copied_bytes)
    if run.documents:
        documents = prometheus_client.Gauge(
            "esr_run_documents",
            "Documents of the last run, by what happened to them.",
            ("command", "index", "change"),
            registry=registry,
        )
        for change, number in run.documents.items():
            documents.labels(run.command, run.index, change).set(number)
    prometheus_client.write_to_textfile(str(path), registry)


def _read_last_success(path: Path) -> float | None:
    """The time of the last success in a file of metrics, None if it has none."""
    with suppress(OSError, ValueError):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith(f"{_LAST_SUCCESS}{{"):
                return float(line.rpartition(" ")[2])
    return None
