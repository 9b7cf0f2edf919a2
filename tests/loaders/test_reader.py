"""Nothing that a source gives is lost: what is no field of documents becomes metadata."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
from html import escape
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.errors import InputError, UsageError
from esr.extras import find_extra
from esr.loaders import FORMATS, ReadOptions, get, read_documents
from esr.loaders.adapter import LanguageDetector, collect_metadata, decode
from esr.text.validate import InvalidDocument, build_document, to_fields
from tests.support.samples import sample

JSONL = b'{"id": "a"}\n'
TREC = b"<DOC><DOCNO>t</DOCNO></DOC>"
TEXT = b"Title\nText."
NEWSML = sample("newsml")
NEWSML_ID = "urn:newsml:example.com:20240115:ferry"


@pytest.fixture
def folder(tmp_path):
    """A function that makes a folder of these files and returns its path."""

    def make(**files: bytes) -> str:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return str(tmp_path)

    return make


def jsonl(id: str) -> bytes:
    return f'{{"id": "{id}"}}\n'.encode()


def ids(*paths: str, format: str = "auto") -> list[str]:
    """The ids of the documents; those of files are paths below the first folder named."""
    first = paths[0] if os.path.isdir(paths[0]) else os.path.dirname(paths[0])
    options = ReadOptions(base=first or os.curdir)
    return [located.document.id for located in read_documents(paths, format, options)]


def load_error(*paths: str, format: str = "auto") -> str:
    with pytest.raises(InputError) as error:
        ids(*paths, format=format)
    assert "\n" not in str(error.value)
    return str(error.value)


class Pipe(io.RawIOBase):
    """Gives a byte at a time and cannot seek."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        buffer[: len(self.rest[:1])] = self.rest[:1]
        length = len(self.rest[:1])
        self.rest = self.rest[1:]
        return length


def pipe(monkeypatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(Pipe(data))))


def test_the_formats_of_the_first_loaders_are_registered():
    assert {"jsonl", "text", "trec"} <= set(FORMATS)
    for name, format in FORMATS.items():
        assert format.name == name == get(name).name
        assert format.description
        assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in format.suffixes)


@pytest.mark.parametrize(
    ("name", "content", "id"),
    [
        *(
            (name, JSONL, "a")
            for name in ("x.jsonl", "x.NDJSON", "x.jsonl.gz", "x.json", "x", "x.xml", "x.odd.gz")
        ),
        *((name, TREC, "t") for name in ("x.sgml", "x.sgm", "x.trec", "x.xml", "x", "x.1")),
        *((name, TEXT, "x") for name in ("x.txt", "x.txt.gz")),
        *((name, TREC, "t") for name in ("x.txt", "x.txt.gz")),
        ("x", b"\xef\xbb\xbf\n  " + JSONL, "a"),
        ("x", b"\n<?xml version='1.0'?>" + TREC, "t"),
        ("x", b'<S num="1" docid="s">x</S>', "s"),
    ],
)
def test_auto_recognises_the_format_by_the_name_or_else_the_first_bytes(folder, name, content, id):
    content = gzip.compress(content) if name.endswith(".gz") else content
    path = os.path.join(folder(**{name: content}), name)
    assert ids(path) == [id]


def test_mails_and_xml_in_utf16_are_recognised_by_their_first_bytes(folder):
    wide = NEWSML.decode().replace('encoding="UTF-8"', 'encoding="UTF-16"').encode("utf-16")
    path = folder(**{"2024-January.txt": sample("mbox"), "x.xml": wide})
    assert ids(f"{path}/2024-January.txt")[0] == "1@news.example"
    assert ids(f"{path}/x.xml")[0] == NEWSML_ID


def test_gzip_is_recognised_by_its_first_bytes_whatever_the_name(folder):
    path = folder(**{"a.jsonl": gzip.compress(JSONL), "b.jsonl.gz": gzip.compress(jsonl("b")) * 2})
    assert ids(path) == ["a", "b", "b"]


