"""Tables with other delimiters and quotes, and without a row of names."""

import io
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from esr.errors import InputError, UsageError
from esr.loaders import ReadOptions, read_documents
from esr.loaders.table import parse_layout
from tests.loaders.conftest import texts
from tests.support.samples import sample


@pytest.fixture
def read(tmp_path):
    """A function from a table's text and options to its documents and the remarks about files."""

    def read(text, delimiter=None, quote=None, columns=None, name="x.csv"):
        (tmp_path / name).write_text(text)
        remarks = []
        options = ReadOptions(on_remark=remarks.append, table=parse_layout(delimiter, quote, columns))
        documents = [located.document for located in read_documents([str(tmp_path / name)], options=options)]
        assert all(remark.where == str(tmp_path / name) for remark in remarks)
        return documents, [f"{remark.unit} {remark.text}" for remark in remarks]

    return read


def fields(document):
    return document.id, document.title, *texts(document)


@pytest.mark.parametrize(
    ("text", "remarks"),
    [
        ("id,title,text\na,T; 1 | 2,One.\n", []),
        ("id\ttitle\ttext\na\tT; 1 | 2\tOne.\n", []),
        ("id;title;text\na;T; 1 | 2;One.\n".replace("T; 1", '"T; 1').replace("2;", '2";'), ["';'"]),
        ('id|title|text\na|"T; 1 | 2"|One.\n', ["'|'"]),
        ('sep=;\nid;title;text\na;"T; 1 | 2";One.\n', []),
    ],
)
def test_the_delimiter_is_found_and_an_unusual_one_is_said(read, text, remarks):
    documents, said = read(text)
    assert [fields(document) for document in documents] == [("a", "T; 1 | 2", "One.")]
    assert said == [f"files have columns separated by {d} (--delimiter chooses another)" for d in remarks]


def test_a_delimiter_within_a_quoted_name_is_none(read):
    documents, _ = read('id;title;"text, in full";text\na;T;x;One.\n')
    assert fields(documents[0]) == ("a", "T", "One.")


def test_an_unclear_delimiter_is_an_error_until_it_is_chosen(read):
    table = "id,title|text\na,b|One.\n"
    with pytest.raises(InputError, match=r"x\.csv:1: ',' and '\|' cut the first row into 2 columns: choose"):
        read(table)
    assert read(table.replace("title", "t,title"), delimiter="|", columns="id,text")[0][1].id == "a,b"


@pytest.mark.parametrize("delimiter", ["^", "~", ":", " "])
def test_any_character_can_be_the_delimiter(read, delimiter):
    assert read(delimiter.join(["id", "text\na", "One.\n"]), delimiter=delimiter)[0][0].id == "a"


@pytest.mark.parametrize("name", ["tab", "TAB", "\\t", "\t"])
def test_a_tab_has_a_name(read, name):
    assert parse_layout(name, None, None).delimiter == "\t"


def test_apostrophes_around_all_names_are_quotes_and_it_is_said(read):
    documents, said = read("'id','title','text'\n'a','It''s, so','One.'\n")
    assert fields(documents[0]) == ("a", "It's, so", "One.")
    assert said == ['files have fields quoted by "\'" (--quote chooses another)']
    assert fields(read("id,title,text\na,$It, so$,One.\n", quote="$")[0][0]) == ("a", "It, so", "One.")


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_an_apostrophe_around_a_field_of_the_first_document_is_a_quote(read, delimiter):
    table = "a;Web;'It''s;\"so\"'\nb;Panorama;Two.\n".replace(";", delimiter)
    documents, said = read(table, columns="id,section,text")
    assert list(map(texts, documents)) == [[f'It\'s{delimiter}"so"'.replace("\t", " ")], ["Two."]]
    assert 'files have fields quoted by "\'" (--quote chooses another)' in said


def test_an_apostrophe_within_the_first_document_is_none(read):
    documents, _ = read("a;Web;It's 'so', he said.\nb;'Tis;Two.\n", columns="id,section,text")
    assert list(map(texts, documents)) == [["It's 'so', he said."], ["Two."]]


