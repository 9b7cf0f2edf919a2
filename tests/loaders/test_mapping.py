import pytest

from esr.errors import UsageError
from esr.loaders import Record
from esr.loaders.mapping import MissingColumn, apply_mapping, parse_mapping


def test_pairs_are_parsed_and_columns_may_contain_an_equals_sign():
    assert parse_mapping(["text=body", "id=a=b"]) == {"text": "body", "id": "a=b"}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["text"], "--mapping needs FIELD=COLUMN, not 'text'"),
        (["=x"], "--mapping needs"),
        (["text="], "--mapping needs"),
        (["txt=x"], "unknown field 'txt': did you mean 'text'"),
        (["id=a", "id=b"], "--mapping id is duplicated"),
        (["text=a", "sentences=b"], "has both text and sentences"),
    ],
)
def test_an_invalid_pair_is_rejected(pairs, message):
    with pytest.raises(UsageError, match=message):
        parse_mapping(pairs)


def test_a_column_loses_its_own_name_and_makes_room_for_it():
    fields = {"id": "1", "title": "x", "body": "Text.", "sentences": "7"}
    assert apply_mapping(Record("x", fields), {"text": "body", "title": "id", "id": "title"}, True) == {
        "id": "x",
        "title": "1",
        "text": "Text.",
    }


def test_a_missing_column_is_an_error_unless_it_is_optional():
    record = Record("x", {"id": "1", "text": "x"})
    with pytest.raises(
        MissingColumn, match="no column 'body' for --mapping text=body; the columns are id, text"
    ):
        apply_mapping(record, {"text": "body"}, False)
    with pytest.raises(MissingColumn, match="no column 'day'"):
        apply_mapping(record, {"date": "day"}, True)
    assert apply_mapping(record, {"date": "day"}, False)["date"] is None


def test_a_record_without_the_column_of_an_optional_field_keeps_its_own():
    record = Record("x", {"id": "1", "source": "x.org", "text": "x"})
    assert apply_mapping(record, {"source": "author"}, False)["source"] == "x.org"
    with_null = Record("x", {**record.fields, "author": None})
    assert apply_mapping(with_null, {"source": "author"}, False)["source"] is None


def test_without_a_mapping_fields_are_unchanged():
    fields = {"id": "1"}
    assert apply_mapping(Record("x", fields), {}, True) is fields
