"""The desk of a server, which its threads share."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from esr.dossiers import desk as desks
from webui.running.served_desk import ServedDesk
from webui.running.settings import Settings


def test_requests_that_come_at_once_open_one_desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[desks.Desk] = []

    def open_slowly(where: str) -> desks.Desk:
        time.sleep(0.05)
        opened.append(desks.Desk(where))
        return opened[-1]

    monkeypatch.setattr(desks, "open_desk", open_slowly)
    served = ServedDesk(cast("Any", None), Settings(desk=str(tmp_path / "desk")))
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: served.desk, range(2))
    assert [first] == [second] == opened
    first.close()