def test_quotes_are_text_where_nothing_is_quoted(read):
    table = 'id\ttitle\ttext\na\t"So\tHe said "so".\n'
    with pytest.raises(InputError, match="broken CSV"):
        read(table)
    assert fields(read(table, quote="none")[0][0]) == ("a", '"So', 'He said "so".')


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_a_table_without_a_row_of_names_has_declared_columns(read, delimiter):
    rows = [["a", "T", "One."], ["b", "U", "Two."]]
    documents, _ = read("\n".join(map(delimiter.join, rows)), columns="id, title,text")
    assert [fields(document) for document in documents] == [("a", "T", "One."), ("b", "U", "Two.")]


def test_the_first_document_may_have_several_lines_and_keeps_its_place(read, tmp_path):
    documents, _ = read('\na,T,"One.\n\nTwo."\nb,U,x\n', columns="id,title,text")
    assert [fields(document) for document in documents] == [("a", "T", "One.", "Two."), ("b", "U", "x")]
    options = ReadOptions(table=parse_layout(None, None, "id,title,text"))
    places = [located.where for located in read_documents([str(tmp_path)], options=options)]
    assert places == [f"{tmp_path}/x.csv:2", f"{tmp_path}/x.csv:5"]


def test_columns_are_the_same_for_every_table(read):
    with pytest.raises(InputError, match=r"x\.csv:1: no usual delimiter cuts the first row into 2 columns"):
        read("a,T,One.\n", columns="id,text")
    with pytest.raises(InputError, match=r"x\.csv:2: this row has 1 fields and --columns 2"):
        read("a,T\nb\n", columns="id,text")


def test_names_that_are_declared_and_in_the_first_row_too_are_an_error(read):
    with pytest.raises(InputError, match=r"x\.csv:1: this row has the names of the columns: leave --columns"):
        read("ID,text\na,One.\n", columns="id,text")


def test_a_table_without_a_known_name_says_how_to_name_its_columns(read):
    message = r"x\.csv:2: no column has a known name \(17, One\.\): name those of fields with --mapping "
    with pytest.raises(InputError, match=message + "FIELD=COLUMN, or all of them with --columns"):
        read("17,One.\n18,Two.\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((";;", None, None), "--delimiter must be one character, or one of comma, tab"),
        (('"', None, None), "--delimiter must be"),
        (("", None, None), "--delimiter must be"),
        ((",", ",", None), "--quote must be one character other than the delimiter, or none, not ','"),
        ((None, "ab", None), "--quote must be"),
        ((None, None, "id,,text"), "such as id,title,text: a name is empty"),
        ((None, None, "id,text,id"), "such as id,title,text: 'id' is duplicated"),
    ],
)
def test_an_invalid_layout_is_rejected(options, message):
    with pytest.raises(UsageError, match=message):
        parse_layout(*options)


def test_a_table_with_nothing_but_names_is_rejected(read):
    with pytest.raises(InputError, match="contains no document in the format csv"):
        read("id;text\n")


def test_a_broken_first_row_is_told(read):
    with pytest.raises(InputError, match=r"x\.csv:1: broken CSV: new-line character seen in unquoted field"):
        read("id;\rtext\na;x\n")


# The sample is written from RFC 4180.


CSV = sample("csv")


def test_a_row_gives_a_document_with_line_ends_and_quotes_in_its_fields(load):
    first, second = load(CSV, "csv")
    assert (first.id, first.title, first.date) == ("c1", "Ferry back in service", "2024-01-15")
    assert texts(first) == ["The ferry sails again.", 'Two hundred people said "at last".']
    assert (second.title, second.date) == (None, "2024-01-16")


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_the_first_row_determines_the_delimiter(load, delimiter):
    rows = [["id", "text", "place"], ["a", "One, two.", "x"]]
    data = "\r\n".join(delimiter.join(row) for row in rows)
    assert texts(load("\ufeff\n" + data, "csv")[0]) == ["One, two."]


def test_a_row_of_another_length_is_malformed_and_those_after_it_are_read(load):
    bad = []
    documents = load("id,text\na,x\nb,x,y\n\nc\nd,z\n", "csv", bad)
    assert [d.id for d in documents] == ["a", "d"]
    assert [(b.where, b.problem.partition(":")[0]) for b in bad] == [
        ("standard input:3", "this row has 3 fields and the first row 2"),
        ("standard input:5", "this row has 1 fields and the first row 2"),
    ]


