"""A small corpus of quotations, on either engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import esr
from tests.support.elasticsearch import fresh, load
from tests.support.index_contents import ENGINES
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
    with ExitStack() as stack:
        if request.param == "embedded":
            where = request.getfixturevalue("folder")
        else:
            where = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
            load(where, make_documents())
        yield stack.enter_context(esr.open(where))
