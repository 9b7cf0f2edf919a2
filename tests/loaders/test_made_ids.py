import gzip
import json
import os

import pytest

from esr.errors import InputError
from esr.loaders import ReadOptions, read_documents
from esr.loaders.made_ids import POLICIES


@pytest.fixture
def ids(tmp_path):
    """A function from a policy and the contents of files by name to the ids of their documents."""

    def ids(policy, **files):
        for name, content in files.items():
            (tmp_path / name.replace("_", ".")).write_text(content)
        options = ReadOptions(make_id=policy, base=os.fspath(tmp_path))
        return [located.document.id for located in read_documents([str(tmp_path)], options=options)]

    return ids


def lines(*documents):
    return "".join(json.dumps(fields) + "\n" for fields in documents)


def test_an_address_is_an_id_whatever_its_column_is_called(ids):
    documents = lines({"url": "http://x/a", "text": "x"}, {"id": "7", "link": " http://x/b c "})
    assert ids("url", x_jsonl=documents, y_csv="link,body\nhttp://x/d,x\n") == [
        "http://x/a",
        "http://x/b_c",
        "http://x/d",
    ]


def test_an_address_that_is_too_long_for_an_id_gives_a_digest(ids):
    long = "http://x/" + "y" * 600
    documents = [{"url": long, "text": "One. Two."}, {"url": long + "z"}, {"url": long, "text": "x"}]
    first, second, third = ids("url", x_jsonl=lines(*documents))
    assert first == third != second and len(first) == 32


@pytest.mark.parametrize("fields", [{"text": "x"}, {"url": " ", "text": "x"}, {"url": None}])
def test_a_document_without_an_address_says_what_to_do(ids, fields):
    message = r":1: the document has no url for --id url: use --mapping url=COLUMN, or another --id"
    with pytest.raises(InputError, match=message):
        ids("url", x_jsonl=lines(fields))


def test_the_digest_of_the_content_is_that_of_all_fields_but_the_id(ids):
    same = {"title": "T", "text": "x"}
    first, second = ids("content", x_jsonl=lines(same, {**same, "id": "7", "url": None}))
    assert first == second and len(first) == 32 and first.isalnum()
    others = (
        {"date": "2024"},
        {"url": "u"},
        {"title": "U"},
        {"text": "y"},
        {"source": "s"},
        {"language": "en"},
        {"desk": "Berlin"},
    )
    different = ids("content", x_jsonl=lines(same, *({**same, **other} for other in others)))
    assert len(set(different)) == len(others) + 1 and different[0] == first


def test_the_digest_does_not_depend_on_the_file_or_its_format(ids):
    first, second, third = ids(
        "content",
        x_jsonl=lines({"text": "x", "title": "T"}),
        y_csv="headline,body\nT,x\n",
        z_json='[{"title":"T","text":"x"}]',
    )
    assert first == second == third


def test_a_row_is_the_file_and_the_number_of_the_document_in_it(ids):
    table = 'id,text\n7,"x\n\ny"\n7,z\n'
    assert ids("row", x_csv=table, y_jsonl='{"id": "1"}\n\n{"id": "1"}\n') == [
        "x.csv:1",
        "x.csv:2",
        "y.jsonl:1",
        "y.jsonl:2",
    ]


