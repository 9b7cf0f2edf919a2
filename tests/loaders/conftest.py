"""Reading bytes as a format, without a file."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from esr.documents import Document
from esr.loaders import documents


@pytest.fixture(scope="session")
def loaded() -> Callable[..., list[Document]]:
    """A function from bytes and a format's name to the documents in them, as from standard input."""

    def load(data: bytes | str, format: str) -> list[Document]:
        stdin = sys.stdin
        sys.stdin = SimpleNamespace(buffer=io.BytesIO(data.encode() if isinstance(data, str) else data))
        try:
            return [located.document for located in documents(["-"], format)]
        finally:
            sys.stdin = stdin

    return load
