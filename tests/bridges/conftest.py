"""An index of the example articles with names, that all bridges search."""

from __future__ import annotations

import pytest

from tests.support import page_corpus


@pytest.fixture(scope="session")
def where(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the index. Not to be changed."""
    folder = str(tmp_path_factory.mktemp("bridges") / "index")
    page_corpus.store(folder)
    return folder
