"""What the trial of the containers takes for an answer, and its quick form, for real."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.runs import only_long
from tools.containers.__main__ import NO_DAEMON
from tools.containers.daemon import PROJECT, NoDaemon, check_daemon
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
    traffic.ask("oil")
    if problem is None:
        traffic.check({200, 503})
        return
    with pytest.raises(Failed, match=problem):
        traffic.check({200, 503})


def test_no_search_at_all_is_a_failure(traffic: Traffic) -> None:
    with pytest.raises(Failed):
        traffic.check({200})


def test_too_many_refusals_are_a_failure_and_their_reasons_are_told(traffic: Traffic) -> None:
    traffic.statuses.update({200: 90, 503: 10})
    traffic.refusals["Too many searches are running."] = 10
    traffic.check({200, 503}, least=0.9)
    with pytest.raises(Failed, match=r"10 × 'Too many searches are running\.'"):
        traffic.check({200, 503}, least=0.95)


def test_a_daemon_that_does_not_answer_can_be_started_by_root_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.containers.daemon.daemon_answers", lambda: False)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(NoDaemon, match="start one, or run this as root"):
        check_daemon()


@only_long
@pytest.mark.endurance
def test_three_nodes_in_containers_are_loaded_and_survive_the_loss_of_one() -> None:
    """Where a daemon runs or can be started. Once it runs, whatever fails is a failure."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.containers", "--quick"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == NO_DAEMON:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "three nodes after" in done.stdout and "one of three nodes killed" in done.stdout
    assert "no container, volume or network is left" in done.stdout
