"""The page over an index in memory, and a client to ask it."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from esr.ranking.searcher import Searcher
from tests.webui.fake_index import FLOOD, STORM, FakeIndex
from webui.app import create_app


@pytest.fixture
def index() -> FakeIndex:
    return FakeIndex(STORM, FLOOD)


@pytest.fixture
def client(index: FakeIndex) -> FlaskClient:
    return create_app(Searcher(index)).test_client()
