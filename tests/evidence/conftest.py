"""A small corpus of quotations, on either engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import esr
from tests.support.elasticsearch import load
from tests.support.index_contents import ENGINES, open_corpus
from tests.support.quoted_corpus import make_documents


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The corpus as an index folder, which no test changes."""
    where = str(tmp_path_factory.mktemp("evidence") / "index")
    load(where, make_documents())
    return where


@pytest.fixture(scope="module", params=ENGINES)
def index(request: pytest.FixtureRequest) -> Iterator[esr.Index]:
    """The corpus on each engine, which no test changes."""
    with open_corpus(request, lambda where: load(where, make_documents())) as opened:
        yield opened
