"""Some histories of the simulated world, and that the simulation loses, finds and replays what it should."""

from __future__ import annotations

import errno
import os
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from tests.simulation.file_system import Loss, Recorder, read_image
from tests.simulation.history import Run
from tests.simulation.model import Wrong
from tests.simulation.planted import FAULTS
from tests.simulation.runner import check_history, check_seeds, check_with, desk, shrink
from tests.simulation.steps import (
    Crash,
    Failure,
    History,
    Kill,
    Ref,
    Step,
    decode,
    draw_alert_history,
    draw_history,
    encode,
)
from tests.simulation.world import Clock, simulated
from tests.support.runs import IS_LONG

HISTORIES = 2000 if IS_LONG else 100
NOTHING_LOST, ALL_LOST = Loss("all", "all", 0), Loss("none", "none", 0)


def test_some_histories_are_as_the_model_says() -> None:
    defects, counts, _ = check_seeds(range(3))
    assert not defects, f"python -m tests.simulation --seed {defects[0].seed}: {defects[0].reason}"
    assert counts["crashes"]


@pytest.mark.slow
def test_many_histories_are_as_the_model_says() -> None:
    defects, counts, _ = check_seeds(range(100, 100 + HISTORIES))
    assert not defects, f"python -m tests.simulation --seed {defects[0].seed}: {defects[0].reason}"
    assert counts["crashes"] > HISTORIES / 2 and counts["visits"] and counts["searches"]


@pytest.mark.slow
def test_many_histories_of_alerts_are_as_the_model_says() -> None:
    defects, counts, _ = check_seeds(range(100, 100 + HISTORIES // 4), draw_alert_history)
    assert not defects, f"python -m tests.simulation --alerts --seed {defects[0].seed}: {defects[0].reason}"
    assert counts["kills"] and counts["meetings"] and counts["alert runs"] > HISTORIES


def test_a_checkpoint_never_names_segments_whose_folder_a_crash_has_lost() -> None:
    crash = Crash(0.5, Loss("some", "all", 370744911), near=1)
    steps = Step("load", (Ref(2, 0),), trouble=crash), Step("load", (Ref(6, 0),), resumes=True)
    defect = check_history(History(steps), 350)
    assert defect is None, defect.reason


@pytest.mark.slow
def test_files_stay_where_the_sync_of_the_manifest_without_them_failed() -> None:
    counts = Counter[str]()
    for call in range(1, 300, 1 if IS_LONG else 3):
        crash = Crash(0.95, Loss("some", "all", 3, 0.3), near=None)
        trouble = Failure(call, errno.EIO, persists=False, then=crash)
        steps = Step("load", (Ref(1, 2),)), Step("load", (Ref(6, 0),), keep=0, trouble=trouble)
        defect = check_history(History(steps), 1, counts)
        assert defect is None, f"call {call}: {defect.reason}"
    assert counts["crashes"] > 90


def alert_history(trouble: Kill | None) -> History:
    """A document with a flood is delivered, and the alerts run twice: the first run has this trouble."""
    (flood,) = [ref for ref in (Ref(0, 0), Ref(0, 1), Ref(0, 2)) if tells_of_a_flood(ref)][:1]
    steps = Step("load", (Ref(7, 0),)), Step("add alert"), Step("run alerts"), Step("deliver", (flood,))
    return History((*steps, Step("run alerts", trouble=trouble), Step("run alerts")))


def tells_of_a_flood(ref: Ref) -> bool:
    return any("flood" in sentence.text for sentence in ref.document.sentences)


@pytest.mark.slow
def test_a_run_of_alerts_may_be_killed_before_each_of_its_calls() -> None:
    (early,) = [fault for fault in FAULTS if fault.name == "a delivery is noted before it is sent"]
    kills, found = 0, 0
    for call in count(1):
        counts = Counter[str]()
        history = alert_history(Kill(call))
        defect = check_history(history, 0, counts)
        assert defect is None, f"call {call}: {defect.reason}"
        if not counts["kills"]:
            break
        kills += 1
        found += call % 2 == 0 and check_with(early, history, 0) is not None
    assert kills > 30, "so many statements, commits and letters"
    assert 0 < found < 10, "only between the note and the letter"


def test_what_is_not_synced_is_lost_and_what_is_synced_stays(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    recorder = Recorder(root)
    with recorder.recording():
        (root / "a").mkdir()
        with (root / "a" / "synced").open("wb", buffering=0) as file:
            file.write(b"content")
            os.fsync(file.fileno())
        (root / "a" / "lost").write_text("content")
        assert recorder.after_crash(len(recorder.calls), ALL_LOST) == {}, "nothing refers to the folder yet"
        for folder in (root, root / "a"):
            descriptor = os.open(folder, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        os.replace(root / "a" / "lost", root / "a" / "renamed")
    left = recorder.after_crash(len(recorder.calls), ALL_LOST)
    assert {path: file and file.data for path, file in left.items()} == {
        "a": None,
        "a/lost": b"",
        "a/synced": b"content",
    }
    assert recorder.after_crash(0, ALL_LOST) == {}
    assert recorder.after_crash(len(recorder.calls), NOTHING_LOST) == read_image(root)
    torn = [recorder.after_crash(len(recorder.calls), Loss("all", "torn", seed)) for seed in range(20)]
    sizes = {len(file.data) for image in torn if (file := image["a/renamed"])}
    assert len(sizes) > 2 and max(sizes) <= len(b"content")


def test_each_planted_fault_changes_names_that_there_are() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        with fault.applied():
            assert fault.changes or fault.unsynced


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("the name of the manifest is not synced", ALL_LOST),
        ("old files are deleted before the commit", NOTHING_LOST),
    ],
)
def test_a_planted_fault_is_found_and_shrunk(name: str, loss: Loss) -> None:
    (fault,) = [fault for fault in FAULTS if fault.name == name]
    steps = tuple(
        Step("load", (Ref(number, 0), Ref(3, 0)), keep=0, trouble=Crash(at, loss))
        for number, at in ((0, 1.0), (1, 0.9), (2, 1.0))
    )
    assert check_history(History(steps), 0) is None
    defect = check_with(fault, History(steps), 0)
    assert defect
    smaller = shrink(defect, lambda history: check_with(fault, history, 0))
    assert len(smaller.history.steps) < 3
    assert check_with(fault, smaller.history, 0) == smaller


@pytest.mark.slow
def test_a_history_is_replayed_by_its_line_and_makes_the_same_calls() -> None:
    histories = [draw_history(seed) for seed in range(50)]
    assert [decode(encode(history)) for history in histories] == histories

    def calls(history: History) -> list[object]:
        with desk() as root:
            run = Run(history, root)
            with simulated(history, run.clock, 1):
                run.run()
            assert run.recorder
            # Tables of checksums have modification times, which are real.
            return [call._replace(modified=0, data=b"") for call in run.recorder.calls]

    history = History((Step("load", (Ref(1, 1),)), Step("deliver", (Ref(2, 1), Ref(1, 0)), settles=True)))
    assert calls(history) == calls(history)


def test_an_index_that_is_not_as_the_model_says_is_told(tmp_path: Path) -> None:
    run = Run(History((Step("load", (Ref(1, 1),)),)), tmp_path.resolve())
    with simulated(run.history, Clock(), 0):
        run.run()
        run.states["backup"] = run.states["index"]
        run.history = History((Step("enrich", trouble=Crash(0.5, NOTHING_LOST)),))
        with pytest.raises(Wrong, match="the backup is in generations"):
            run.run()
