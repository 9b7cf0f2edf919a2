"""What the trial of the containers takes for an answer: `make containers` runs the trial itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.containers.stack import Failed, Stack
from tools.containers.traffic import Traffic


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Traffic:
    """That of a stack that never was started."""
    monkeypatch.setattr("tools.containers.stack.compose_program", lambda: ["docker-compose"])
    return Traffic(Stack(tmp_path, "none"), 20)


@pytest.mark.parametrize(
    ("status", "text", "problem"),
    [
        (200, '{"hits": []}', None),
        (503, '{"error": {"message": "Try again in a moment."}}', None),
        (503, "<html>", "503: <html>"),
        (500, '{"error": {"message": "x"}}', "1 × 500"),
        (0, "refused", "1 × no answer"),
    ],
)
def test_a_search_is_answered_or_refused_clearly(
    traffic: Traffic, monkeypatch: pytest.MonkeyPatch, status: int, text: str, problem: str | None
) -> None:
    monkeypatch.setattr(Stack, "ask", lambda self, path: (status, text))
    traffic._ask("oil")
    if problem is None:
        traffic.check({200, 503})
        return
    with pytest.raises(Failed, match=problem):
        traffic.check({200, 503})


def test_no_search_at_all_is_a_failure(traffic: Traffic) -> None:
    with pytest.raises(Failed):
        traffic.check({200})
