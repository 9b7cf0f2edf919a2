"""Sessions that ended stay ended, others go on, and how long they may."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from webui.access.sessions import Session, SessionLimits


def test_a_session_stays_ended_when_others_end(tmp_path: Path) -> None:
    limits = SessionLimits(str(tmp_path / "sessions"), longest=3600, idle=600)
    first, second, third = (Session.begin(name, "password", "m", ()) for name in ("ann", "bob", "eve"))
    limits.end(first)
    limits.end(second)
    assert [limits.is_valid(session) for session in (first, second, third)] == [False, False, True]


NOW = 1_000_000.0


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> SessionLimits:
    monkeypatch.setattr("webui.access.sessions.time.time", lambda: NOW)
    return SessionLimits(":memory:", longest=3_600, idle=600)


def session(age: int, unused: int) -> Session:
    return replace(Session.begin("ann", "password", "m", ()), at=int(NOW) - age, last_used=int(NOW) - unused)


@pytest.mark.parametrize(
    ("age", "unused", "is_valid"),
    [(0, 0, True), (-1, -1, False), (3_600, 0, True), (3_601, 0, False), (999, 600, True), (999, 601, False)],
)
def test_a_session_has_a_longest_time_and_one_without_use(
    limits: SessionLimits, age: int, unused: int, is_valid: bool
) -> None:
    assert limits.is_valid(session(age, unused)) == is_valid


def test_a_use_is_noted_each_minute_or_more_often_if_a_session_ends_soon(
    limits: SessionLimits,
) -> None:
    late = SessionLimits(":memory:", longest=3_600, idle=1_000)
    assert [late.note_use(session(999, unused)).last_used for unused in (59, 60)] == [NOW - 59, NOW]
    soon = SessionLimits(":memory:", longest=3_600, idle=100)
    assert [soon.note_use(session(999, unused)).last_used for unused in (9, 10)] == [NOW - 9, NOW]


def test_all_threads_of_a_server_know_what_has_ended(limits: SessionLimits) -> None:
    ended = session(0, 0)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(limits.end, ended).result()
        assert thread.submit(limits.is_valid, session(0, 0)).result()
    assert not limits.is_valid(ended)
