"""The text files of experiments, plain or packed with gzip, and the places in them that messages name."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from gzip import BadGzipFile
from pathlib import Path
from typing import NamedTuple

from esr.errors import InputError
from esr.loaders.opened import name_of, opened
from esr.loaders.utf8 import lines as utf8_lines

_SHOWN = 60


class Line(NamedTuple):
    """A line of a file and its number, from 1."""

    number: int
    text: str


def lines(path: str | Path) -> Iterator[Line]:
    """The lines that are not blank, lazily. `-` is standard input.

    Raises InputError for a file that cannot be read or unpacked, and at a line that is not UTF-8 text.
    """
    name = name_of(os.fspath(path))
    try:
        with opened(os.fspath(path), os.path.basename(path)) as file:
            for number, text in utf8_lines(file.source):
                if "\0" in text:
                    raise InputError(f"{name}:{number}", "this line has a zero byte: it is not text")
                if text.strip():
                    yield Line(number, text)
    except (BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(name, f"cannot be unpacked, is it cut off? ({error})") from None
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror or error}") from None


def malformed(path: str | Path, line: Line, expected: str) -> InputError:
    """An error for a line that is not what it should be."""
    text = line.text.strip()
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return problem(path, line, f"expected {expected}, found {shown!r}")


def problem(path: str | Path, line: Line, what: str) -> InputError:
    """An error at a line of a file."""
    return InputError(f"{name_of(os.fspath(path))}:{line.number}", what)


def pair(path: str | Path, line: Line, expected: str) -> tuple[str, str]:
    """The sides of an `id<TAB>value` line, of which the value may be empty.

    Raises InputError if there is no tab, or the id is not one word.
    """
    key, tab, value = line.text.partition("\t")
    key, value = key.strip(), value.strip()
    if not tab or len(key.split()) != 1:
        raise malformed(path, line, expected)
    return key, value
