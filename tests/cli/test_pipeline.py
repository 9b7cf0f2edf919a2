"""What a load and its dry run say about the documents that came."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from esr.loaders import pipeline
from esr.loaders.pipeline import SourceSummary
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Sentence
from tests.cli.conftest import Esr, call
from tests.support.elasticsearch import fresh
from tests.support.samples import FOLDER, sample

pytestmark = pytest.mark.slow

TEXT = " ".join(f"word{n}" for n in range(60))
COPIES = (
    f'{{"id": "a", "text": "{TEXT}", "language": "de"}}\n'
    f'{{"id": "b", "text": "{TEXT}"}}\n'
    '{"id": "c", "text": "The ferry across the fjord sails again after two weeks of repairs."}\n'
)


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    path = tmp_path / "copies.jsonl"
    path.write_text(COPIES)
    return path


def documents(where: Path) -> list[str]:
    with open_searcher(str(where)) as searcher:
        hits = searcher.search("word1 ferry", 100, candidates="all", model="tfisf").hits
    return sorted(hit.record.document_id for hit in hits if hit.record)


def test_columns_with_other_names_are_loaded(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("url,body\nu1,A ferry.\n")
    result = esr(
        "load",
        tmp_path / "table.csv",
        "--mapping",
        "id=url",
        "--mapping",
        "text=body",
        "--index",
        tmp_path / "i",
    )
    assert result.exit_code == 0, result.output
    assert documents(tmp_path / "i") == ["u1"]


def test_a_mapping_of_a_missing_column_is_rejected(esr_error: Esr, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("url,body\nu1,A ferry.\n")
    to = ["--index", tmp_path / "i"]
    line = esr_error("load", tmp_path / "table.csv", "--mapping", "id=link", *to)
    assert "table.csv:2: there is no column 'link' for --mapping id=link; the columns are url, body" in str(
        line
    )
    assert "unknown field 'txt'" in str(
        esr_error("load", tmp_path, "--mapping", "txt=x", "--index", tmp_path / "i")
    )


def test_the_author_of_a_page_can_be_mapped_and_pages_without_one_keep_their_source(
    esr: Esr, tmp_path: Path
) -> None:
    page = sample("html")
    (tmp_path / "a.html").write_bytes(
        page.replace(b"<meta prop", b'<meta name="author" content="Ann Lee"><meta prop', 1)
    )
    (tmp_path / "b.html").write_bytes(page)
    result = esr("load", tmp_path, "--mapping", "source=author", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "Ann Lee" in result.stdout and "The Example" in result.stdout
    note = "1 document has no 'author' for --mapping source=author and keeps its own: the first at "
    assert f"{note}{tmp_path}/b.html" in result.stdout


def test_html_in_tables_is_decoded_and_counted_but_not_in_json_lines(esr: Esr, tmp_path: Path) -> None:
    table, lines = tmp_path / "t.csv", tmp_path / "l.jsonl"
    table.write_text(
        "id,title,text\n"
        "1,A &amp; B,&lt;b&gt;Ferry&lt;/b&gt; costs \\$5.\n"
        "2,C,Plain &lt; text.\n"
        "3,D,Nothing in it.\n"
    )
    lines.write_text('{"id": "4", "title": "A &amp; B", "text": "It has &lt;b&gt;."}\n')
    result = esr("load", table, lines, "--dry-run")
    assert "  1: A & B\n" in result.stdout and "  | Ferry costs $5.\n" in result.stdout
    assert "  | Plain < text.\n" in result.stdout
    note = "2 documents had HTML or backslashes in their text, which were decoded: the first at "
    assert f"{note}{table}:2\n" in result.stdout
    assert json.loads(esr("load", lines, "--dry-run", "--json").stdout)["first"][0]["title"] == "A &amp; B"


@pytest.mark.parametrize(
    ("policy", "loaded", "note"),
    [
        ("keep", ["a", "b", "c"], None),
        ("count", ["a", "b", "c"], "they were loaded"),
        ("mark", ["a", "b", "c"], "they have the feature duplicate"),
        ("drop", ["a", "c"], "they were left out"),
    ],
)
def test_duplicates_are_handled_by_the_policy(
    esr: Esr, copies: Path, tmp_path: Path, policy: str, loaded: list[str], note: str | None
) -> None:
    result = esr("load", copies, "--index", tmp_path / "i", "--duplicates", policy)
    assert result.exit_code == 0, result.output
    assert documents(tmp_path / "i") == loaded
    assert (note or "loaded 3") in result.stdout
    assert (f"b at {copies}:2 repeats a" in result.stdout) == (note is not None)


def test_a_marked_duplicate_can_be_ranked_down(esr: Esr, copies: Path, tmp_path: Path) -> None:
    esr("load", copies, "--index", tmp_path / "i", "--duplicates", "mark")
    ranking = ["--feature", "duplicate:linear:-9", "--no-fold"]
    result = esr("search", "word1", "--index", tmp_path / "i", *ranking, "--json")
    scores = {hit["document_id"]: hit["score"] for hit in json.loads(result.stdout)["hits"]}
    assert scores["a"] - scores["b"] == pytest.approx(9)


def test_a_missing_language_is_detected(esr: Esr, copies: Path, tmp_path: Path) -> None:
    result = esr("load", copies, "--index", tmp_path / "i", "--detect-language")
    assert "1 document got the detected language" in result.stdout
    hits = json.loads(esr("search", "ferry", "--index", tmp_path / "i", "--json").stdout)["hits"]
    assert [hit["language"] for hit in hits] == ["en"]


def test_documents_without_a_sentence_are_named(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(
        '{"id": "t", "text": "x"}\n' + "".join(f'{{"id": "e{n}"}}\n' for n in range(5))
    )
    result = esr("load", tmp_path / "x.jsonl", "--index", tmp_path / "i", "--allow-empty-documents", "84%")
    place = tmp_path / "x.jsonl"
    assert (
        f"5 documents have no sentence: e0 at {place}:2, e1 at {place}:3, e2 at {place}:4, …" in result.stdout
    )


def test_malformed_documents_are_listed_in_a_file_and_the_others_loaded(
    esr: Esr, copies: Path, tmp_path: Path
) -> None:
    copies.write_text(COPIES + '{"id": "d", "text": 7}\n{\n')
    bad = tmp_path / "bad.jsonl"
    result = esr("load", copies, "--index", tmp_path / "i", "--bad-documents", bad)
    assert result.exit_code == 1
    assert "loaded 3 documents" in result.stdout
    assert (
        f"Error: 2 malformed documents were not loaded and are listed in {bad}; "
        f"the first: {copies}:4: text must be" in result.stderr
    )
    lines = [json.loads(line) for line in bad.read_text().splitlines()]
    assert [(line["id"], line["where"]) for line in lines] == [("d", f"{copies}:4"), (None, f"{copies}:5")]
    assert documents(tmp_path / "i") == ["a", "b", "c"]


def test_an_unwritable_file_is_rejected_before_anything_is_loaded(
    esr_error: Esr, copies: Path, tmp_path: Path
) -> None:
    line = esr_error("load", copies, "--index", tmp_path / "i", "--bad-documents", tmp_path / "no" / "bad")
    assert f"create the folder {tmp_path}/no first" in str(line)
    assert not (tmp_path / "i").exists()


@pytest.mark.parametrize("name", ["copies.jsonl", "link.jsonl", "new.jsonl"])
@pytest.mark.parametrize("command", ["load", "append", "dry run"])
def test_bad_documents_are_never_written_over_what_is_read(
    esr_error: Esr, esr: Esr, copies: Path, tmp_path: Path, name: str, command: str
) -> None:
    (tmp_path / "link.jsonl").symlink_to(copies)
    source = tmp_path if name == "new.jsonl" else copies
    commands = {
        "load": ["load", source, "--index", tmp_path / "i"],
        "append": ["append", tmp_path / "i", source],
        "dry run": ["load", source, "--dry-run"],
    }
    line = esr_error(*commands[command], "--bad-documents", tmp_path / name)
    assert f"{tmp_path / name} is a file to read: list the bad documents in another" in str(line)
    assert copies.read_text() == COPIES and not (tmp_path / "new.jsonl").exists()


def test_bad_documents_go_to_a_file_of_the_folder_that_is_not_read(
    esr: Esr, copies: Path, tmp_path: Path
) -> None:
    for options in (
        ["--bad-documents", tmp_path / ".bad.jsonl"],
        ["--bad-documents", tmp_path / "bad.jsonl", "--exclude", "bad.jsonl"],
    ):
        assert esr("load", tmp_path, "--dry-run", *options).exit_code == 0


def test_limits_of_packed_files_can_be_set(esr_error: Esr, tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(COPIES.encode() * 100))
    line = esr_error("load", path, "--index", tmp_path / "i", "--max-unpacked", "0.00001")
    assert "if that is right, raise the limit with --max-unpacked" in str(line)


def test_articles_under_embargo_are_counted_and_not_loaded(esr: Esr, tmp_path: Path) -> None:
    wire = tmp_path / "wire.xml"
    data = '<docdata management-status="embargoed"><doc-id id-string="{}"/></docdata>'
    held = f"<nitf><head>{data}</head></nitf>"
    free = '<nitf><head><docdata><doc-id id-string="c"/></docdata></head><body><body.content><p>Ferry.</p>'
    end = "</body.content></body></nitf></wire>"
    wire.write_text("\n".join(["<wire>", held.format("a"), held.format("b"), free + end]))
    result = esr("load", wire, "--index", tmp_path / "i")
    assert f"2 documents were skipped, under embargo: the first at {wire}:2" in result.stdout
    assert documents(tmp_path / "i") == ["c"]
    assert "2 documents were skipped" in esr("load", wire, "--dry-run").stdout


def test_the_layout_of_tables_can_be_declared_and_what_was_found_is_said(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;text\na;A ferry.\n")
    (tmp_path / "b.csv").write_text("id;text\nb;A ferry.\n")
    result = esr("load", tmp_path, "--dry-run")
    note = "2 files have columns separated by ';' (--delimiter chooses another): the first at "
    assert f"{note}{tmp_path}/a.csv\n" in result.stdout
    (tmp_path / "c.tsv").write_text('c^A "ferry^x\n')
    options = ["--delimiter", "^", "--quote", "none", "--columns", "id,text,place"]
    result = esr("load", tmp_path / "c.tsv", *options, "--index", tmp_path / "i")
    assert result.exit_code == 0, result.output
    assert documents(tmp_path / "i") == ["c"]


def test_the_order_of_day_and_month_is_an_option(esr: Esr, esr_error: Esr, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,date,text\na,05/03/2024,A ferry.\n")
    assert "choose --day-first or --month-first" in str(
        esr_error("load", tmp_path, "--index", tmp_path / "i")
    )
    for option, date in (("--day-first", "2024-03-05"), ("--month-first", "2024-05-03")):
        result = esr("load", tmp_path, "--dry-run", option)
        assert f"  {date} · 1 sentence\n" in result.stdout
        assert f"1 document has a date that was read with the {option[2:5]}" in result.stdout


def test_an_encoding_is_found_and_said_or_declared(esr: Esr, esr_error: Esr, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    text = "La traversée a été fermée à cause des tempêtes qui ont duré des années entières."
    path.write_text(f"id,text\na,{text}\n", "latin-1")
    result = esr("load", path, "--dry-run")
    note = "1 file is in windows-1252, as its letters show (--encoding names another): the first at "
    assert f"{note}{path}\n" in result.stdout and f"  | {text}" in result.stdout
    assert "files are in" not in esr("load", path, "--dry-run", "--encoding", "latin-1").stdout
    assert "unknown encoding 'x'" in str(esr_error("load", path, "--dry-run", "--encoding", "x"))


def test_ids_can_be_made(esr: Esr, esr_error: Esr, tmp_path: Path) -> None:
    (tmp_path / "y.json").write_text('[{"author": "A. Ferry"}]')
    assert "the document has no id, title or address, and it has no text: --mapping text=COLUMN" in str(
        esr_error("load", tmp_path / "y.json", "--index", tmp_path / "i")
    )
    (tmp_path / "x.json").write_text('[{"url": "http://x/a", "maintext": "A ferry."}]')
    assert esr("load", tmp_path / "x.json", "--index", tmp_path / "i", "--id", "url").exit_code == 0
    assert documents(tmp_path / "i") == ["http://x/a"]
    line = esr_error("load", tmp_path, "--dry-run", "--id", "url", "--mapping", "id=link")
    assert "--id url makes the ids: leave --mapping id=link out" in str(line)


def test_one_bad_file_of_a_folder_is_told_with_what_to_do_and_does_not_stop_the_load(
    esr: Esr, tmp_path: Path
) -> None:
    folder = tmp_path / "news"
    folder.mkdir()
    files = {
        "a.json": '[{"id": "a", "text": "A ferry."},\n{"id": "b"',
        "b.csv": "1,2\nx,y\n",
        "c.json": '{"id": "c", "text": "A ferry."}',
        "d.jsonl.gz": "not packed",
        "e.xml": "<nitf><body>",
        "f.json": "",
        "g.tmp.json": "{",
    }
    for name, content in files.items():
        (folder / name).write_text(content)
    bad = tmp_path / "bad.jsonl"
    options = ["--exclude", "*.tmp.json", "--bad-documents", bad]
    result = esr("load", folder, "--index", tmp_path / "i", *options)
    assert result.exit_code == 1 and documents(tmp_path / "i") == ["a", "c"]
    told = {
        line["where"].removeprefix(f"{folder}/"): line["problem"]
        for line in map(json.loads, bad.read_text().splitlines())
    }
    advice = {
        "a.json:2:11": "fetch it again if it is truncated (the rest of this file is skipped)",
        "b.csv:2": "with --columns if the first row of the table is a document",
        "d.jsonl.gz": "so fetch or create it again",
        "e.xml:1": "fetch the file again or correct it",
        "f.json": "the file is empty",
    }
    assert set(told) == set(advice)
    assert all(advice[where] in problem for where, problem in told.items())


LONG = "The ferry across the fjord sails again after two weeks of repairs in the yard."


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An index of one document on either engine."""
    with ExitStack() as stack:
        index = str(tmp_path / "i")
        if request.param == "elasticsearch":
            index = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
        assert call("load", "-", "--index", index, input='{"id": "a", "text": "A ferry."}\n').exit_code == 0
        yield index


