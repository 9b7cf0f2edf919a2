"""Lists of passages: how many hits are read until a list has the passages that are asked for."""

from __future__ import annotations

from pathlib import Path

import esr
from esr.text.document import Document
from tests.support.elasticsearch import document, load

SHORT = [
    document(f"short{number}", f"The flood was mentioned here by chance, {number}.") for number in range(12)
]


def list_documents(where: Path, *documents: Document, **options: bool | int) -> list[list[str]]:
    """The ids of the documents of two pages of hits."""
    load(str(where), [*documents, *SHORT])
    with esr.open(where) as index:
        pages = (index.search("flood", 6, offset=offset, model="dir", **options) for offset in (0, 6))
        return [[hit.document_id for hit in page] for page in pages]


def test_a_limit_for_each_document_leaves_room_for_documents_behind_a_long_one(tmp_path: Path) -> None:
    first, second = list_documents(
        tmp_path, document("long", *(f"Flood, flood {number}." for number in range(700))), per_document=1
    )
    assert [*first, *second] == ["long", *(made.id for made in SHORT[:11])]


def test_a_folded_list_goes_on_behind_many_repeats(tmp_path: Path) -> None:
    copies = (document(f"copy{number}", "A flood, a flood.") for number in range(700))
    first, second = list_documents(tmp_path, *copies, fold=True, overlap=1.0)
    assert [*first, *second] == ["copy0", *(made.id for made in SHORT[:11])]
