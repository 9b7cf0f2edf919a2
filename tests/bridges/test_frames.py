"""Tables of pandas and polars become documents, and hits become tables."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import esr
from tests.support.needed import need

ROWS = {
    "id": ["a", "b", "c"],
    "title": ["Floods in the north", None, "Strike"],
    "text": ["Rivers rose on Monday. Two towns were cut off.", "Towns clean up.", "The harbour is closed."],
    "date": [datetime(2024, 3, 5), datetime(2024, 3, 6, 12, 30), None],
    "authors": [["Ann Lee", "Bo Roe"], [], ["Cy Doe"]],
    "pages": [3.0, None, 1.0],
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_becomes_an_index_and_hits_become_a_table(library: str, tmp_path: Path) -> None:
    table: Any = need(library).DataFrame(ROWS)
    with esr.create(tmp_path / "index", table) as index:
        documents = {document.id: document for document in index.documents()}
        assert documents["a"].date == "2024-03-05T00:00:00"
        assert documents["a"].authors == ("Ann Lee", "Bo Roe")
        assert dict(documents["a"].metadata) == {"pages": 3.0}
        assert (documents["b"].title, documents["b"].authors) == (None, ())
        assert dict(documents["b"].metadata) == {}
        assert documents["c"].date is None
        hits = index.search("towns")
        found = getattr(hits, f"to_{library}")()
        assert type(found) is need(library).DataFrame
        assert [*found.columns][:6] == ["rank", "score", "id", "document_id", "position", "text"]
        assert [*found["id"]] == [hit.id for hit in hits] == ["b.s0", "a.s1", "a.s0"]
        assert [*found["score"]] == [hit.score for hit in hits]
        assert [len(authors) for authors in found["authors"]] == [0, 2, 2]
        nothing = getattr(index.search("harbour", before="1990"), f"to_{library}")()
        assert [*nothing.columns] == [*found.columns]
        assert len(nothing) == 0
        given = {"id": "d", "text": "Towns count the damage."}
        assert index.append(need(library).DataFrame([given])).added == 1
        assert [hit.id for hit in index.search("damage towns", 1)] == ["d.s0"]
