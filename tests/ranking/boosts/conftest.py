"""A small collection whose terms begin alike, and whose sentences have features."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import ParseWord, Sentence
from tests.support.folder_index import append, document, load

NEWS = [
    document(
        "a",
        Sentence("a0", "migration policy bank", {"pers": 2, "numbers": 0}, (ParseWord("policy", -1),)),
        Sentence("a1", "migrants vote", {"pers": 0, "numbers": 3}),
        Sentence("a2", "migration court"),
    ),
    document("b", "migrations migrating migraine", "bank bank vote", "migrationist"),
]


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    """In two segments."""
    load(tmp_path / "index", NEWS)
    append(tmp_path / "index", document("c", "migratory birds", "migration22 bank"))
    with open_searcher(str(tmp_path / "index")) as opened_searcher:
        yield opened_searcher
