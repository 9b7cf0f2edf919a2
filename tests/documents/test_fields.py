import json

import pytest

from esr.documents.fields import decode_fields, encode_fields
from esr.documents.json_values import InvalidDocument
from esr.documents.serialisation import checksum, to_fields
from esr.documents.validate import build_document

FULL = {
    "id": "a",
    "title": "T",
    "date": "2024-03-05",
    "source": "Wire",
    "url": "https://x.example",
    "language": "en",
    "authors": ["Jane Doe", "Olaf Größe"],
    "section": "Sport",
    "keywords": ["x", "y"],
    "metadata": {"desk": {"city": "Berlin"}, "n": [1, 2.5, None, True]},
    "sentences": [{"text": "One."}],
}


def test_all_fields_are_written_as_they_are_read():
    document = build_document(FULL)
    assert to_fields(document) == FULL
    assert build_document(json.loads(json.dumps(to_fields(document)))) == document
    fields = encode_fields(document)
    assert decode_fields(fields) == {name: getattr(document, name) for name in fields}


def test_a_field_without_a_value_is_not_written():
    blank = {"id": "a", "title": " ", "authors": [" "], "section": "", "keywords": [], "metadata": {}}
    assert to_fields(build_document(blank)) == {"id": "a", "sentences": []}


def test_each_field_is_part_of_the_checksum():
    checksums = {
        checksum(build_document({k: v for k, v in FULL.items() if k != name}))
        for name in FULL
        if name != "id"
    }
    assert len({*checksums, checksum(build_document(FULL))}) == len(FULL)


def test_lists_have_different_lines_and_may_be_one_text():
    document = build_document(
        {"id": "a", "authors": "Jane  Doe", "keywords": ["x\ny", "x y", " ", "e\u0301"]}
    )
    assert document.authors == ("Jane Doe",)
    assert document.keywords == ("x y", "\u00e9")


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("authors", 5, "authors must be a list, not a number"),
        ("keywords", ["x", 5], r"keywords\[1\] must be a string, not a number"),
        ("section", ["x"], "section must be a string, not a list"),
        ("metadata", "x", 'metadata must be an object like {"desk": "Berlin"}, not a string'),
        ("metadata", {"a": "\ud800"}, "metadata.a contains .* half a character"),
        ("metadata", {"\ud800": 1}, "a key of metadata contains .* half a character"),
        ("metadata", {"a": [float("inf")]}, "metadata.a must be a finite number"),
    ],
)
def test_an_invalid_field_is_named(field, value, problem):
    with pytest.raises(InvalidDocument, match=problem):
        build_document({"id": "a", field: value})


def test_metadata_may_not_be_nested_without_end():
    value = []
    for _ in range(100):
        value = [value]
    with pytest.raises(InvalidDocument, match="nested more than 50 deep"):
        build_document({"id": "a", "metadata": {"a": value}})
