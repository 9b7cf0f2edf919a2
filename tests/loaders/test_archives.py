import io
import os
import stat
import tarfile
import zipfile

import pytest

from esr.errors import InputError
from esr.loaders import Reading, documents
from tests.loaders.samples import packed, sample


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
def test_an_archive_is_known_by_its_first_bytes_and_its_members_by_their_names(loaded, kind):
    ids = [document.id for document in loaded(packed(kind))]
    assert ids == ["j1", "j2", "j3", "AP-1", "AFP_ENG_19940512.0001", "XIE19990101.0002"]


@pytest.mark.parametrize("pack", PACKERS)
def test_members_are_read_in_their_order_hidden_and_strange_ones_passed_over(loaded, pack):
    data = pack(
        {
            "b.jsonl": jsonl("b"),
            "a.jsonl": jsonl("a"),
            ".hidden.jsonl": b"{",
            "__MACOSX/x.jsonl": b"{",
            "picture.png": b"\x89PNG",
        }
    )
    assert [d.id for d in loaded(data)] == ["b", "a"]


@pytest.mark.parametrize("pack", PACKERS)
def test_a_member_that_climbs_out_is_read_and_nothing_is_written(pack, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.bin").write_bytes(
        pack({"../up.jsonl": jsonl("up"), "/root.jsonl": jsonl("root"), "..\\..\\c.txt": b"T\nText."})
    )
    monkeypatch.chdir(tmp_path / "in")
    found = list(documents(["x.bin"]))
    assert [f.document.id for f in found] == ["up", "root", "x.bin/c"]
    assert [f.where for f in found] == ["x.bin/up.jsonl:1", "x.bin/root.jsonl:1", "x.bin/c.txt"]
    assert [p.name for p in tmp_path.rglob("*")] == ["in", "x.bin"]
    assert not os.path.exists("/root.jsonl")


@pytest.mark.parametrize("type", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_a_tar_are_passed_over(loaded, type):
    link = tarred({"l.jsonl": b""}, type=type, linkname="/etc/passwd")
    data = link[:512] + tarred({"a.jsonl": jsonl("a")})
    assert [d.id for d in loaded(data)] == ["a"]


def test_a_link_in_a_zip_is_read_as_what_it_holds_and_not_followed(refused):
    info = zipfile.ZipInfo("l.jsonl")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert "l.jsonl:1: broken JSON" in refused(zipped({info: b"/etc/passwd"}))


@pytest.mark.parametrize("pack", PACKERS)
def test_an_archive_in_an_archive_is_read_but_not_without_end(loaded, refused, pack):
    data = jsonl("a")
    name = "a.jsonl"
    for _ in range(3):
        data, name = pack({name: data}), "x.bin"
    assert [d.id for d in loaded(data)] == ["a"]
    assert "lies in 3 archives, one in the other" in refused(pack({"x.bin": data}))


@pytest.mark.parametrize("pack", PACKERS)
def test_a_bad_member_is_left_out_and_those_after_it_are_read(loaded, refused, pack):
    data = pack({"a.jsonl": jsonl("a"), "b.jsonl": jsonl("b") + b"\xff\n", "c.jsonl": jsonl("c")})
    assert "b.jsonl:2: this line is not UTF-8" in refused(data)
    bad = []
    assert [d.id for d in loaded(data, bad=bad)] == ["a", "b", "c"]
    assert len(bad) == 1 and "what follows in this file is left out" in bad[0].problem


@pytest.mark.parametrize("pack", PACKERS)
def test_an_archive_without_a_loadable_file_is_refused(refused, pack):
    assert "there is no file of a known format" in refused(pack({"picture.png": b"\x89PNG"}))
    assert "there is no trec file in this archive" in refused(pack({"a.jsonl": jsonl("a")}), "trec")


def test_an_encrypted_member_is_refused(refused):
    data = bytearray(zipped({"a.jsonl": jsonl("a")}))
    for start in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[start] |= 1
    assert "is encrypted" in refused(bytes(data))


def test_a_name_of_a_megabyte_is_refused(refused):
    assert "a header of more than 1 MiB" in refused(tarred({"a/" * 600_000 + "x.jsonl": jsonl("a")}))


def test_a_spoilt_header_is_not_the_end_of_a_tar(refused):
    data = bytearray(tarred({"a.jsonl": jsonl("a"), "b.jsonl": jsonl("b")}))
    data[1024 + 10] ^= 1
    assert "spoilt header" in refused(bytes(data))


def test_a_folder_of_archives_and_packed_files_is_read(tmp_path):
    (tmp_path / "a.zip").write_bytes(zipped({"a.jsonl": jsonl("a")}))
    (tmp_path / "b.tar").write_bytes(tarred({"b.txt": b"T\nText."}))
    (tmp_path / "c.jsonl.zst").write_bytes(packed("zst"))
    found = [located.document.id for located in documents([os.fspath(tmp_path)])]
    assert found == ["a", "b/b", "j1", "j2", "j3"]


def test_members_are_not_unpacked_before_they_are_asked_for(tmp_path):
    (tmp_path / "x.zip").write_bytes(zipped({"a.jsonl": jsonl("a"), "b.jsonl": b"{"}))
    found = documents([os.fspath(tmp_path / "x.zip")])
    assert next(found).document.id == "a"
    with pytest.raises(InputError):
        next(found)


def test_parquet_and_pages_are_read_out_of_archives(loaded):
    data = zipped({"a.parquet": sample("parquet"), "b.html": sample("html")})
    assert [d.id for d in loaded(data)] == ["p1", "p2", "stdin/b"]


def test_a_mapping_that_an_archive_lacks_is_said_for_its_member(tmp_path):
    (tmp_path / "x.zip").write_bytes(zipped({"a.csv": b"id,body\n1,x\n"}))
    reading = Reading(mapping={"text": "words"})
    with pytest.raises(InputError, match=r"x\.zip/a\.csv:2: there is no column 'words'"):
        list(documents([os.fspath(tmp_path / "x.zip")], reading=reading))