def test_an_unreadable_date_is_rejected_rather_than_lost(load_error):
    assert "date '02/03/1999' is ambiguous" in load_error("id,date,text\na,02/03/1999,x\n", "csv")
    assert "date 'Monday' is not" in load_error("id,date,text\na,Monday,x\n", "csv")


def test_an_unclosed_quote_is_rejected_with_the_line_of_its_row(load_error):
    assert "standard input:3: broken CSV" in load_error('id,text\na,x\nb,"y\nc,z\n', "csv")


def test_duplicate_columns_are_rejected(load_error):
    assert "column 'id' is duplicated" in load_error("id,id\na,b\n", "csv")


def test_columns_without_a_name_are_kept_by_their_numbers(load):
    first, second = load("id,,text,\na,x,One.,y\nb,,Two.,\n", "csv")
    assert (first.id, texts(first), first.metadata) == ("a", ["One."], {"column 2": "x", "column 4": "y"})
    assert (second.id, second.metadata) == ("b", {})


@pytest.mark.parametrize("line", ["   ", ",", " , ", "\t"])
def test_lines_of_blanks_are_passed_over(load, line):
    assert [document.id for document in load(f"id,text\na,One.\n{line}\nb,Two.\n{line}\n", "csv")] == [
        "a",
        "b",
    ]


def test_a_table_without_any_name_is_rejected(load_error):
    assert "column '' is duplicated" in load_error(",,\na,b,c\n", "csv")


def test_a_field_without_end_does_not_fill_the_memory(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.table.MAX_DOCUMENT_BYTES", 1000)
    assert "longer than" in load_error('id,text\na,"' + "x y\n" * 1000, "csv")


# The sample is written by pyarrow.


def written(**columns) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def test_a_row_gives_a_document(load):
    first, second = load(sample("parquet"), "parquet")
    assert (first.id, first.title, first.date) == ("p1", "Ferry back in service", "2024-01-15T10:00:00")
    assert texts(first) == ["The ferry sails again.", "Two hundred people were aboard."]
    assert (second.title, second.date) == (None, None)


def test_it_is_recognised_by_its_first_bytes_in_files_and_pipes(load, tmp_path):
    (tmp_path / "x.parquet").write_bytes(sample("parquet"))
    from_file = [located.document for located in read_documents([os.fspath(tmp_path / "x.parquet")])]
    assert from_file == load(sample("parquet"))


def test_numbers_can_be_ids_and_lists_of_strings_sentences(load):
    (document,) = load(written(id=[7], sentences=[["One.", "Two."]]), "parquet")
    assert (document.id, texts(document)) == ("7", ["One.", "Two."])


def test_times_in_nanoseconds_are_read_to_the_microsecond(load):
    date = pa.array([1_705_312_800_123_456_789], pa.timestamp("ns", "UTC"))
    (document,) = load(written(id=["a"], date=date), "parquet")
    assert document.date == "2024-01-15T10:00:00.123456+00:00"


def test_more_rows_than_a_batch_are_read_in_order(load):
    ids = [str(n) for n in range(200)]
    assert [d.id for d in load(written(id=ids, text=ids), "parquet")] == ids


def test_bytes_of_text_are_read_and_pictures_are_left_out(load):
    picture = {"bytes": b"\x89PNG\xff", "path": "a.png"}
    (document,) = load(
        written(id=["a"], text=[b"A ferry."], sha1=[b"\xff\x00"], picture=[picture]), "parquet"
    )
    assert texts(document) == ["A ferry."]
    assert document.metadata == {"picture": {"bytes": None, "path": "a.png"}}


def test_a_file_that_is_truncated_is_rejected(load_error):
    assert "broken Parquet" in load_error(sample("parquet")[:-5], "parquet")


def test_rows_that_share_one_long_text_are_limited_like_a_zip_bomb(load_error, monkeypatch):
    monkeypatch.setattr("esr.loaders.files.FREE_BYTES", 2**20)
    bomb = written(id=[str(n) for n in range(500)], text=["x " * 50_000] * 500)
    assert len(bomb) < 50_000
    assert "like a zip bomb" in load_error(bomb, "parquet")