def test_the_name_of_a_packed_text_gives_its_id(folder):
    assert ids(folder(**{"sub/x y.txt.gz": gzip.compress(TEXT)})) == ["sub/x_y"]


def test_a_required_format_takes_precedence_over_the_file_name(folder):
    path = os.path.join(folder(**{"x.txt": JSONL}), "x.txt")
    assert ids(path, format="text") == ["x"]
    assert ids(path, format="jsonl") == ["a"]


@pytest.mark.parametrize(("data", "id"), [(JSONL, "a"), (TREC, "t"), (b"\xef\xbb\xbf\n" + JSONL, "a")])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_recognised_and_unpacked_without_seeking(monkeypatch, data, id, pack):
    pipe(monkeypatch, pack(data))
    assert ids("-") == [id]


def test_standard_input_beyond_the_first_bytes_is_read(monkeypatch):
    lines = b"".join(jsonl(str(n)) for n in range(2000))
    pipe(monkeypatch, lines)
    assert ids("-") == [str(n) for n in range(2000)]


def test_standard_input_can_be_plain_text_if_the_format_says_so(monkeypatch):
    pipe(monkeypatch, TEXT)
    assert ids("-", format="text") == ["stdin"]


def test_folders_are_read_recursively_in_the_order_of_names(folder):
    names = ["b.jsonl", "a/2.jsonl", "a/10.jsonl", "a/z/1.jsonl", "c/1.ndjson"]
    path = folder(**{name: jsonl(name) for name in names})
    assert ids(path) == ["a/10.jsonl", "a/2.jsonl", "a/z/1.jsonl", "b.jsonl", "c/1.ndjson"]


def test_several_paths_are_read_in_order(folder):
    path = folder(**{"a.jsonl": jsonl("a"), "b/b.jsonl": jsonl("b"), "c.jsonl": jsonl("c")})
    assert ids(f"{path}/c.jsonl", f"{path}/b", f"{path}/a.jsonl") == ["c", "b", "a"]


def test_hidden_files_and_files_of_no_known_format_in_a_folder_are_skipped(folder):
    path = folder(
        **{
            ".hidden.jsonl": b"{",
            ".git/x.jsonl": b"{",
            "README.md": b"# News",
            "picture.png": b"\x89PNG\xff",
            "empty": b"",
            "x.jsonl": JSONL,
            "no-ending": TREC,
        }
    )
    assert ids(path) == ["t", "a"]


def test_a_folder_read_as_one_format_leaves_out_files_of_another(folder):
    path = folder(**{"a.jsonl": JSONL, "b.txt": TREC, "c.sgml": TREC, "d": TREC, "e.json": JSONL})
    assert ids(path) == ["a", "t", "t", "t", "a"]
    assert ids(path, format="trec") == ["t", "t", "t"]
    assert ids(path, format="jsonl") == ["a", "a"]
    assert ids(path, format="text") == ["b"]


def test_a_file_of_pictures_is_skipped_in_a_folder_but_rejected_alone(folder):
    picture = NEWSML.replace(b"inlineXML", b"remote").replace(b"inlineData", b"remote")
    path = folder(**{"a.xml": picture, "b.xml": NEWSML})
    assert ids(path)[0] == NEWSML_ID
    assert "contains no document in the format newsml" in load_error(f"{path}/a.xml")
    os.remove(f"{path}/b.xml")
    assert "there is no" in load_error(path)


def test_a_file_of_skipped_articles_is_rejected_alone_and_reported_among_others(folder):
    held = NEWSML.replace(b"<itemMeta>", b"<itemMeta><embargoed/>").replace(b"stat:canceled", b"stat:usable")
    path = folder(**{"a.xml": held, "b.jsonl": JSONL})
    skipped = []
    options = ReadOptions(on_skipped=skipped.append)
    assert [located.document.id for located in read_documents([path], options=options)] == ["a"]
    assert {document.reason for document in skipped} == {"under embargo"}
    assert all(re.fullmatch(r".*a\.xml:\d+", document.where) for document in skipped) and len(skipped) > 1
    message = load_error(f"{path}/a.xml")
    assert message.startswith(f"{skipped[0].where}: ") and "embargo" in message


