from __future__ import annotations

import json

import pytest

from esr.text.document import (
    DIRECTIONS,
    MAX_ATTRIBUTE_CHARS,
    Document,
    attributes,
    decode_fields,
    encode_fields,
    flat_metadata,
    is_attribute,
    metadata_values,
    text_direction,
)
from esr.text.validate import InvalidDocument, build_document, checksum, to_fields


def test_attributes_are_named_as_in_the_query_language():
    document = Document(
        "a", (), authors=("Jane Doe",), section="Sport", keywords=("x", "y"), metadata={"desk": "Berlin"}
    )
    assert attributes(document) == {
        "author": ("Jane Doe",),
        "section": ("Sport",),
        "keyword": ("x", "y"),
        "meta.desk": ("Berlin",),
    }
    assert all(map(is_attribute, attributes(document)))
    assert not any(map(is_attribute, ("meta", "meta.", "source", "Author")))


def test_keys_of_objects_are_joined_and_values_are_different_texts():
    metadata = {"a": {"b": [1, 2.5, True, None, " x\n y ", "x y", {"c": "z"}]}, "d": []}
    assert flat_metadata(metadata) == {"a.b": ("1", "2.5", "true", "x y"), "a.b.c": ("z",)}


def test_a_value_under_keys_that_differ_in_case_is_there_once():
    metadata = {"Desk": "Bonn", "desk": ["bonn", "Berlin"]}
    assert metadata_values(metadata) == {"Desk": ("Bonn",), "desk": ("Berlin",)}


def test_what_is_too_long_or_has_no_key_is_no_attribute():
    longest = "x" * MAX_ATTRIBUTE_CHARS
    metadata = {
        "a": longest,
        "b": longest + "x",
        "c": "\U0001f600" * 501,
        longest + "y": "v",
        "": "v",
        "d\0": "v",
    }
    document = Document("a", (), section=longest + "x", metadata=metadata)
    assert attributes(document) == {"meta.a": (longest,), "meta.d": ("v",)}


@pytest.mark.parametrize(
    ("language", "direction"),
    [
        *[(code, "rtl") for code in ("ar", "fa", "he", "ur", "yi", "ckb", "AR", "ar-EG", "ara", "dv")],
        *[(code, "ltr") for code in ("en", "de", "zh", "hi", "th", "ru", "zh-Hant-TW", "arn")],
        ("az-Arab", "rtl"),
        ("pa-Arab-PK", "rtl"),
        ("ur-Latn", "ltr"),
        ("he-latn-IL", "ltr"),
        *[(unknown, "auto") for unknown in (None, "", "und", "Arabic language", "a", '"ar"')],
    ],
)
def test_the_direction_goes_by_script_and_language(language: str | None, direction: str) -> None:
    assert text_direction(language) == direction
    assert direction in DIRECTIONS


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
