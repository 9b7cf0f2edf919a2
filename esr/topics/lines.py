"""Lines of text files, numbered for messages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from esr.errors import InputError
from esr.loaders.encoding import read_lines as read_utf8_lines
from esr.loaders.files import display_name, open_source, raise_input_errors

_MAX_CHARACTERS = 60


class Line(NamedTuple):
    """A line of a file, and its number from 1."""

    number: int
    text: str


def read_lines(path: str | Path) -> Iterator[Line]:
    """Read the lines that are not blank, lazily. `-` is standard input.

    Raises InputError for a file that cannot be read or decompressed, and at a line that is not UTF-8 text.
    """
    name = display_name(os.fspath(path))
    with raise_input_errors(name), open_source(os.fspath(path), os.path.basename(path)) as file:
        for number, text in read_utf8_lines(file.source):
            if "\0" in text:
                raise InputError(f"{name}:{number}", "this line contains a zero byte: it is not text")
            if text.strip():
                yield Line(number, text)


def malformed_line(path: str | Path, line: Line, expected: str) -> InputError:
    """An error for a line that does not have the expected form."""
    text = line.text.strip()
    excerpt = text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
    return line_error(path, line, f"expected {expected}, found {excerpt!r}")


def line_error(path: str | Path, line: Line, problem: str) -> InputError:
    """An error at a line of a file."""
    return InputError(f"{display_name(os.fspath(path))}:{line.number}", problem)


def parse_pair(path: str | Path, line: Line, expected: str) -> tuple[str, str]:
    """The two columns of an `id<TAB>value` line. The value may be empty.

    Raises InputError if there is no tab, or if the id is not one word.
    """
    key, tab, value = line.text.partition("\t")
    key, value = key.strip(), value.strip()
    if not tab or len(key.split()) != 1:
        raise malformed_line(path, line, expected)
    return key, value