def test_a_delivery_without_text_is_refused_and_the_index_stays_as_it_was(
    where: str, esr: Esr, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    rows = [{"id": f"e{n}", "story_copy": LONG, "link": "http://x/" + "y" * 80} for n in range(4)]
    path.write_text(json.dumps([*rows, {"id": "e4", "parts": {"copy": LONG}}]))
    config = tmp_path / "news.toml"
    config.write_text('[[source]]\npaths = "x.json"\n')
    before = esr("export", where).stdout
    for command in (
        ["load", path, "--index", where, "--if-exists", "replace"],
        ["load", path, "--dry-run"],
        ["append", where, path],
        ["sync", where, config],
        ["sync", where, config, "--dry-run"],
    ):
        result = esr(*command)
        assert result.exit_code == 1
        assert (
            "5 of 5 documents have no sentence: if their text is in story_copy or parts.copy, say so with "
            "--mapping text=COLUMN, or allow it with --allow-empty-documents 100%" in result.stderr
        )
        assert esr("export", where).stdout == before
    options = ["--mapping", "text=story_copy", "--bad-documents", tmp_path / "bad"]
    assert esr("append", where, path, *options).exit_code == 1
    assert LONG in esr("export", where).stdout


def test_a_column_inside_an_object_can_be_mapped(esr: Esr, tmp_path: Path) -> None:
    line = {"id": "a", "parts": {"copy": "A ferry.", "n": 1}}
    mapping = ["--mapping", "text=parts.copy"]
    result = esr("load", "-", "--dry-run", "--json", *mapping, input=json.dumps(line))
    (first,) = json.loads(result.stdout)["first"]
    assert first["sentences"][0]["text"] == "A ferry." and first["metadata"] == {"parts": {"n": 1}}


@pytest.mark.parametrize(
    ("empty", "options", "status"),
    [
        (5, [], 0),
        (6, [], 1),
        (6, ["--allow-empty-documents", "60%"], 0),
        (7, ["--allow-empty-documents", "60"], 1),
        (2, ["--allow-empty-documents", "10%"], 1),
        (10, ["--allow-empty-documents", "99%"], 1),
        (10, ["--allow-empty-documents", "100%"], 0),
        (1, ["--allow-empty-documents", "much"], 2),
        (1, ["--allow-empty-documents", "101%"], 2),
    ],
)
def test_more_than_a_share_of_documents_without_text_is_refused(
    esr: Esr, tmp_path: Path, empty: int, options: list[str], status: int
) -> None:
    lines = [json.dumps({"id": str(n), "text": "" if n < empty else "A ferry."}) for n in range(10)]
    result = esr("load", "-", "--index", tmp_path / "i", *options, input="\n".join(lines))
    assert result.exit_code == status, result.output
    if status:
        assert (
            not (tmp_path / "i").exists() or esr("search", "ferry", "--index", tmp_path / "i").exit_code == 1
        )


def test_a_hit_says_the_time_or_the_page_and_an_export_keeps_it(where: str, esr: Esr) -> None:
    files = [FOLDER / "talk.srt", FOLDER / "issue-mets.xml"]
    assert esr("append", where, *files).exit_code == 0
    hit = esr("search", "two hundred people aboard", "--index", where).stdout
    assert "     talk · 1:02:45\n     … Jane Doe.\n   > Two hundred people were aboard." in hit, hit
    hit = esr("search", "reconstruction", "--index", where).stdout
    assert "1924-01-15 · page 1\n   > The ferry sails after reconstruction." in hit, hit
    exported = [json.loads(line) for line in esr("export", where).stdout.splitlines()]
    features = {s["text"]: s.get("features") for d in exported for s in d["sentences"]}
    assert features["Two hundred people were aboard."]["second"] == 3765
    assert features["Bread for sale."] | {"page": 1, "confidence": 0.5} == features["Bread for sale."]


# Files that no loader knows.


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with one file of news, and others that nothing reads."""
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"id": "a", "text": "A ferry."}\n')
    for name in ("b.rtf", "c.RTF", "d"):
        (folder / name).write_bytes(b"\x00\x01")
    for name, members in (
        ("e.pptx", ["[Content_Types].xml", "ppt/presentation.xml"]),
        ("f.zip", ["g.rtf", "h.jsonl"]),
    ):
        with zipfile.ZipFile(folder / name, "w") as archive:
            for member in members:
                known = member.endswith("jsonl")
                archive.writestr(member, '{"id": "h", "text": "A bus."}' if known else "<x/>")
    (folder / ".hidden").write_bytes(b"\x00")
    return folder


UNKNOWN = {".rtf": 3, ".pptx": 1, "": 1}
NOTE = (
    "5 files are in no format that is read, and left out: .rtf 3, without an ending 1, .pptx 1; the first is "
)


def test_files_that_no_loader_knows_are_counted_by_ending(where: str, esr: Esr, mixed: Path) -> None:
    for command in (
        ["load", mixed, "--dry-run"],
        ["load", mixed, "--index", where, "--if-exists", "replace"],
        ["append", where, mixed],
    ):
        result = esr(*command)
        assert result.exit_code == 0 and f"{NOTE}{mixed}/b.rtf" in result.stdout, result.output
        assert json.loads(esr(*command, "--json").stdout)["unknown_files"] == UNKNOWN
    options = ["--exclude", "*.rtf", "--exclude", "*.RTF", "--exclude", "d", "--exclude", "*.pptx"]
    result = esr("load", mixed, "--dry-run", "--json", *options)
    assert json.loads(result.stdout)["unknown_files"] == {}


def test_files_that_no_loader_knows_can_be_refused(where: str, esr: Esr, mixed: Path, tmp_path: Path) -> None:
    before = esr("export", where).stdout
    for command in (["load", mixed, "--index", where, "--if-exists", "replace"], ["append", where, mixed]):
        result = esr(*command, "--strict")
        assert result.exit_code == 1
        assert (
            f"{mixed}/b.rtf: is in no format that is read, and --strict refuses such files" in result.stderr
        )
        assert esr("export", where).stdout == before
    bad = tmp_path / "bad.jsonl"
    assert esr("append", where, mixed, "--strict", "--bad-documents", bad).exit_code == 1
    assert len(bad.read_text().splitlines()) == 5
    assert "A bus." in esr("export", where).stdout


LINES = [
    "1 have a title, 3 a date, 4 a source, 3 a language",
    "languages: en 2, unknown 2, de 1",
    "dates: 2016-12-31 to 2017-03",
    "sources: x.org 3, y.org 1",
]


@pytest.fixture
def news(tmp_path: Path) -> Path:
    documents = [
        {
            "id": "a",
            "title": "T",
            "date": "2017-03-15",
            "source": "x.org",
            "language": "en",
            "text": "One. Two.",
        },
        {"id": "b", "date": "2017-03", "source": "x.org", "language": "en-GB", "text": "Three."},
        {"id": "c", "date": "2016-12-31T20:00:00Z", "source": "y.org", "language": "de", "text": "Vier."},
        {"id": "d", "source": "x.org"},
        {"id": "e", "text": "Five."},
    ]
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


def test_a_load_ends_with_what_came_as_its_dry_run_says(esr: Esr, news: Path, tmp_path: Path) -> None:
    loaded = esr("load", news, "--index", tmp_path / "i").stdout.splitlines()
    assert loaded[-4:] == LINES
    previewed = esr("load", news, "--dry-run").stdout.splitlines()
    start = previewed.index("5 documents with 5 sentences") + 1
    assert previewed[start : start + 4] == LINES


def test_json_has_the_same_keys_in_a_load_and_its_dry_run(esr: Esr, news: Path, tmp_path: Path) -> None:
    loaded = json.loads(esr("load", news, "--index", tmp_path / "i", "--json").stdout)
    previewed = json.loads(esr("load", news, "--dry-run", "--json").stdout)
    for data in (loaded, previewed):
        assert data["languages"] == {"en": 2, "": 2, "de": 1}
        assert data["dates"] == {"from": "2016-12-31T20:00:00Z", "to": "2017-03"}
        assert data["sources"] == {"x.org": 3, "y.org": 1}
        assert [data[name] for name in ("documents", "sentences", "without_sentences", "title")] == [
            5,
            5,
            1,
            1,
        ]


def document(number: int, source: str | None = None) -> Document:
    return Document(str(number), (Sentence(f"{number}.s0", "x"),), source=source)


def test_what_no_document_has_is_not_mentioned() -> None:
    summary = SourceSummary()
    assert summary.lines() == []
    summary.add(document(1))
    assert summary.lines() == ["0 have a title, 0 a date, 0 a source, 0 a language"]


def test_a_report_on_very_long_and_many_values_is_short(esr: Esr, tmp_path: Path) -> None:
    lines = [
        {"id": f"d{n}", "text": "A storm.", "source": "s" * 9999, "language": f"{n}".rjust(9999, "x")}
        for n in range(50)
    ]
    source = tmp_path / "long.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, options in (("chosen", ("--analyzer", "english")), ("found", ())):
        output = esr("load", source, "--index", tmp_path / name, *options).output
        assert "languages: " in output and max(map(len, output.splitlines())) < 1000


def test_the_most_frequent_sources_are_named_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "MAX_SOURCES", 6)
    summary = SourceSummary()
    for n, source in enumerate([*"aabcdefgha"]):
        summary.add(document(n, source))
    assert summary.lines()[-1] == "sources: a 3, b 1, c 1, d 1, e 1, others 3"
    assert len(summary.as_dict()["sources"]) == 6 and summary.as_dict()["other_sources"] == 2
