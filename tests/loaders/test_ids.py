"""Ids of files: the same file has the same id, whatever is named on the command line."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest

from esr.errors import InputError
from esr.loaders import ReadOptions, read_documents


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """t/bb/business with two texts, and t/bb/sport with one."""
    for name in ("business/001", "business/002", "sport/001"):
        path = tmp_path / "t" / "bb" / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"T\nText of {name}.")
    return tmp_path / "t"


def ids(*paths: str | Path, base: str | Path | None = None) -> list[str]:
    options = ReadOptions(base=None if base is None else str(base))
    return [document.id for _, document in read_documents([str(path) for path in paths], options=options)]


@pytest.mark.parametrize(
    ("folder", "named"),
    [
        (".", "t/bb/business"),
        (".", "t/bb/business/"),
        (".", "./t/../t/bb/business"),
        ("t/bb", "business"),
        ("t/bb/business", "."),
        ("t/bb/sport", "../business"),
        ("t/bb/business", "001.txt 002.txt"),
        ("t", "bb"),
        (".", "t"),
        (".", "link"),
        (".", "ABSOLUTE"),
    ],
)
@pytest.mark.parametrize("base", [None, "t"])
def test_a_file_has_the_same_id_from_anywhere(
    collection: Path, monkeypatch: pytest.MonkeyPatch, folder: str, named: str, base: str | None
) -> None:
    (collection.parent / "link").symlink_to(collection / "bb")
    expected = ids(collection / "bb" / "business", base=base and collection)
    assert len(expected) == 2
    monkeypatch.chdir(collection.parent / folder)
    paths = [str(collection)] if named == "ABSOLUTE" else named.split()
    read = ids(*paths, base=base and os.path.relpath(collection))
    assert [id for id in read if "business" in id] == expected


def test_the_default_is_the_full_path_and_a_base_shortens_it(collection: Path) -> None:
    full = os.path.realpath(collection).lstrip("/")
    assert ids(collection / "bb" / "sport") == [f"{full}/bb/sport/001"]
    assert ids(collection / "bb" / "sport", base=collection) == ["bb/sport/001"]
    assert ids(collection / "bb" / "sport" / "001.txt", base=collection / "bb" / "sport") == ["001"]


def test_ids_below_a_base_stay_when_the_collection_moves(collection: Path, tmp_path: Path) -> None:
    before = ids(collection, base=collection)
    shutil.move(collection, tmp_path / "elsewhere")
    assert ids(tmp_path / "elsewhere", base=tmp_path / "elsewhere") == before


def test_a_member_of_an_archive_has_the_id_of_the_unpacked_file(collection: Path) -> None:
    expected = ids(collection / "bb" / "sport")
    with zipfile.ZipFile(collection / "bb" / "sport.zip", "w") as archive:
        archive.write(collection / "bb" / "sport" / "001.txt", "001.txt")
    assert ids(collection / "bb" / "sport.zip") == expected


def test_a_link_to_a_file_has_a_name_of_its_own(collection: Path) -> None:
    (collection / "bb" / "sport" / "linked.txt").symlink_to(collection / "bb" / "business" / "001.txt")
    names = ["bb/sport/001", "bb/sport/linked"]
    assert ids(collection / "bb" / "sport", base=collection) == names
    assert ids(collection / "bb" / "sport") == [
        f"{os.path.realpath(collection)}/{name}"[1:] for name in names
    ]


def test_a_link_out_of_the_base_counts_as_a_folder_of_it(collection: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "far.txt").write_text("T\nFar.")
    (collection / "bb" / "world").symlink_to(tmp_path / "disk")
    assert ids(collection / "bb" / "world", base=collection) == ["bb/world/far"]


def test_a_file_outside_of_the_base_is_an_error(collection: Path) -> None:
    with pytest.raises(InputError, match=r"001\.txt: is not in the folder of --base, .*/sport"):
        ids(collection / "bb" / "business", base=collection / "bb" / "sport")
    with pytest.raises(InputError, match="there is no such folder for --base"):
        ids(collection, base=collection / "none")
