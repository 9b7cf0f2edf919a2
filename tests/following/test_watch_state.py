"""The file in which a watch remembers what it told."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from esr.errors import IndexUnusable
from esr.following.watch_state import WatchState


def test_a_file_that_is_no_state_is_not_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remember(*args: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*args, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remember)
    path = tmp_path / "searches.state"
    path.write_text("no database\n" * 100)
    with pytest.raises(IndexUnusable, match="no state of esr watch"):
        WatchState(path)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")
