"""A month of news by a simulated clock, in a process that may be killed at any moment: see test_month.py."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from esr.alerts.channels import MAIL, SECRET, SENDER, Channels
from esr.alerts.runs import AlertRuns, add_alert, make_delivery
from esr.dossiers.desk import Desk
from esr.dossiers.records import Person
from esr.index.factory import open_delivery
from esr.index.writer import LoadOptions
from tests.support.elasticsearch import document, load, located

START = datetime(2024, 3, 4, 5, 30, tzinfo=UTC)
DAYS = 30
"""Clocks change in New York on 10 March and in Berlin on 31 March."""
STEP = timedelta(hours=12)
STEPS = DAYS * 2 + 20
"""The last digests of a week are due after the last documents."""
SCHEDULES = (
    ("at once", "UTC"),
    ("hourly", "Asia/Kolkata"),
    ("daily 07:30", "Europe/Berlin"),
    ("daily 02:30", "America/New_York"),
    ("weekly friday 09:00", "America/New_York"),
)
PER_DOCUMENT = 10


def word_of(alert: int) -> str:
    return f"topic{alert:04d}"


def list_days(alert: int) -> list[int]:
    """The days on which a sentence for an alert comes: one, or two."""
    return sorted({alert % DAYS, (alert * 7 + 3) % DAYS} if alert % 2 else {alert % DAYS})


def make_desk(folder: Path, alerts: int, targets: tuple[str, str]) -> None:
    """A collection, and a desk with alerts that have all schedules and targets."""
    load(str(folder / "index"), [document("first", "All begins.")])
    with Desk(str(folder / "desk.sqlite"), clock=lambda: START) as desk:
        for alert in range(alerts):
            every, zone = SCHEDULES[alert % len(SCHEDULES)]
            settings = make_delivery(str(folder / "index"), [targets[alert % 2]], every, zone)
            add_alert(desk, Person("ann"), word_of(alert), {"query": word_of(alert)}, settings)


def documents_of(day: int, alerts: int) -> list[Any]:
    """The documents of a day: sentences for its alerts, and a corrected one of the day before."""
    today = [alert for alert in range(alerts) if day in list_days(alert)]
    texts = [f"News of {word_of(alert)} on day {day} came in the morning." for alert in today]
    made = [document(f"d{day}-{n}", *texts[n : n + PER_DOCUMENT]) for n in range(0, len(texts), PER_DOCUMENT)]
    before = [alert for alert in range(alerts) if day - 1 in list_days(alert)][:PER_DOCUMENT]
    corrected = [f"News of {word_of(alert)} on day {day - 1} came in the evening." for alert in before]
    return [*made, *([document(f"d{day - 1}-0", *corrected)] if corrected else [])]


def run_month(folder: Path, alerts: int, mail: str) -> None:
    """Load and run alerts step by step, from the step at which the last process was killed."""
    variables = {MAIL: mail, SENDER: "esr@example.org", SECRET: "secret"}
    progress = folder / "step"
    first = int(progress.read_text()) if progress.exists() else 0
    now = START

    def clock() -> datetime:
        return now

    with Desk(str(folder / "desk.sqlite"), clock=clock) as desk, Channels(variables) as channels:
        for step in range(first, STEPS):
            now = START + step * STEP
            if step and step < DAYS * 2 and step % 2:
                open_delivery(str(folder / "index"), LoadOptions()).append(
                    located(documents_of(step // 2, alerts))
                )
            AlertRuns(desk, channels, clock=clock, variables={}).run()
            part = folder / "step.part"
            part.write_text(str(step + 1))
            os.replace(part, progress)
