import ast
from pathlib import Path

import numpy as np
import pytest

from esr.folder.format.files import map_array, save_array


@pytest.mark.parametrize("dtype", ["u1", "<u2", "<i4", "<u8", "<f4", "<f8", "?"])
@pytest.mark.parametrize("shape", [(1,), (14,), (3, 5), (2, 3, 4)])
def test_an_array_is_read_as_it_was_written(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = (np.arange(np.prod(shape)) % 2).reshape(shape).astype(dtype)
    save_array(tmp_path / "a.npy", array)
    mapped = map_array(tmp_path / "a.npy")
    assert mapped.dtype == array.dtype
    assert np.array_equal(mapped, array)
    assert np.array_equal(np.load(tmp_path / "a.npy"), array)


def test_an_array_that_is_not_in_the_order_of_its_rows_is_read_as_it_was_written(tmp_path: Path) -> None:
    array = np.arange(15).reshape(3, 5).T
    save_array(tmp_path / "a.npy", array)
    assert np.array_equal(map_array(tmp_path / "a.npy"), array)


def test_an_empty_array_is_read_as_it_was_written(tmp_path: Path) -> None:
    save_array(tmp_path / "a.npy", np.empty((0, 3), np.int32))
    assert map_array(tmp_path / "a.npy").shape == (0, 3)


def test_the_parser_of_python_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python 3.11 it fails when several threads use it, as those of a server do."""
    save_array(tmp_path / "a.npy", np.arange(3))

    def fail(*args: object, **options: object) -> None:
        raise SystemError("AST constructor recursion depth mismatch")

    monkeypatch.setattr(ast, "parse", fail)
    assert map_array(tmp_path / "a.npy").tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "content", [b"", b"no array", b"\x93NUMPY\x01\x00\x10\x00{'descr': '|u1'}", b"\x93NUMPY\x01\x00"]
)
def test_a_damaged_file_is_an_error_of_its_value(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ValueError):
        map_array(tmp_path / "a.npy")


def test_a_file_that_was_cut_off_is_an_error_of_its_value(tmp_path: Path) -> None:
    save_array(tmp_path / "a.npy", np.arange(100))
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content[:-8])
    with pytest.raises(ValueError):
        map_array(tmp_path / "a.npy")
