"""The application over an index in memory, and clients for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from esr.ranking.searcher import Searcher, open_searcher
from tests.support import page_corpus as corpus
from tests.support.fake_index import FLOOD, STORM, FakeIndex
from webui.app import create_app
from webui.running.settings import Settings


@pytest.fixture
def index() -> FakeIndex:
    return FakeIndex(STORM, FLOOD)


@pytest.fixture
def client(index: FakeIndex) -> FlaskClient:
    return create_app(Searcher(index)).test_client()


@pytest.fixture(scope="session")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Over a real index of the example articles, with parses, features and names."""
    where = str(tmp_path_factory.mktemp("webui") / "index")
    corpus.store(where)
    with open_searcher(where) as opened:
        yield opened


@pytest.fixture(scope="session")
def real(searcher: Searcher) -> FlaskClient:
    """A client of the page over it."""
    return create_app(searcher, Settings(access_log=0)).test_client()