def test_links_are_followed_but_not_in_a_cycle(folder, tmp_path):
    path = folder(**{"in/a.jsonl": JSONL, "elsewhere/b.jsonl": jsonl("b")})
    os.symlink(path, tmp_path / "in" / "up")
    os.symlink(tmp_path / "elsewhere", tmp_path / "in" / "aside")
    assert ids(f"{path}/in") == ["a", "b", "b"]


def test_the_place_of_a_document_is_the_path_of_the_call_and_the_line(folder, monkeypatch):
    path = folder(**{"sub/x.jsonl": JSONL + b"\n" + jsonl("b")})
    monkeypatch.chdir(path)
    assert [located.where for located in read_documents(["sub"])] == ["sub/x.jsonl:1", "sub/x.jsonl:3"]


def test_an_unknown_format_is_rejected_immediately_with_the_nearest_name():
    with pytest.raises(UsageError, match="unknown format 'jsnol': did you mean 'jsonl'"):
        read_documents(["-"], "jsnol")


def test_nothing_to_load_is_rejected():
    with pytest.raises(UsageError, match="nothing to load"):
        read_documents([])


def test_a_missing_path_is_rejected_immediately(folder):
    path = folder(**{"x.jsonl": JSONL})
    with pytest.raises(InputError, match=r"y\.jsonl: there is no such file or folder"):
        read_documents([f"{path}/x.jsonl", f"{path}/y.jsonl"])


