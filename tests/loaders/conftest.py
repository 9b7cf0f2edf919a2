"""Loads bytes in a format, without a file."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from esr.errors import InputError
from esr.loaders import Malformed, ReadOptions, read_documents
from esr.text.document import Document


@pytest.fixture(scope="session")
def load() -> Callable[..., list[Document]]:
    """A function from bytes and a format's name to the documents in them, as from standard input.

    With a list as `bad`, malformed documents are appended to it and reading goes on.
    """

    def load(data: bytes | str, format: str = "auto", bad: list[Malformed] | None = None) -> list[Document]:
        stdin = sys.stdin
        sys.stdin = SimpleNamespace(buffer=io.BytesIO(data.encode() if isinstance(data, str) else data))
        options = ReadOptions(on_malformed=None if bad is None else bad.append)
        try:
            return [located.document for located in read_documents(["-"], format, options)]
        finally:
            sys.stdin = stdin

    return load


@pytest.fixture(scope="session")
def load_error(load: Callable[..., list[Document]]) -> Callable[..., str]:
    """A function from bytes and a format's name to the one-line message that loading them fails with."""

    def error_of(data: bytes | str, format: str = "auto") -> str:
        with pytest.raises(InputError) as error:
            load(data, format)
        assert str(error.value).isprintable()
        return str(error.value)

    return error_of


def texts(document: Document) -> list[str]:
    return [sentence.text for sentence in document.sentences]
