import pytest

from esr.documents.serialisation import to_fields
from esr.errors import UsageError
from esr.loaders import ReadOptions, read_documents
from esr.loaders.constants import apply_constants, find_replaced, parse_constants


def test_pairs_are_the_fields_of_a_document():
    pairs = ["source=A=B", "authors=Jane", "authors=Jo", "meta.desk=x", "meta.desk=y", "meta.a.b=z"]
    assert parse_constants(pairs) == {
        "source": "A=B",
        "authors": ["Jane", "Jo"],
        "metadata": {"desk": ["x", "y"], "a.b": "z"},
    }
    assert parse_constants([]) == {}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["source"], "--set needs FIELD=VALUE, such as source=Wire or meta.desk=Berlin, not 'source'"),
        (["=x"], "--set needs"),
        (["source= "], "--set needs"),
        (["meta.=x"], "--set needs"),
        (["sorce=x"], "unknown field for --set 'sorce': did you mean 'source'"),
        (["id=x"], "unknown field for --set 'id'"),
        (["text=x"], "unknown field for --set 'text'"),
        (["source=a", "source=b"], "--set source is duplicated: choose 'a' or 'b'"),
        (["date=yesterday"], "--set: date "),
    ],
)
def test_an_invalid_pair_is_rejected(pairs, message):
    with pytest.raises(UsageError, match=message):
        parse_constants(pairs)


def test_constants_replace_what_documents_have_and_it_is_told():
    fields = {"id": "1", "source": "Own", "language": "en", "metadata": {"desk": "x", "n": 1}}
    constants = {"source": "Wire", "language": "en", "section": "Sport", "metadata": {"desk": "y", "m": "z"}}
    metadata = {"desk": "y", "n": 1, "m": "z"}
    assert apply_constants(fields, constants) == {**fields, **constants, "metadata": metadata}
    assert list(find_replaced(fields, constants)) == ["source", "meta.desk"]


def test_every_format_takes_constants(tmp_path):
    (tmp_path / "a.txt").write_text("Title\nText.")
    (tmp_path / "b.csv").write_text("id,text,source\nb,Text.,Own\n")
    remarks = []
    options = ReadOptions(
        constants=parse_constants(["source=Wire", "meta.desk=Berlin"]),
        base=str(tmp_path),
        on_remark=remarks.append,
    )
    documents = [to_fields(located.document) for located in read_documents([str(tmp_path)], options=options)]
    assert [(d["id"], d["source"], d["metadata"]) for d in documents] == [
        ("a", "Wire", {"desk": "Berlin"}),
        ("b", "Wire", {"desk": "Berlin"}),
    ]
    assert [remark.text for remark in remarks] == ["had a source of their own, which --set replaced"]
