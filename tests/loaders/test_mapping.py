import pytest

from esr.errors import UsageError
from esr.loaders import Record
from esr.loaders.mapping import Unmapped, parsed, renamed


def test_pairs_are_parsed_and_columns_may_hold_an_equals_sign():
    assert parsed(["text=body", "id=a=b"]) == {"text": "body", "id": "a=b"}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["text"], "--mapping wants FIELD=COLUMN, not 'text'"),
        (["=x"], "--mapping wants"),
        (["text="], "--mapping wants"),
        (["txt=x"], "unknown field 'txt': did you mean 'text'"),
        (["id=a", "id=b"], "gives id twice"),
        (["text=a", "sentences=b"], "gives both text and sentences"),
    ],
)
def test_what_is_no_pair_is_refused(pairs, message):
    with pytest.raises(UsageError, match=message):
        parsed(pairs)


def test_a_column_loses_its_own_name_and_makes_room_for_it():
    fields = {"id": "1", "title": "x", "body": "Text.", "sentences": "7"}
    assert renamed(Record("x", fields), {"text": "body", "title": "id", "id": "title"}, True) == {
        "id": "x",
        "title": "1",
        "text": "Text.",
    }


def test_a_missing_column_is_said_unless_a_record_may_lack_it():
    record = Record("x", {"id": "1", "text": "x"})
    with pytest.raises(Unmapped, match="no column 'body' for --mapping text=body: there are id, text"):
        renamed(record, {"text": "body"}, False)
    with pytest.raises(Unmapped, match="no column 'day'"):
        renamed(record, {"date": "day"}, True)
    assert renamed(record, {"date": "day"}, False)["date"] is None


def test_no_mapping_leaves_the_fields_as_they_are():
    fields = {"id": "1"}
    assert renamed(Record("x", fields), {}, True) is fields
