"""The tests' own choice of a place for temporary files."""

from __future__ import annotations

from pathlib import Path

from tests.support.temporary import use_memory


def test_temporary_files_are_in_memory_where_there_is_room(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    use_memory(environment, tmp_path, enough=1)
    assert environment == {"TMPDIR": str(tmp_path)}


def test_they_stay_on_disk_where_memory_is_short_or_missing(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    use_memory(environment, tmp_path, enough=1 << 62)
    use_memory(environment, tmp_path / "none", enough=1)
    assert environment == {}


def test_a_place_that_was_chosen_stays(tmp_path: Path) -> None:
    environment = {"TMPDIR": "/elsewhere"}
    use_memory(environment, tmp_path, enough=1)
    assert environment == {"TMPDIR": "/elsewhere"}