@pytest.mark.parametrize("name", ["x.jsonl", "x.txt", "x.sgml", "x", "x.jsonl.gz"])
@pytest.mark.parametrize("content", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_rejected(folder, name, content):
    path = folder(**{name: gzip.compress(content) if name.endswith("gz") else content})
    assert load_error(f"{path}/{name}") == f"{path}/{name}: the file is empty"


def test_a_compressed_file_without_bytes_is_empty(folder):
    path = folder(**{"x.jsonl.gz": b""})
    assert load_error(path) == f"{path}/x.jsonl.gz: the file is empty"


def test_an_empty_file_in_a_folder_is_rejected(folder):
    path = folder(**{"x.jsonl": JSONL, "y.jsonl": b"\n"})
    assert load_error(path) == f"{path}/y.jsonl: the file is empty"


@pytest.mark.parametrize("name", ["x.jsonl", "x.txt", "x.sgml"])
def test_a_long_blank_file_contains_no_document(folder, name):
    path = folder(**{name: b" \n" * 5000})
    assert "contains no document in the format" in load_error(f"{path}/{name}")


def test_a_folder_without_a_loadable_file_is_rejected(folder):
    path = folder(**{"README.md": b"# News", "sub/picture.png": b"\x89PNG"})
    message = load_error(path)
    assert message.startswith(f"{path}: ") and all(format in message for format in FORMATS)
    message = load_error(path, format="trec")
    assert message.startswith(f"{path}: ") and "trec" in message


@pytest.mark.parametrize(
    "content",
    [TEXT, b"a,b\n1,2", b"<htm>", b"<a><channel>x</channel></a>", b"[{", b"\xff\xfe{", b"See <DOC>"],
)
def test_a_file_of_unknown_format_is_rejected(folder, content):
    path = folder(**{"x.odd": content})
    assert load_error(f"{path}/x.odd") == (
        f"{path}/x.odd: unknown format: name it with --format ({', '.join(FORMATS)})"
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda packed: packed[: len(packed) // 2],
        lambda packed: packed[:-6],
        lambda packed: packed[:200] + b"\x00\x00\x00" + packed[203:],
        lambda packed: packed[:-8] + b"\x00" * 8,
        lambda packed: packed[:5],
        lambda packed: packed + b"garbage",
        lambda packed: b"not gzip at all",
    ],
)
def test_a_truncated_or_corrupt_packed_file_is_rejected(folder, spoil):
    lines = b"".join(jsonl(str(n * 7919 % 10007)) for n in range(5000))
    path = folder(**{"x.jsonl.gz": spoil(gzip.compress(lines))})
    assert load_error(path).startswith(f"{path}/x.jsonl.gz: cannot be unpacked (")


def test_a_file_that_cannot_be_read_is_rejected(folder, monkeypatch):
    path = folder(**{"x.jsonl": JSONL})

    def no(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", no)
    assert load_error(f"{path}/x.jsonl") == f"{path}/x.jsonl: cannot be read: Permission denied"
    monkeypatch.undo()
    monkeypatch.setattr(os, "scandir", no)
    assert load_error(path) == f"{path}/: cannot be read: Permission denied"


@pytest.mark.parametrize("target", ["gone", "b.jsonl"], ids=["dangling", "to itself"])
def test_a_link_that_leads_nowhere_is_left_out_with_a_remark(folder, tmp_path, target):
    path = folder(**{"a.jsonl": JSONL})
    os.symlink(tmp_path / target, tmp_path / "b.jsonl")
    remarks = []
    found = list(read_documents([str(path)], options=ReadOptions(on_remark=remarks.append)))
    assert len(found) == len(list(read_documents([f"{path}/a.jsonl"])))
    assert [(remark.where, remark.unit) for remark in remarks] == [(f"{path}/b.jsonl", "files")]
    with pytest.raises(InputError, match=r"b\.jsonl: cannot be read"):
        list(read_documents([str(path)], options=ReadOptions(is_strict=True)))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("analysis.ipynb", b'{"cells": [{"cell_type": "markdown", "source": ["x"]}], "nbformat": 4}'),
        ("meta.info", b"[info]\nname = x\n"),
        ("state", b'{"version": 3}\n{"version": 4}\n'),
        ("meta.info", b"".join(b'{"url": "http://x.example/%d", "status": 200}\n' % n for n in range(300))),
        ("meta.info", b"".join(b'{"page": %d}\n' % n for n in range(300))),
        ("meta.info", b'{"spider": "x"}\n' + b"items=12\n" * 300),
        ("meta.info", b'{"spider": "x"'),
        ("meta.info", b'"done"'),
        ("meta.info", b"key=value\n"),
        ("meta.info", b""),
        ("meta.info", bytes(range(256)) * 20),
    ],
)
def test_other_data_does_not_stop_a_folder_and_is_named_once(folder, name, data):
    path = folder(**{"a.jsonl": JSONL, name: data})
    unknown, remarks = [], []
    options = ReadOptions(on_unknown_files=unknown.append, on_remark=remarks.append)
    found = list(read_documents([str(path)], options=options))
    assert found and [files.where for files in unknown] == [f"{path}/{name}"]
    assert not [remark for remark in remarks if name in remark.where]
    if b'"url"' in data:
        return  # a file that is named, not found in a folder, may have addresses alone
    with pytest.raises(InputError):
        list(read_documents([f"{path}/{name}"]))


def test_documents_in_a_file_of_any_name_are_still_read(folder):
    path = folder(**{"export.dump": b'[{"x": 1}, {"id": "b", "text": "A ferry."}]'})
    bad = []
    assert list(read_documents([str(path)], options=ReadOptions(on_malformed=bad.append)))
    assert len(bad) == 1


def test_malformed_documents_before_the_first_one_are_reported_if_they_do_not_end_the_load(folder):
    path = folder(**{"export.dump": b'{"x": 1}\n' + b"broken\n" * 200 + b'{"id": "b", "text": "A ferry."}'})
    bad = []
    (found,) = read_documents([str(path)], options=ReadOptions(on_malformed=bad.append))
    assert found.document.id == "b" and len(bad) == 201


def test_remarks_on_a_file_whose_format_was_guessed_come_once_it_has_a_document(folder):
    data = b'{"url": "http://x.example/1"}\n{"url": "http://x.example/2", "text": "A ferry."}\n'
    remarks = []
    path = folder(**{"export.dump": data})
    assert list(read_documents([str(path)], options=ReadOptions(on_remark=remarks.append)))
    assert len(remarks) == 2 and "got one made of their url" in remarks[0].text


