"""What is known of a document is stored, exported and shown; a change of it changes the document."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from esr.index.factory import open_delivery
from esr.index.writer import LoadOptions
from esr.loaders import read_documents
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Sentence
from esr.text.validate import to_json_line
from tests.support.elasticsearch import load, located
from tests.support.index_contents import documents

FULL = Document(
    "full",
    (Sentence("full.s0", "A flood came."),),
    title="Flood",
    authors=("Jane Doe", "Olaf Größe"),
    section="World: Asia",
    keywords=("flood", "日本"),
    metadata={
        "desk": {"city": "Berlin", "": [1, 2.50, 10**20, None, True]},
        "odd\0.key..": "x" * 40_000,
        ".": {},
    },
)
PLAIN = Document("plain", (Sentence("plain.s0", "Rain fell."),))


def test_documents_are_stored_as_they_came_and_shown_at_their_sentences(anywhere: str) -> None:
    load(anywhere, [FULL, PLAIN])
    assert documents(anywhere) == [FULL, PLAIN]
    with open_searcher(anywhere) as searcher:
        full, plain = searcher.index.sentences(["full.s0", "plain.s0"])
    assert (full.authors, full.section, full.keywords) == (FULL.authors, FULL.section, FULL.keywords)
    assert (plain.authors, plain.section, plain.keywords) == ((), None, ())


def test_an_export_that_is_loaded_gives_the_same_export(anywhere: str, tmp_path: Path) -> None:
    load(anywhere, [FULL, PLAIN])
    lines = list(map(to_json_line, documents(anywhere)))
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    assert [to_json_line(one.document) for one in read_documents([str(file)])] == lines


def test_a_change_of_any_field_is_a_change_of_the_document(anywhere: str) -> None:
    load(anywhere, [FULL, PLAIN])

    def append(document: Document) -> int:
        return open_delivery(anywhere, LoadOptions()).append(located([document])).changed

    assert append(FULL) == 0
    current = FULL
    changes: dict[str, object] = {
        "authors": ("Jane Doe",),
        "section": None,
        "keywords": ("日本", "flood"),
        "metadata": {"desk": "Bonn"},
    }
    for name, value in changes.items():
        current = replace(current, **{name: value})  # type: ignore[arg-type]
        assert append(current) == 1, name
    assert sorted(documents(anywhere), key=lambda one: one.id) == [current, PLAIN]
