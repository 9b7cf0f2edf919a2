"""

What is known of sources before they are read.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from esr.errors import InputError
from esr.loaders import ReadOptions, read_documents
from esr.loaders.files import FileFilter, count_text_bytes

FILES = ("a.json", "b.JSON", "drafts/a.json", "new/drafts/c.json", "new/d.json", "new/deep/e.txt")


@pytest.mark.parametrize(
    ("include", "exclude", "accepted"),
    [
        ((), (), FILES),
        (("*.json",), (), ("a.json", "drafts/a.json", "new/drafts/c.json", "new/d.json")),
        (("*.txt", "b.*"), (), ("b.JSON", "new/deep/e.txt")),
        ((), ("drafts",), ("a.json", "b.JSON", "new/d.json", "new/deep/e.txt")),
        (("new",), ("drafts/",), ("new/d.json", "new/deep/e.txt")),
        ((), ("new/drafts",), ("a.json", "b.JSON", "drafts/a.json", "new/d.json", "new/deep/e.txt")),
        (("new/*.json",), (), ("new/drafts/c.json", "new/d.json")),
        (("./new/d*",), (), ("new/drafts/c.json", "new/d.json", "new/deep/e.txt")),
        (("/a.json",), (), ("a.json",)),
        (("?.json",), ("[ab].json",), ("new/drafts/c.json", "new/d.json")),
        (("none",), (), ()),
    ],
)
def test_patterns_are_for_names_and_paths_of_files_and_folders(include, exclude, accepted):
    assert tuple(filter(FileFilter(include, exclude).accepts, FILES)) == accepted


@pytest.fixture
def ids(tmp_path):
    """A function from patterns to the ids of the documents in a folder with an archive in it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("p.json", "drafts/q.json"):
            archive.writestr(name, f'{{"id": "{name}"}}')
    for name, content in {
        "x.json": b'{"id": "x"}',
        "drafts/y.json": b'{"id": "y"}',
        "z.zip": packed.getvalue(),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)

    def ids(*patterns, exclude=(), path=tmp_path):
        options = ReadOptions(files=FileFilter(patterns, exclude))
        return [located.document.id for located in read_documents([str(path)], options=options)]

    return ids


def test_files_of_folders_and_archives_are_chosen(ids, tmp_path):
    assert ids() == ["y", "x", "p.json", "drafts/q.json"]
    assert ids(exclude=("drafts",)) == ["x", "p.json"]
    assert ids("*.json") == ["y", "x"]
    assert ids("*.json", "*.zip", exclude=("y.*",)) == ["x", "p.json", "drafts/q.json"]
    assert ids("drafts/*", path=tmp_path / "z.zip") == ["drafts/q.json"]
    assert ids("none", path=tmp_path / "x.json") == ["x"]


def test_patterns_that_let_no_file_through_are_an_error(ids, tmp_path):
    for path, kind in ((tmp_path, "folder"), (tmp_path / "z.zip", "archive")):
        with pytest.raises(InputError, match=rf"that --include and --exclude let through in this {kind}"):
            ids("*.xml", path=path)


def test_a_folder_that_cannot_be_read_stops_only_a_load_without_bad_documents(tmp_path, monkeypatch):
    for name in ("a/x.json", "b/y.json", "c/z.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(f'{{"id": "{name}"}}')
    scandir = os.scandir

    def scan(path):
        if str(path).endswith("b"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    with pytest.raises(InputError, match="/b: cannot be read: Permission denied"):
        list(read_documents([str(tmp_path)]))
    bad = []
    documents = list(read_documents([str(tmp_path)], options=ReadOptions(on_malformed=bad.append)))
    assert [located.document.id for located in documents] == ["a/x.json", "c/z.json"]
    assert [(b.where, b.problem) for b in bad] == [(f"{tmp_path}/b", "cannot be read: Permission denied")]


def test_only_files_of_text_are_counted(tmp_path: Path) -> None:
    """Of markup, of packed files and of standard input, nobody knows how much text is in them."""
    for name in ("a.jsonl", "b.txt", "c.html", "d.jsonl.gz"):
        (tmp_path / name).write_text("12345")
    (tmp_path / "folder.jsonl").mkdir()
    assert count_text_bytes([*map(str, tmp_path.iterdir()), "-", str(tmp_path / "none.txt")]) == 10
