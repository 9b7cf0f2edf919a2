"""Tables with other delimiters and quotes, and without a row of names."""

import pytest

from esr.errors import InputError, UsageError
from esr.loaders import ReadOptions, read_documents
from esr.loaders.table_layout import parse_layout
from tests.loaders.conftest import texts


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