def test_malformed_documents_have_numbers_too(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": 1}\n{\n{"text": "x"}\n')
    options = ReadOptions(make_id="row", base=str(tmp_path), on_malformed=lambda malformed: None)
    (located,) = read_documents([str(tmp_path)], options=options)
    assert located.document.id == "x.jsonl:3"


@pytest.mark.parametrize("policy", POLICIES)
def test_files_of_other_formats_get_the_ids_too(ids, policy):
    assert len(ids(policy, x_html=HTML)) == 1


HTML = """<html><head><title>T</title><link rel="canonical" href="http://x.example/a"></head><body><article>
<p>The ferry sails again after two weeks of repairs, the mayor said on Monday.</p>
<p>Two hundred people were aboard, and nobody said why it had been closed.</p></article></body></html>"""


def test_a_document_without_an_id_gets_one_of_its_url_or_else_of_its_content(tmp_path):
    file = tmp_path / "news.jsonl"
    file.write_text(
        '{"link": "https://x.example/a b", "text": "A."}\n{"id": "own", "url": "u", "text": "B."}\n'
        '{"text": "C."}\n{"title": "C."}\n{"text": "C.", "label": 1}\n{"text": "C."}\n'
    )
    remarks = []
    options = ReadOptions(on_remark=remarks.append)
    documents = [located.document for located in read_documents([str(file)], options=options)]
    first, second, *others = [document.id for document in documents]
    assert (first, second) == ("https://x.example/a_b", "own")
    assert all(map(str.isalnum, others)) and len(set(others)) == 3  # one document is there twice
    made = "have no id and got one made of their {} (--id chooses another)"
    texts = [remark.text for remark in remarks]
    assert texts.count(made.format("url")) == 1 and texts.count(made.format("content")) == 4


NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def rows(count, url):
    """Different documents, each fourth of which has this address."""
    return [
        {
            "url": url if n % 4 == 0 else f"http://x/{n}",
            "text": " ".join(f"{word}{n}" for word in NUMBERS),
        }
        for n in range(count)
    ]


@pytest.fixture
def read(tmp_path):
    """A function from documents to what is loaded of them, by id, and the remarks about it."""

    def read(documents, **options):
        (tmp_path / "x.jsonl").write_text(lines(*documents))
        remarks = []
        given = ReadOptions(on_remark=lambda remark: remarks.append(remark.text), **options)
        located = read_documents([str(tmp_path / "x.jsonl")], options=given)
        return {d.id: d for _, d in located}, set(remarks)

    return read


@pytest.mark.parametrize("url", ["http://x/", "not_available", "N/A"])
def test_an_address_that_many_documents_share_is_no_id(read, url):
    documents, remarks = read(rows(1000, url))
    assert len(documents) == 1000 and url not in documents and "http://x/1" in documents
    assert f"have the url {url!r}, which identifies no document" in remarks
    made = {id for id, document in documents.items() if document.url == url}
    assert made <= set(read(rows(1000, url), make_id="content")[0])


@pytest.mark.parametrize("column", ["id", "guid"])
def test_an_id_that_many_documents_share_is_none(read, column):
    documents, remarks = read([{column: "7", **row} for row in rows(40, "unknown")])
    assert len(documents) == 40 and "http://x/1" in documents and "7" not in documents
    assert "have the id '7', which identifies no document" in remarks


def test_a_placeholder_is_no_id_however_few_have_it(read):
    texts = ("A ferry.", "The bus.", "Some rain.")
    for documents in (
        read([{"url": "not_available", "text": text} for text in texts])[0],
        read([{"id": "null", "text": text} for text in texts])[0],
    ):
        assert len(documents) == 3 and all(len(id) == 32 for id in documents)
    assert list(read([{"id": "none", "text": "A ferry."}])[0]) == ["none"]


def test_versions_of_one_document_share_an_id(read):
    versions = [
        {"url": "http://x/live", "text": f"The ferry across the fjord sails again, it is {n} o'clock."}
        for n in range(30)
    ]
    documents, remarks = read(versions)
    assert list(documents) == ["http://x/live"]
    assert not any("identifies no" in remark for remark in remarks)


def test_what_is_read_ahead_is_loaded_before_an_error_in_it(tmp_path):
    (tmp_path / "x.json").write_text('[{"id": "a", "text": "x"}, {"id": "b", "text": "x"}, {"id"')
    bad = []
    long = [{"id": str(n), "text": "The ferry sails. " * 200} for n in range(400)]
    (tmp_path / "y.jsonl.gz").write_bytes(gzip.compress(lines(*long).encode())[:-200])
    documents = read_documents([str(tmp_path)], options=ReadOptions(on_malformed=bad.append))
    ids = [located.document.id for located in documents]
    assert ids[:3] == ["a", "b", "0"] and len(ids) > 50 and len(bad) == 2
