"""Sessions that ended stay ended, and others go on."""

from __future__ import annotations

from pathlib import Path

from webui.access.sessions import Session, SessionLimits


def test_a_session_stays_ended_when_others_end(tmp_path: Path) -> None:
    limits = SessionLimits(str(tmp_path / "sessions"), longest=3600, idle=600)
    first, second, third = (Session.begin(name, "password", "m", ()) for name in ("ann", "bob", "eve"))
    limits.end(first)
    limits.end(second)
    assert [limits.is_valid(session) for session in (first, second, third)] == [False, False, True]
