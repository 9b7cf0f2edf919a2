import io
import os
import stat
import tarfile
import zipfile

import pytest

from esr.errors import InputError
from esr.loaders import ReadOptions, read_documents
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
