import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from esr.errors import EsrError, InputError
from esr.evaluation.reproduce.unpack import unpack
from tests.evaluation.reproduce.miniature import pack


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "a.tar.gz"
    pack(path, {"b/one.txt": b"one", "a.txt": b"caf\xe9", "u.txt": "café".encode(), "b/._one.txt": b"hidden"})
    return path


def test_files_are_unpacked_in_order_as_utf8(archive, tmp_path):
    assert unpack(archive, tmp_path / "out") == [Path("a.txt"), Path("b/one.txt"), Path("u.txt")]
    assert (
        (tmp_path / "out/a.txt").read_text("utf-8") == (tmp_path / "out/u.txt").read_text("utf-8") == "café"
    )


@pytest.mark.parametrize("name", ["../outside.txt", "a/../../outside.txt", "/tmp/esr-outside.txt", "..\\x"])
def test_a_path_outside_of_the_folder_is_rejected_and_nothing_remains(tmp_path, name):
    pack(tmp_path / "a.tar.gz", {"good.txt": b"good", name: b"bad"})
    with pytest.raises(InputError, match="is a path outside of the folder"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out" / "here")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.tar.gz"]
    assert not Path("/tmp/esr-outside.txt").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_rejected(tmp_path, kind):
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        pack_file = tarfile.TarInfo("a")
        tar.addfile(pack_file, io.BytesIO())
        info = tarfile.TarInfo("link")
        info.type, info.linkname = kind, "a"
        tar.addfile(info)
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(plain.getvalue()))
    with pytest.raises(InputError, match="'link' is a link or a device"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out")


def test_unpacked_files_are_reused_until_the_archive_changes(archive, tmp_path):
    unpack(archive, tmp_path / "out")
    (tmp_path / "out/a.txt").write_text("reused")
    unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/a.txt").read_text() == "reused"
    pack(archive, {"a.txt": b"new"})
    os.utime(archive, ns=(1, 1))
    assert unpack(archive, tmp_path / "out") == [Path("a.txt")]
    assert (tmp_path / "out/a.txt").read_text() == "new"


def test_a_truncated_archive_leaves_nothing_behind(archive, tmp_path):
    archive.write_bytes(archive.read_bytes()[:-40])
    with pytest.raises(InputError, match="may be truncated"):
        unpack(archive, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar.gz"]


def test_an_archive_that_unpacks_to_too_many_bytes_is_rejected(tmp_path):
    pack(tmp_path / "a.tar.gz", {"a": b"0" * 1000, "b": b"0" * 1000})
    with pytest.raises(InputError, match="more than 1,500 bytes"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out", max_bytes=1500)


def test_a_folder_that_esr_did_not_create_is_not_removed(archive, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(EsrError, match="esr did not create it"):
        unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/mine.txt").read_text() == "mine"
