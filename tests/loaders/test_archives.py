"""What is known of sources before they are read."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.errors import InputError
from esr.loaders import ReadOptions, files, read_documents
from esr.loaders.files import Budget, ExpansionError, FileFilter, Limits, count_text_bytes, iterate_files
from tests.support.samples import packed, sample


def jsonl(id: str) -> bytes:
    return f'{{"id": "{id}", "text": "Some text."}}\n'.encode()


def zipped(members: dict[str, bytes], **options) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(members: dict[str, bytes], **attributes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in attributes.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


PACKERS = [zipped, tarred]


@pytest.mark.parametrize("kind", ["zip", "tar", "tgz"])
def test_archives_are_recognised_by_their_first_bytes_and_members_by_their_names(load, kind):
    ids = [document.id for document in load(packed(kind))]
    assert ids == ["j1", "j2", "j3", "AP-1", "AFP_ENG_19940512.0001", "XIE19990101.0002"]


@pytest.mark.parametrize("pack", PACKERS)
def test_members_are_read_in_order_and_hidden_or_unknown_ones_skipped(load, pack):
    data = pack(
        {
            "b.jsonl": jsonl("b"),
            "a.jsonl": jsonl("a"),
            ".hidden.jsonl": b"{",
            "__MACOSX/x.jsonl": b"{",
            "picture.png": b"\x89PNG",
        }
    )
    assert [d.id for d in load(data)] == ["b", "a"]


@pytest.mark.parametrize("pack", PACKERS)
def test_a_member_with_a_path_outside_the_archive_is_read_and_nothing_is_written(pack, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.bin").write_bytes(
        pack({"../up.jsonl": jsonl("up"), "/root.jsonl": jsonl("root"), "..\\..\\c.txt": b"T\nText."})
    )
    monkeypatch.chdir(tmp_path / "in")
    documents = list(read_documents(["x.bin"], options=ReadOptions(base=".")))
    assert [f.document.id for f in documents] == ["up", "root", "x.bin/c"]
    assert [f.where for f in documents] == ["x.bin/up.jsonl:1", "x.bin/root.jsonl:1", "x.bin/c.txt"]
    assert [p.name for p in tmp_path.rglob("*")] == ["in", "x.bin"]
    assert not os.path.exists("/root.jsonl")


@pytest.mark.parametrize("type", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_a_tar_are_skipped(load, type):
    link = tarred({"l.jsonl": b""}, type=type, linkname="/etc/passwd")
    data = link[:512] + tarred({"a.jsonl": jsonl("a")})
    assert [d.id for d in load(data)] == ["a"]


def test_a_link_in_a_zip_is_read_as_text_and_not_followed(load_error):
    info = zipfile.ZipInfo("l.jsonl")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert "l.jsonl:1: broken JSON" in load_error(zipped({info: b"/etc/passwd"}))


def test_a_member_of_a_zip_without_a_name_is_left_out(load):
    data = zipped({"Q": jsonl("b"), "a.jsonl": jsonl("a")}).replace(b"Q", b"\0")  # where names are cut
    assert [document.id for document in load(data)] == ["a"]


def test_a_zip_with_a_name_that_is_no_text_is_corrupt(load_error):
    data = bytearray(zipped({"ä.jsonl": jsonl("a")}))  # a name beyond ASCII is marked as UTF-8
    local_name = data.index("ä.jsonl".encode())
    data[local_name] = 0x98
    assert "cannot be unpacked" in load_error(bytes(data))


@pytest.mark.parametrize("pack", PACKERS)
def test_nested_archives_are_read_to_a_limited_depth(load, load_error, pack):
    data = jsonl("a")
    name = "a.jsonl"
    for _ in range(3):
        data, name = pack({name: data}), "x.bin"
    assert [d.id for d in load(data)] == ["a"]
    assert "is nested in 3 archives" in load_error(pack({"x.bin": data}))


@pytest.mark.parametrize("pack", PACKERS)
def test_a_malformed_member_is_skipped_and_later_ones_are_read(load, load_error, pack):
    data = pack({"a.jsonl": jsonl("a"), "b.jsonl": jsonl("b") + b"\xff\n", "c.jsonl": jsonl("c")})
    assert "b.jsonl:2: this line is not UTF-8" in load_error(data)
    bad = []
    assert [d.id for d in load(data, bad=bad)] == ["a", "b", "c"]
    assert len(bad) == 1 and "the rest of this file is skipped" in bad[0].problem


@pytest.mark.parametrize("pack", PACKERS)
def test_an_archive_without_a_loadable_file_is_rejected(load_error, pack):
    assert "there is no file of a known format" in load_error(pack({"picture.png": b"\x89PNG"}))
    assert "there is no trec file in this archive" in load_error(pack({"a.jsonl": jsonl("a")}), "trec")


def test_an_encrypted_member_is_rejected(load_error):
    data = bytearray(zipped({"a.jsonl": jsonl("a")}))
    for start in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[start] |= 1
    assert "is encrypted" in load_error(bytes(data))


def test_a_member_name_of_a_megabyte_is_rejected(load_error):
    assert "a header is longer than 1 MiB" in load_error(tarred({"a/" * 600_000 + "x.jsonl": jsonl("a")}))


def test_a_corrupt_header_is_not_the_end_of_a_tar(load_error):
    data = bytearray(tarred({"a.jsonl": jsonl("a"), "b.jsonl": jsonl("b")}))
    data[1024 + 10] ^= 1
    assert "corrupt header" in load_error(bytes(data))


@pytest.mark.parametrize("end", [1024, 1024 + 100, 1024 + 512, 1024 + 512 + 10])
def test_a_tar_that_was_cut_off_anywhere_even_between_two_members_is_an_error(load, load_error, end):
    data = tarred({"a.jsonl": jsonl("a"), "b.jsonl": jsonl("b")})
    assert "it may be truncated" in load_error(data[:end])
    bad = []
    assert load(data[:end], bad=bad)[0].id == "a" and len(bad) == 1
    assert [d.id for d in load(data[: 2048 + 512])] == ["a", "b"]  # one block of zeros is an end


def test_a_folder_of_archives_and_packed_files_is_read(tmp_path):
    (tmp_path / "a.zip").write_bytes(zipped({"a.jsonl": jsonl("a")}))
    (tmp_path / "b.tar").write_bytes(tarred({"b.txt": b"T\nText."}))
    (tmp_path / "c.jsonl.zst").write_bytes(packed("zst"))
    options = ReadOptions(base=os.fspath(tmp_path))
    ids = [located.document.id for located in read_documents([os.fspath(tmp_path)], options=options)]
    assert ids == ["a", "b/b", "j1", "j2", "j3"]


def test_members_are_unpacked_lazily(tmp_path):
    (tmp_path / "x.zip").write_bytes(zipped({"a.jsonl": jsonl("a"), "b.jsonl": b"{"}))
    documents = read_documents([os.fspath(tmp_path / "x.zip")])
    assert next(documents).document.id == "a"
    with pytest.raises(InputError):
        next(documents)


def test_parquet_and_pages_are_read_from_archives(load):
    data = zipped({"a.parquet": sample("parquet"), "b.html": sample("html")})
    assert [d.id for d in load(data)] == ["p1", "p2", "stdin/b"]


def test_a_missing_mapped_column_names_the_archive_member(tmp_path):
    (tmp_path / "x.zip").write_bytes(zipped({"a.csv": b"id,body\n1,x\n"}))
    options = ReadOptions(mapping={"text": "words"})
    with pytest.raises(InputError, match=r"x\.zip/a\.csv:2: there is no column 'words'"):
        list(read_documents([os.fspath(tmp_path / "x.zip")], options=options))


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


def test_a_folder_that_vanishes_while_files_are_listed_is_reported(tmp_path: Path) -> None:
    def remove_b_after_the_first(listed: Iterator[str]) -> list[str]:
        for name in "abc":
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "1.txt").touch()
        first = next(listed)
        shutil.rmtree(tmp_path / "b")
        return [first, *listed]

    problems: list[InputError] = []
    listed = iterate_files(str(tmp_path), on_error=problems.append)
    assert remove_b_after_the_first(listed) == ["a/1.txt", "c/1.txt"]
    assert [problem.problem for problem in problems] == ["cannot be read: No such file or directory"]
    with pytest.raises(InputError, match="b: cannot be read: No such file"):
        remove_b_after_the_first(iterate_files(str(tmp_path)))


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


GOOD = b'{"id": "a", "text": "Some text."}\n'
FREE_BYTES = 2**20
# The loader skips blank lines, so only the decompressor can notice that there are too many.
BLANKS = (b" " * 1023 + b"\n") * (FREE_BYTES // 1024 + 200)


@pytest.fixture
def small(monkeypatch):
    """Bombs of one MiB, because 64 take too long."""
    monkeypatch.setattr(files, "FREE_BYTES", FREE_BYTES)


def zst(data: bytes) -> bytes:
    from backports import zstd

    return zstd.compress(data)


BOMBS = {
    "gz": lambda: gzip.compress(GOOD + BLANKS),
    "zst": lambda: zst(GOOD + BLANKS),
    "zip": lambda: zipped({"a.jsonl": GOOD + BLANKS}, compression=8),
    "zip of many": lambda: zipped(
        {f"{n}.jsonl": GOOD + BLANKS[: FREE_BYTES // 8] for n in range(9)}, compression=8
    ),
    "tgz": lambda: gzip.compress(tarred({"a.jsonl": GOOD + BLANKS})),
    "gz in zip": lambda: zipped({"a.jsonl.gz": gzip.compress(GOOD + BLANKS)}),
    "zip in tar": lambda: tarred({"a.zip": zipped({"a.jsonl": GOOD + 9 * BLANKS}, compression=8)}),
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", BOMBS)
def test_a_zip_bomb_is_rejected_and_the_message_names_the_option(kind, tmp_path):
    (tmp_path / "bomb").write_bytes(BOMBS[kind]())
    path = os.fspath(tmp_path / "bomb")
    with pytest.raises(InputError, match=r"like a zip bomb.*--max-expansion"):
        list(read_documents([path]))
    allowed = list(read_documents([path], options=ReadOptions(limits=Limits(expansion=100_000))))
    assert {located.document.id for located in allowed} == {"a"}


@pytest.mark.usefixtures("small")
def test_a_zip_bomb_also_stops_reading_that_tolerates_malformed_documents(load):
    bad = []
    (document,) = load(BOMBS["gz"](), bad=bad)
    assert document.id == "a"
    assert len(bad) == 1 and "like a zip bomb" in bad[0].problem


@pytest.mark.usefixtures("small")
def test_a_member_that_is_shorter_than_its_archive_says_is_reported(load_error):
    data = bytearray(zipped({"a.jsonl": jsonl("a")}))
    sizes = data.index(b"PK\x01\x02") + 20
    data[sizes : sizes + 8] = b"\xf0\xff\xff\xff" * 2
    # Some versions of Python see that it would reach into the directory.
    assert re.search(r"cannot be unpacked \((it ends too early|Overlapped entries)", load_error(bytes(data)))


def test_the_unpacked_size_has_its_own_limit():
    budget = Budget("x", Limits(unpacked=10))
    budget.spend(10)
    with pytest.raises(ExpansionError, match=r"x: unpacks to more than .* GiB: .*--max-unpacked"):
        budget.spend(1)


@pytest.mark.usefixtures("small")
def test_below_a_size_no_ratio_is_suspicious():
    budget = Budget("x", Limits())
    budget.packed = 1
    budget.spend(FREE_BYTES)
    with pytest.raises(ExpansionError):
        budget.spend(1)


@pytest.mark.usefixtures("small")
def test_an_uncompressed_file_may_have_any_size(load):
    assert len(load(GOOD + BLANKS)) == 1
