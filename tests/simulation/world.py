"""The world of a history: a desk with an index and its backup, a clock, and one thread that does all work.

Everything that is left to chance elsewhere follows from the seed here: names of segments, of layers and of
generations, ids of deliveries, the order in which threads work, and the time.
"""

from __future__ import annotations

import os
import random
import secrets
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Self
from unittest import mock

from esr import processes
from esr.folder.format import damage
from esr.folder.write import rewriting, segment_writer
from esr.index import generations
from esr.index.runs import enrichment_run
from tests.simulation.steps import History

START = datetime(2024, 3, 30, 22, tzinfo=UTC)
ZONES = ("UTC", "Europe/Berlin", "Pacific/Apia", "America/St_Johns")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = START

    def advance(self, seconds: float) -> None:
        """Go on, or back if it is negative."""
        self.now += timedelta(seconds=seconds)

    def as_datetime(self) -> type[datetime]:
        """The class `datetime` by this clock."""
        clock = self

        class SimulatedDatetime(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Self:
                moment = clock.now.astimezone(tz)
                return cls.combine(moment.date(), moment.timetz())

        return SimulatedDatetime


class NoThread:
    """A thread that the system does not start. Then the caller's thread does the work, in order."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def start(self) -> None:
        raise RuntimeError("can't start new thread")


@contextmanager
def simulated(history: History, clock: Clock, seed: int) -> Iterator[None]:
    """Let everything inside the block follow from the history and the seed."""
    chance = random.Random(seed)
    before = random.getstate()
    random.seed(seed)
    with ExitStack() as stack:
        for owner, name, value in (
            (processes, "Thread", NoThread),
            (uuid, "uuid4", lambda: uuid.UUID(int=chance.getrandbits(128), version=4)),
            (secrets, "token_hex", lambda size=32: chance.randbytes(size).hex()),
            (generations, "datetime", clock.as_datetime()),
            (segment_writer, "FULL_TERMS", history.full_terms),
            (rewriting, "FULL_TERMS", history.full_terms),
            (damage, "SMALL", history.small),
            (enrichment_run, "BATCH_SENTENCES", history.batch),
        ):
            stack.enter_context(mock.patch.object(owner, name, value))
        stack.enter_context(mock.patch.dict(os.environ, {"TZ": chance.choice(ZONES), "ESR_MEANING": "no"}))
        try:
            yield
        finally:
            random.setstate(before)
