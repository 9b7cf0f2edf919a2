"""An index of the same documents on either engine, for a fixture with `params=ENGINES`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document
from tests.support.elasticsearch import fresh, load

ENGINES = ["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)]


@contextmanager
def open_loaded(
    request: pytest.FixtureRequest, folder: Path, documents: Sequence[Document], **options: Any
) -> Iterator[Searcher]:
    """A searcher on the engine of the fixture's parameter. `options` are those of `load`."""
    with ExitStack() as stack:
        where = str(folder / "index")
        if request.param == "elasticsearch":
            where = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
        load(where, documents, **options)
        yield stack.enter_context(open_searcher(where))
