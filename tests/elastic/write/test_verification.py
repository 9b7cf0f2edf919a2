"""Documents whose content is served under another id.

A client in place of a server runs the queries over a few entries: tests/index/test_writer.py asks real ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from elastic_transport import ObjectApiResponse

from esr.elastic.cluster import Cluster
from esr.elastic.write.spool import write_spool
from esr.elastic.write.verification import known_content_notes
from esr.index.writer import Description
from esr.text.document import Document
from tests.elastic.test_repeated_requests import META, WHOLE
from tests.support.elasticsearch import document, located

PLAIN = Description("plain", title=True)


def entry_of(stored: Document, ordinal: int) -> dict[str, Any]:
    sentences = [{"id": sentence.id, "text": sentence.text} for sentence in stored.sentences]
    context = " ".join(sentence.text.lower().replace(".", "") for sentence in stored.sentences)
    return {
        "document_id": stored.id,
        "ordinal": ordinal,
        "size": len(sentences),
        "context": context.split(),
        "sentences": sentences,
    }


def matches(query: dict[str, Any], entry: dict[str, Any]) -> bool:
    """Whether an entry matches a query of the few kinds that look documents up."""
    ((kind, body),) = query.items()
    if kind == "ids":
        return entry["document_id"] in body["values"]
    if kind == "term":
        ((field, wanted),) = body.items()
        value = entry[field]
        return wanted in value if isinstance(value, list) else wanted == value
    assert kind == "bool"
    left_out = body.get("must_not", [])
    return (
        all(matches(clause, entry) for clause in body.get("filter", []))
        and not any(matches(c, entry) for c in ([left_out] if isinstance(left_out, dict) else left_out))
        and ("should" not in body or any(matches(clause, entry) for clause in body["should"]))
    )


class Entries:
    """A client over entries, in their order."""

    def __init__(self, stored: Sequence[Document]) -> None:
        self._entries = [entry_of(document, n) for n, document in enumerate(stored)]

    def search(self, *, query: dict[str, Any], size: int, **_: Any) -> Any:
        found = [entry for entry in self._entries if matches(query, entry)][:size]
        hits = [{"_id": e["document_id"], "_source": e, "sort": [e["ordinal"]]} for e in found]
        return ObjectApiResponse({**WHOLE, "hits": {"hits": hits}}, META)

    def msearch(self, *, searches: Sequence[dict[str, Any]], **_: Any) -> Any:
        answers = [self.search(**body).body for body in searches[1::2]]
        return ObjectApiResponse({"responses": answers}, META)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with closing(Cluster("http://localhost:9200/news")) as cluster:

        def serve(*stored: Document) -> Cluster:
            monkeypatch.setattr(Cluster, "client", Entries(stored))
            return cluster

        yield serve
        monkeypatch.undo()


def test_a_document_with_many_copies_hides_no_other_known_one(tmp_path: Path, served: Any) -> None:
    storm, river = "A storm came over the harbour.", "The river rose in the valley."
    copies = [document(f"copy{n:02}", storm) for n in range(20)]
    cluster = served(*copies, document("old", river))
    new = write_spool(tmp_path, PLAIN, located([document("x", storm), document("y", river)]))
    (note,) = known_content_notes(cluster, PLAIN, new.segments)
    assert "content of 2 documents" in note
    assert "x (as copy00)" in note and "y (as old)" in note


def test_a_document_is_not_known_by_its_own_id_or_by_other_content(tmp_path: Path, served: Any) -> None:
    cluster = served(document("x", "A storm came."), document("old", "A storm came. It went."))
    new = write_spool(tmp_path, PLAIN, located([document("x", "A storm came."), document("y", "It went.")]))
    assert known_content_notes(cluster, PLAIN, new.segments) == []
