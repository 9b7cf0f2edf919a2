"""Reading bytes as a format, without a file."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from esr.documents import Document
from esr.errors import InputError
from esr.loaders import Malformed, Reading, documents


@pytest.fixture(scope="session")
def loaded() -> Callable[..., list[Document]]:
    """A function from bytes and a format's name to the documents in them, as from standard input.

    With a list as `bad`, what is malformed goes there and reading goes on.
    """

    def load(data: bytes | str, format: str = "auto", bad: list[Malformed] | None = None) -> list[Document]:
        stdin = sys.stdin
        sys.stdin = SimpleNamespace(buffer=io.BytesIO(data.encode() if isinstance(data, str) else data))
        reading = Reading(set_aside=None if bad is None else bad.append)
        try:
            return [located.document for located in documents(["-"], format, reading)]
        finally:
            sys.stdin = stdin

    return load


@pytest.fixture(scope="session")
def refused(loaded: Callable[..., list[Document]]) -> Callable[..., str]:
    """A function from bytes and a format's name to the one line they are refused with."""

    def refuse(data: bytes | str, format: str = "auto") -> str:
        with pytest.raises(InputError) as error:
            loaded(data, format)
        assert str(error.value).isprintable()
        return str(error.value)

    return refuse


def texts(document: Document) -> list[str]:
    return [sentence.text for sentence in document.sentences]
