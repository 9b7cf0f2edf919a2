"""Progress that people read where there is no terminal."""

from __future__ import annotations

import pytest

from esr.progress import StepProgress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that shows the last of its times."""
    times = [100.0]
    monkeypatch.setattr("esr.progress.monotonic", lambda: times[-1])
    return times


def test_a_long_step_says_where_it_is_and_how_long_it_still_takes(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with StepProgress() as progress:
        progress.start("encoding a sample", 1_200)
        for now, items in ((105.0, 1), (120.0, 1), (130.0, 198), (131.0, 100), (170.0, 100)):
            clock.append(now)
            progress.update(items)
        clock.append(181.0)
        progress.start("fitting", 0)
    assert capsys.readouterr().err.splitlines() == [
        "  0:20  encoding a sample: 2 of 1,200",
        "  0:30  encoding a sample: 200 of 1,200, 2:30 left",
        "  1:10  encoding a sample: 400 of 1,200, 2:20 left",
        "  1:21  fitting",
    ]


def test_short_steps_say_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with StepProgress() as progress:
        for step in ("encoding a sample", "fitting"):
            clock.append(clock[-1] + 2)
            progress.start(step, 10)
            progress.update(10)
    assert capsys.readouterr() == ("", "")
