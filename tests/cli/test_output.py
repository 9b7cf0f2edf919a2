from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from esr.cli.output import check_output, open_output
from esr.errors import EsrError, UsageError


def write(output: Path | str, *inputs: Path) -> None:
    with open_output(output, *inputs) as file:
        file.write("whole\n")


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with open_output(out) as file:
        file.write("half")
        assert not out.exists()
    assert out.read_text() == "half"
    assert os.listdir(tmp_path) == ["out"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("before")
    with pytest.raises(KeyError), open_output(out):
        raise KeyError
    assert out.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_of_a_similar_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out.new").write_text("mine")
    write(tmp_path / "out")
    assert (tmp_path / "out.new").read_text() == "mine"


@pytest.mark.parametrize("name", ["in", "link"])
def test_an_input_is_never_overwritten(tmp_path: Path, name: str) -> None:
    source = tmp_path / "in"
    source.write_text("mine")
    (tmp_path / "link").symlink_to(source)
    with pytest.raises(UsageError, match="is an input of this command"):
        write(tmp_path / name, source)
    assert source.read_text() == "mine"


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "whole\n"


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(pipe)
        assert os.read(reader, 100) == b"whole\n"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_full_device_is_one_line() -> None:
    with pytest.raises(EsrError, match="cannot write /dev/full: No space left"):
        write("/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_missing_folder_is_reported_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(EsrError, match="create the folder"):
        check_output(tmp_path / "no" / "out")