@pytest.mark.parametrize("name", ["51060", "sci.space.1", "README"])
def test_text_is_read_from_files_without_an_ending_if_it_is_named(folder, name):
    path = folder(
        **{name: b"A title\nA ferry sails.\n", "b.jpg": b"\xff\xd8\xff\0", "c": b"\0\1\2", "d": JSONL}
    )
    (found,) = read_documents([str(path)], "text")
    assert found.where == f"{path}/{name}"


def test_files_that_end_with_different_numbers_are_different_documents(folder):
    names = ("2026.03.01", "2026.03.02", "sci.space.1", "sci.space.2")
    path = folder(**dict.fromkeys(names, b"A title\nA ferry sails.\n"))
    ids = [located.document.id for located in read_documents([str(path)], "text")]
    assert [id.rpartition("/")[2] for id in ids] == list(names)


def test_a_name_that_is_not_utf8_gives_an_id_as_in_addresses(tmp_path):
    os.mkdir(tmp_path / "sub")
    (tmp_path / "sub" / os.fsdecode(b"caf\xe9.txt")).write_bytes(TEXT)
    (found,) = read_documents([str(tmp_path)])
    assert found.document.id.endswith("sub/caf%E9") and found.where.isprintable()


def test_files_are_opened_one_after_the_other_and_closed(folder, monkeypatch):
    path = folder(**{f"{n}.jsonl": jsonl(str(n)) for n in range(5)})
    files = []
    plain = open

    def recorded(*arguments):
        files.append(plain(*arguments))
        return files[-1]

    monkeypatch.setattr("builtins.open", recorded)
    documents = read_documents([path])
    for n in range(1, 4):
        next(documents)
        assert [file.closed for file in files] == [True] * (n - 1) + [False]
    documents.close()
    assert all(file.closed for file in files)


@given(
    st.binary(max_size=60),
    st.sampled_from(["auto", *FORMATS]),
    st.booleans(),
    st.integers(0, 40),
)
@settings(deadline=None)  # a format's library is imported by the first file of it
def test_any_bytes_are_documents_or_an_input_error(load, data, format, pack, cut):
    if pack:
        data = gzip.compress(data)[: -cut or None]
    try:
        assert load(data, format)
    except InputError as error:
        assert str(error).startswith("standard input")


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        (r"It cost \$5 or \"less\".", 'It cost $5 or "less".'),
        ("&lt;b&gt;Ferry&lt;/b&gt; sails", "Ferry sails"),
        ('&lt;A HREF="http://x.org/a?b"&gt;Ferry&lt;/A&gt; sails', "Ferry sails"),
        ("<p>One.</p><P class='x'>Two.<br/>Three.", "\n\nOne.\n\n\n\nTwo.\n\nThree."),
        ("Marks &amp; Spencer&#39;s&nbsp;sale &#x2014; &eacute;", "Marks & Spencer's sale — é"),
        ("In <b>HTML</b>, &lt;b&gt; is bold", "In HTML, <b> is bold"),
    ],
)
def test_what_a_writer_of_tables_left_is_decoded(text, decoded):
    assert decode(text) == decoded


@pytest.mark.parametrize(
    "text",
    ["5 < 6 and 7 > 6", "AT&T; R&D", "<name> said", r"C:\Users\a", "a &b c;", "<3", "&nosuch;", "<beta>"],
)
def test_a_text_without_html_is_unchanged(text):
    assert decode(text) == text


@given(st.text(alphabet="xz 5<>&'\"", max_size=40))
def test_what_was_escaped_comes_back(text):
    assert decode(escape(text)) == text


def read(tmp_path, *records, name="news.jsonl", **options):
    """The documents as JSON without their sentences, and what was remarked."""
    file = tmp_path / name
    lines = [json.dumps(record) for record in records]
    file.write_text("\n".join(lines) if name.endswith("l") else records[0])
    remarks = []
    documents = read_documents([str(file)], options=ReadOptions(on_remark=remarks.append, **options))
    fields = [to_fields(located.document) for located in documents]
    for document in fields:
        del document["sentences"]
    return fields, [remark.text for remark in remarks]


