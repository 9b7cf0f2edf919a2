"""What `esr sync` has fetched is on disk before it is remembered."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from esr.loaders.fetching import read_state, write_file, write_state
from tests.simulation.file_system import ENTRIES, Loss, Recorder, read_image


class Fetched(msgspec.Struct):
    """The names of the files that were fetched."""

    names: list[str] = []


@pytest.mark.parametrize("folder", [".", "bucket/day"])
def test_a_file_that_is_remembered_is_there_after_a_power_failure(tmp_path: Path, folder: str) -> None:
    root = tmp_path.resolve()
    recorder = Recorder(root)
    source = root / "source"
    with recorder.recording():
        names: list[str] = []
        for number in range(3):
            path = source / folder / f"{number}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, [b"news"])
            names.append(str(path.relative_to(source)))
            write_state(source, Fetched(names), 0)
    images = [
        recorder.after_crash(count, Loss(entries, "none", seed))
        for count in range(len(recorder.calls) + 1)
        for entries in ENTRIES
        for seed in range(3)
    ]
    remembered = 0
    for image in {repr(image): image for image in images}.values():
        recorder.start(image)
        files = {path.removeprefix("source/"): file and file.data for path, file in read_image(root).items()}
        if ".state.json" in files:
            found = read_state(source, Fetched).names
            assert all(files.get(name) == b"news" for name in found), (found, files)
            remembered = max(remembered, len(found))
    assert remembered == 3
