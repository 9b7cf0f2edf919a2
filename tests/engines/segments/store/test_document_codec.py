from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest

from esr.documents import Document, Sentence
from esr.engines.segments.store.document_codec import (
    StoredDocument,
    compress,
    decode_texts,
    encode_document,
)

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
