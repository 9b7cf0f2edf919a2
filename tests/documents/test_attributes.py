from esr.documents import Document
from esr.documents.attributes import (
    MAX_ATTRIBUTE_CHARS,
    attributes,
    flat_metadata,
    is_attribute,
    metadata_values,
)


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
