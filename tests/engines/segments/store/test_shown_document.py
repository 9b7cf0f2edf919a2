"""What hits read of a stored document is what the whole document has."""

from __future__ import annotations

import zlib

import pytest

from esr.documents import Document, ParseWord, Sentence
from esr.documents.document import default_id_prefix
from esr.engines.segments.store.document_codec import compress, encode_document
from esr.engines.segments.store.shown_document import ShownDocument, read_shown

FIELDS = ("title", "date", "source", "url", "language", "authors", "section", "keywords")
SENTENCES = (
    Sentence("d.s0", 'She said "no", [so].'),
    Sentence("given", "\u00dcn\u00efcode\u2028\U0001f600", {"x": 0.5}),
    Sentence("d.s2", "Rain.", parse=(ParseWord("rain", -1),)),
)


def store(document: Document) -> ShownDocument:
    (shown,) = read_shown([memoryview(compress(encode_document(document, [1])))])
    return shown


@pytest.mark.parametrize(
    "document",
    [
        Document("d", SENTENCES),
        Document("d", ()),
        Document(
            "d", SENTENCES, title="\u00c4\x00\n", authors=("A", "B"), keywords=("k",), metadata={"id": [1]}
        ),
        Document("d", SENTENCES, date="2025", source="s", url="u", language="en", section="x"),
    ],
)
def test_it_has_what_was_stored(document: Document) -> None:
    shown = store(document)
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
    other = compress(encode_document(Document("e", SENTENCES), [1]))
    shown, after = read_shown([zlib.compress(encoded.encode()), other])
    assert (after.id, after.sentences[0].text) == ("e", SENTENCES[0].text)
    assert (shown.id, shown.title, shown.sentences[0].text, shown.sentences[0].id) == ("d", "t", "a", None)
