"""`esr load` into Elasticsearch, in a process that kills itself at a certain moment."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from typing import Any

from esr.elastic.write import actions, writer
from esr.elastic.write.writer import ElasticsearchWriter
from tests.support.forked import run_esr

AMID_BULK = "amid bulk"


def load_until(moment: str, arguments: Sequence[object]) -> None:
    """`moment` is AMID_BULK, or "before" or "after" and a method of the writer."""
    if moment == AMID_BULK:
        _die_amid_bulk()
    else:
        when, method = moment.split()
        _die_at(method, when == "after")
    run_esr(["load", *arguments])


def _die_at(method: str, is_called: bool) -> None:
    real = getattr(ElasticsearchWriter, method)

    def stop(self: ElasticsearchWriter, *arguments: Any) -> None:
        if is_called:
            real(self, *arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(ElasticsearchWriter, method, stop)


def _die_amid_bulk() -> None:
    actions.CHUNK_SENTENCES = 100
    real = writer.spool_actions

    def spool_actions(*arguments: Any) -> Iterator[Any]:
        for n, action in enumerate(real(*arguments)):
            if n == 75:
                os.kill(os.getpid(), signal.SIGKILL)
            yield action

    writer.spool_actions = spool_actions  # type: ignore[assignment]
