"""

What hits read of a stored document is what the whole document has.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest

from esr.folder.format.document_codec import (
    ShownDocument,
    StoredDocument,
    compress,
    decode_texts,
    encode_document,
    read_shown,
)
from esr.text.document import Document, ParseWord, Sentence, default_id_prefix

SENTENCES = (Sentence("d.s0", 'She said "no", [so].'), Sentence("given", "Ünïcode\u2028\U0001f600"))


def store(**fields: Any) -> StoredDocument:
    return StoredDocument(compress(encode_document(Document("d", SENTENCES, **fields), [1])))


def test_a_stored_document_is_the_one_that_was_encoded() -> None:
    metadata = {
        "big": 2**80,
        "small": -(2**70),
        "float": 0.1,
        "tiny": 5e-324,
        "deep": [[{"a": [None, True]}]],
    }
    document = Document("d", SENTENCES, title="Ä\x00\n", authors=("A", "B"), metadata=metadata)
    stored = StoredDocument(memoryview(compress(encode_document(document, [1]))))
    assert stored.document(np.zeros(2, np.uint8)) == document
    decoded = stored.document(np.zeros(2, np.uint8)).metadata
    assert [type(value) for value in decoded.values()] == [int, int, float, float, list]
    assert decode_texts(encode_document(document, [1])) == ([s.text for s in SENTENCES], "Ä\x00\n")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_json_lacks_are_read_as_python_wrote_them(number: str) -> None:
    encoded = f'{{"id":"d","metadata":{{"n":{number}}},"sentences":[["a"]]}}'.encode()
    stored = StoredDocument(zlib.compress(encoded))
    decoded = stored.document(np.zeros(1, np.uint8)).metadata
    assert repr(decoded) == repr(json.loads(encoded)["metadata"])


FIELDS = ("title", "date", "source", "url", "language", "authors", "section", "keywords")
SHOWN_DOCUMENT_SENTENCES = (
    Sentence("d.s0", 'She said "no", [so].'),
    Sentence("given", "\u00dcn\u00efcode\u2028\U0001f600", {"x": 0.5}),
    Sentence("d.s2", "Rain.", parse=(ParseWord("rain", -1),)),
)


def store_shown_document(document: Document) -> ShownDocument:
    (shown,) = read_shown([memoryview(compress(encode_document(document, [1])))])
    return shown


@pytest.mark.parametrize(
    "document",
    [
        Document("d", SHOWN_DOCUMENT_SENTENCES),
        Document("d", ()),
        Document(
            "d",
            SHOWN_DOCUMENT_SENTENCES,
            title="\u00c4\x00\n",
            authors=("A", "B"),
            keywords=("k",),
            metadata={"id": [1]},
        ),
        Document("d", SHOWN_DOCUMENT_SENTENCES, date="2025", source="s", url="u", language="en", section="x"),
    ],
)
def test_it_has_what_was_stored(document: Document) -> None:
    shown = store_shown_document(document)
    assert shown.id == document.id
    assert [getattr(shown, name) for name in FIELDS] == [getattr(document, name) for name in FIELDS]
    ids = [s.id or f"{default_id_prefix(shown.id)}{n}" for n, s in enumerate(shown.sentences)]
    assert ids == [sentence.id for sentence in document.sentences]
    assert [s.text for s in shown.sentences] == [s.text for s in document.sentences]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_json_lacks_do_not_matter(number: str) -> None:
    encoded = (
        f'{{"id":"d","title":"t","metadata":{{"n":{number}}},"sentences":[["a",null,{{"x":{number}}}]]}}'
    )
    other = compress(encode_document(Document("e", SHOWN_DOCUMENT_SENTENCES), [1]))
    shown, after = read_shown([zlib.compress(encoded.encode()), other])
    assert (after.id, after.sentences[0].text) == ("e", SHOWN_DOCUMENT_SENTENCES[0].text)
    assert (shown.id, shown.title, shown.sentences[0].text, shown.sentences[0].id) == ("d", "t", "a", None)