def test_unknown_keys_and_what_a_known_one_has_beside_its_value_are_kept(tmp_path):
    record = {
        "id": "1",
        "text": "A.",
        "desk": "Berlin",
        "n": 0,
        "source": {"id": "w", "name": "Wire"},
        "x": None,
        "y": " ",
    }
    fields, remarks = read(tmp_path, record)
    assert fields == [
        {"id": "1", "source": "Wire", "metadata": {"desk": "Berlin", "n": 0, "source": {"id": "w"}}}
    ]
    assert remarks == ["have their source in source.name (--mapping chooses others)"]


def test_authors_section_and_keywords_are_found_under_other_names(tmp_path):
    record = {"id": "1", "text": "A.", "byline": "By Jane Doe", "category": "SPORT", "tags": ["a", "b"]}
    fields, _ = read(tmp_path, record)
    assert fields == [{"id": "1", "authors": ["Jane Doe"], "section": "SPORT", "keywords": ["a", "b"]}]


def test_what_cannot_be_a_field_is_kept_as_it_is(tmp_path):
    record = {
        "id": "1",
        "text": "A.",
        "section": ["a", "b"],
        "keywords": 7,
        "authors": [{"name": "Jo", "url": "u"}],
    }
    fields, _ = read(tmp_path, record)
    metadata = {"section": ["a", "b"], "keywords": 7, "authors": [{"name": "Jo", "url": "u"}]}
    assert fields == [{"id": "1", "authors": ["Jo"], "metadata": metadata}]


def test_what_a_mapping_replaces_is_kept(tmp_path):
    record = {"id": "1", "title": "Old", "head": "New", "text": "A.", "body": "B."}
    fields, _ = read(tmp_path, record, mapping={"title": "head", "text": "body"})
    assert fields == [{"id": "1", "title": "New", "metadata": {"title": "Old", "text": "A."}}]


def test_metadata_of_an_export_takes_precedence_and_stays_the_same(tmp_path):
    record = {"id": "1", "text": "A.", "metadata": {"desk": "Bonn", "x": {"y": [1]}}}
    assert read(tmp_path, {**record, "desk": "Berlin"})[0][0]["metadata"] == record["metadata"]
    assert read(tmp_path, record)[0][0]["metadata"] == record["metadata"]
    assert read(tmp_path, {**record, "metadata": "text"})[0][0]["metadata"] == {"metadata": "text"}


def test_columns_of_a_table_are_kept(tmp_path):
    table = "id,text,Desk,authors,label\n1,A.,Berlin,\"['Jane Doe', 'John Roe']\",\n2,B.,,,x\n"
    fields, _ = read(tmp_path, table, name="news.csv")
    assert fields == [
        {"id": "1", "authors": ["Jane Doe", "John Roe"], "metadata": {"Desk": "Berlin"}},
        {"id": "2", "metadata": {"label": "x"}},
    ]


def test_what_sentences_have_and_cannot_keep_is_told(tmp_path):
    _, remarks = read(tmp_path, {"id": "1", "sentences": [{"text": "A.", "speaker": "x"}, "B."]})
    assert remarks == ["have sentences with speaker, which sentences cannot have: left out"]


def test_columns_that_are_used_are_not_kept():
    given = {"id": "1", "a": {"b": 1, "c": 2}, "d": {"e": 1}, "metadata": {"f": 1}, "g": []}
    assert collect_metadata(given, {"id", "a.b", "d.e"}) == {"a": {"c": 2}, "f": 1}


NEEDY = [format.name for format in FORMATS.values() if format.needs]


def test_formats_of_the_extra_declare_their_modules():
    assert {"feed", "html", "newsml", "newsml1", "nitf", "parquet", "pdf", "warc", "xlsx"} <= set(NEEDY)


@pytest.mark.parametrize("name", NEEDY)
def test_a_missing_library_is_named_with_the_command_that_installs_it(name, monkeypatch):
    module = FORMATS[name].needs[-1]
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        UsageError, match=rf"the format {name} needs .*: pip install 'esr\[{find_extra(module)}\]'"
    ):
        read_documents(["-"], name)


def test_formats_of_the_extra_are_registered_without_it(monkeypatch):
    for module in ("lxml", "pyarrow", "trafilatura", "feedparser", "warcio", "datasketch"):
        monkeypatch.setitem(sys.modules, module, None)
    assert read_documents(["-"], "jsonl") is not None
    with pytest.raises(UsageError, match="pip install"):
        read_documents(["-"], "warc")


TEXTS = {
    "en": "The ferry across the fjord sails again after repairs of two weeks, its owner said on Monday.",
    "de": "Die Fähre über den Fjord fährt nach zwei Wochen wieder, sagte der Besitzer am Montag der Zeitung.",
    "fr": "Le bac du fjord repart après deux semaines de réparations, a dit lundi son maître.",
    "ru": "Паром через фьорд снова ходит после двух недель ремонта, сообщил в понедельник его владелец.",
}


def detect(text: str, declared: str | None = None, field: str = "text") -> tuple[str | None, int]:
    detector = LanguageDetector()
    value = text if field == "text" else [{"text": word} for word in text.split()]
    document = detector.build_document({"id": "a", field: value, "language": declared})
    return document.language, detector.detected.total()


@pytest.mark.parametrize("field", ["text", "sentences"])
@pytest.mark.parametrize("declared", [None, "", " "])
@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_document_without_one_is_detected(language, declared, field):
    assert detect(TEXTS[language], declared, field) == (language, 1)


def test_an_existing_language_stays():
    assert detect(TEXTS["de"], "en-GB") == ("en-GB", 0)


def test_the_model_is_read_for_a_document_without_a_language_only():
    program = (
        "import sys; from esr.loaders.adapter import LanguageDetector as Detector;"
        "Detector().build_document({'id': 'a', 'text': 'A storm.' * 9, 'language': 'en'});"
        "print('py3langid' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"


@pytest.mark.parametrize(
    "text", ["", "Ja.", "フェリーが再び運航", "1 2 3 4 5 6 7 8 9 0 " * 10, "Bergen Oslo"]
)
def test_short_texts_and_numbers_get_no_language(text):
    assert detect(text) == (None, 0)


@pytest.mark.parametrize("declared", [None, "de"])
def test_the_text_is_split_by_the_rules_of_the_language_that_it_gets(declared):
    text = (
        "Die Fähre über den Fjord fährt am 7. Juli wieder, sagte der Besitzer bzw. Betreiber. Er freut sich."
    )
    document = LanguageDetector().build_document({"id": "a", "text": text, "language": declared})
    assert [sentence.text for sentence in document.sentences] == [text[:-15], "Er freut sich."]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": 5},
        {"sentences": "x"},
        {"sentences": [5, {"text": None}]},
        {"text": "\ud800" * 100},
        {"language": 5},
    ],
)
def test_invalid_fields_are_refused_as_without_detection(fields):
    detector = LanguageDetector()
    with pytest.raises(InvalidDocument) as expected:
        build_document({"id": "a", **fields})
    with pytest.raises(InvalidDocument) as refused:
        detector.build_document({"id": "a", **fields})
    assert str(refused.value) == str(expected.value)
    assert detector.detected.total() == 0


def test_an_invalid_document_is_not_counted():
    detector = LanguageDetector()
    with pytest.raises(InvalidDocument, match="date"):
        detector.build_document({"id": "a", "text": TEXTS["de"], "date": "soon"})
    assert detector.detected.total() == 0


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        (r"It\u2019s here", "It\u2019s here"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\ud83d alone", r"\ud83d alone"),
        (r"C:\users", r"C:\users"),
        (r"\u0000", r"\u0000"),
    ],
)
def test_literal_escapes_of_characters_in_tables_are_decoded(text, decoded):
    assert decode(text) == decoded
