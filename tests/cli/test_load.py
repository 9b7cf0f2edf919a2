"""`esr append` and `esr remove`."""

from __future__ import annotations

import gzip
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from esr.cli import main
from esr.ranking.searcher import open_searcher
from tests.cli.conftest import Esr
from tests.support.elasticsearch import fresh
from tests.support.samples import FOLDER, sample

pytestmark = pytest.mark.slow

ONE = '{"id": "a", "title": "T", "sentences": [{"text": "A storm."}, {"text": "Calm."}]}\n'
TWO = '{"id": "b", "text": "Storms came. They went."}\n'


def ids(where: Path) -> list[str]:
    with open_searcher(str(where)) as searcher:
        hits = searcher.search("storm", 100, candidates="all", model="tfisf", records=False).hits
    return sorted(hit.sentence_id for hit in hits)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "news.jsonl"
    path.write_text(ONE + TWO)
    return path


def test_a_load_reports_its_counts(esr: Esr, source: Path, tmp_path: Path) -> None:
    result = esr("load", source, "--index", tmp_path / "index")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("loaded 2 documents with 4 sentences into ")
    assert ids(tmp_path / "index") == ["a.s0", "a.s1", "b.s0", "b.s1"]


def test_json_reports_the_same_counts(esr: Esr, source: Path, tmp_path: Path) -> None:
    source.write_text(ONE + '{"id": "none"}\n')
    data = json.loads(esr("load", source, "--index", tmp_path / "index", "--json").stdout)
    assert (data["documents"], data["sentences"], data["without_sentences"]) == (2, 2, 1)


def test_documents_without_a_sentence_are_counted_and_not_an_error(
    esr: Esr, source: Path, tmp_path: Path
) -> None:
    source.write_text(ONE + ONE.replace('"a"', '"b"') + '{"id": "none"}\n{"id": "blank", "text": "  "}\n')
    result = esr("load", source, "--index", tmp_path / "index")
    assert result.exit_code == 0
    assert "2 documents have no sentence" in result.stdout


def test_several_paths_gzip_and_standard_input_are_read(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "one.jsonl.gz").write_bytes(gzip.compress(ONE.encode()))
    result = esr("load", tmp_path / "folder", "-", "--index", tmp_path / "index", input=TWO)
    assert result.exit_code == 0, result.output
    assert len(ids(tmp_path / "index")) == 4


def test_an_append_adds_documents_and_a_replacement_leaves_only_its_own(
    esr: Esr, source: Path, tmp_path: Path
) -> None:
    where = tmp_path / "index"
    esr("load", source, "--index", where)
    source.write_text(ONE + '{"id": "c", "text": "New."}\n')
    appended = esr("load", source, "--index", where, "--if-exists", "append")
    assert appended.stdout.startswith("loaded 1 document with 1 sentence")
    assert "1 document already there, unchanged" in appended.stdout
    assert len(ids(where)) == 5
    esr("load", source, "--index", where, "--if-exists", "replace")
    assert ids(where) == ["a.s0", "a.s1", "c.s0"]


def test_the_same_append_again_changes_nothing(esr: Esr, source: Path, tmp_path: Path) -> None:
    where = tmp_path / "index"
    for _ in range(3):
        assert esr("load", source, "--index", where, "--if-exists", "append").exit_code == 0
    assert len(ids(where)) == 4


def test_titles_may_be_left_out(esr: Esr, source: Path, tmp_path: Path) -> None:
    esr("load", source, "--index", tmp_path / "with")
    esr("load", source, "--index", tmp_path / "without", "--no-title")
    for name, total in (("with", 2), ("without", 0)):
        with open_searcher(str(tmp_path / name)) as searcher:
            assert searcher.search("T").total == total


GOOD = ONE.encode()
BAD: dict[str, tuple[bytes, str]] = {
    "broken JSON": (GOOD + b'{"id": "b", "text"\n', "news.jsonl:2: broken JSON"),
    "no object": (GOOD + b"\n\n[1]\n", "news.jsonl:4: not a JSON object"),
    "no id": (GOOD + b'{"source": "x"}\n', "news.jsonl:2: the document has no id"),
    "an empty id": (GOOD + b'{"id": ""}\n', "news.jsonl:2: id is empty"),
    "an id with a blank": (GOOD + b'{"id": "a b"}\n', "news.jsonl:2: id 'a b' contains ' '"),
    "an id of another type": (GOOD + b'{"id": true}\n', "news.jsonl:2: id must be a string, not true"),
    "a duplicate id": (
        GOOD + TWO.encode() + b'{"id": "a", "text": "x"}\n',
        "news.jsonl:3: document id 'a' is duplicated: first used at",
    ),
    "a duplicate sentence id": (
        GOOD + b'{"id": "b", "sentences": [{"id": "a.s1", "text": "x"}]}\n',
        "news.jsonl:2: sentence id 'a.s1' is already used",
    ),
    "a wrong type": (
        GOOD + b'{"id": "b", "text": ["x", 7]}\n',
        "news.jsonl:2: text must be a string, not a list",
    ),
    "a bad date": (
        GOOD + b'{"id": "b", "date": "yesterday"}\n',
        "news.jsonl:2: document 'b': date 'yesterday' is not",
    ),
    "a bad feature": (
        GOOD + b'{"id": "b", "sentences": [{"text": "x", "features": {"f": "1"}}]}\n',
        "news.jsonl:2: sentences[0].features.f must be a number",
    ),
    "a bad parse": (
        GOOD + b'{"id": "b", "sentences": [{"text": "x", "parse": [{"word": "x", "head": 5}]}]}\n',
        "news.jsonl:2: sentences[0].parse[0].head is 5",
    ),
    "text and sentences": (
        GOOD + b'{"id": "b", "text": "x", "sentences": []}\n',
        "has both text and sentences",
    ),
    "no UTF-8": (GOOD + b'{"id": "b", "text": "caf\xe9"}\n', "news.jsonl:2"),
    "an empty file": (b"", "news.jsonl: the file is empty"),
    "a blank file": (b" \n\n", "news.jsonl: the file is empty"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_rejected_with_its_place_and_nothing_is_loaded(
    esr_error: Esr, esr: Esr, tmp_path: Path, name: str
) -> None:
    content, message = BAD[name]
    source, where = tmp_path / "news.jsonl", tmp_path / "index"
    source.write_bytes(content)
    assert message in str(esr_error("load", source, "--index", where))
    assert not where.exists()
    (tmp_path / "good.jsonl").write_text('{"id": "old", "text": "A storm before."}\n')
    assert esr("load", tmp_path / "good.jsonl", "--index", where).exit_code == 0
    for choice in ("append", "replace"):
        assert message in str(esr_error("load", source, "--index", where, "--if-exists", choice))
        assert ids(where) == ["old.s0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "josnl"], "unknown format 'josnl': did you mean 'jsonl'"),
        (["--analyzer", "englsh"], "unknown analyzer 'englsh': did you mean 'english'"),
        (["--if-exists", "apend"], "unknown choice for --if-exists 'apend': did you mean 'append'"),
        (["--shards", "2"], "--shards is for Elasticsearch"),
    ],
)
def test_a_bad_option_is_rejected_before_anything_is_created(
    esr_error: Esr, source: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    assert message in str(esr_error("load", source, "--index", tmp_path / "index", *options))
    assert not (tmp_path / "index").exists()


def test_a_missing_path_is_rejected(esr_error: Esr, tmp_path: Path) -> None:
    line = str(esr_error("load", tmp_path / "none.jsonl", "--index", tmp_path / "index"))
    assert "none.jsonl: there is no such file or folder" in line
    assert not (tmp_path / "index").exists()


def test_a_folder_that_is_not_an_index_is_rejected_and_unchanged(
    esr_error: Esr, source: Path, tmp_path: Path
) -> None:
    letters = tmp_path / "letters"
    letters.mkdir()
    (letters / "dear.txt").write_text("dear")
    for choice in ("fail", "append", "replace"):
        assert "is not an index" in str(esr_error("load", source, "--index", letters, "--if-exists", choice))
        line = str(esr_error("load", source, "--index", letters / "dear.txt", "--if-exists", choice))
        assert "is a file, not an index folder" in line
    assert [p.name for p in letters.iterdir()] == ["dear.txt"]
    assert (letters / "dear.txt").read_text() == "dear"
    assert "is neither a folder nor http" in str(esr_error("load", source, "--index", "ftp://host/news"))


def test_an_existing_index_is_not_overwritten_by_accident(
    esr_error: Esr, esr: Esr, source: Path, tmp_path: Path
) -> None:
    esr("load", source, "--index", tmp_path / "index")
    line = str(esr_error("load", source, "--index", tmp_path / "index"))
    assert "use --if-exists replace or --if-exists append" in line


def test_rejected_documents_are_listed_in_a_file_and_the_others_loaded(esr: Esr, tmp_path: Path) -> None:
    source, aside = tmp_path / "news.jsonl", tmp_path / "bad.jsonl"
    source.write_text(ONE + TWO + '{"id": "a", "text": "x"}\n')
    loaded = esr("load", source, "--index", tmp_path / "index", "--bad-documents", aside)
    assert loaded.exit_code == 1
    assert f"1 malformed documents were not loaded and are listed in {aside}; " in loaded.stderr
    assert f"; the first: {source}:3: " in loaded.stderr
    assert loaded.stdout.startswith("loaded 2 documents")
    (line,) = map(json.loads, aside.read_text().splitlines())
    assert line["id"] == "a" and "is duplicated" in line["problem"] and line["document"]["id"] == "a"
    assert len(ids(tmp_path / "index")) == 4


def test_invalid_slices_and_slices_for_a_folder_are_rejected(esr_error: Esr, tmp_path: Path) -> None:
    news = tmp_path / "news.jsonl"
    news.write_text('{"id": "a", "text": "A storm."}\n')
    here = ("load", news, "--index", tmp_path / "index", "--slice")
    assert "--slice needs I/N, like 2/8 for the second of eight, not '3/2'" in str(esr_error(*here, "3/2"))
    assert "--slice is for Elasticsearch" in str(esr_error(*here, "1/2"))
    assert "run esr enrich when all slices are loaded" in str(esr_error(*here, "1/2", "--enrich"))
    assert not (tmp_path / "index").exists()


GERMAN = {"language": "de", "sentences": [{"text": "Die Türkei wählt."}, {"text": "…"}]}
ENGLISH = {"text": "The storm damaged forty houses on the coast, and the ferries did not sail."}
PLAIN_GERMAN = {"text": "Die Regierung hat am Montag beschlossen, dass die Steuern im nächsten Jahr sinken."}


@pytest.mark.parametrize(
    ("document", "note"),
    [
        (GERMAN, "analyzer german: 3 of the first 3 documents are in de"),
        (PLAIN_GERMAN, "analyzer german: 3 of the first 3 documents are in de"),
        ({"text": "A storm."}, "analyzer english-stem: no language of the first 3 documents is known"),
    ],
)
@pytest.mark.parametrize("option", [(), ("--analyzer", "auto"), ("--dry-run",)])
def test_the_analyzer_is_chosen_by_the_language_of_the_documents(
    esr: Esr, tmp_path: Path, document: dict[str, object], note: str, option: tuple[str, ...]
) -> None:
    source = tmp_path / "news.jsonl"
    source.write_text("".join(json.dumps({"id": str(n), **document}) + "\n" for n in range(3)))
    result = esr("load", source, "--index", tmp_path / "index", *option)
    assert note in result.stdout.splitlines()
    if "--dry-run" not in option:
        with open_searcher(str(tmp_path / "index")) as searcher:
            assert searcher.index.description.analyzer == note.split(":")[0].removeprefix("analyzer ")


@pytest.mark.parametrize("option", [(), ("--dry-run",)])
def test_documents_and_terms_that_do_not_fit_the_analyzer_are_reported(
    esr: Esr, tmp_path: Path, option: tuple[str, ...]
) -> None:
    source = tmp_path / "news.jsonl"
    long = {"id": "long", "sentences": [{"text": "wort " * 101}]}
    source.write_text("".join(json.dumps(each) + "\n" for each in ({"id": "de", **GERMAN}, long)))
    output = esr("load", source, "--index", tmp_path / "i", "--analyzer", "english-stem", *option).stdout
    assert "1 document is in a language that the analyzer english-stem is not made for: de 1" in output
    assert "1 sentence has no term" in output
    assert "1 sentence has more than 100 terms" in output
    assert not any(line.startswith("analyzer ") for line in output.splitlines())


def test_the_analyzer_is_chosen_from_files_all_over_a_delivery(esr: Esr, tmp_path: Path) -> None:
    folder = tmp_path / "delivery"
    folder.mkdir()
    for n, text in enumerate([PLAIN_GERMAN["text"]] * 2 + [ENGLISH["text"]] * 4):
        lines = [json.dumps({"id": f"{n}-{i}", "text": text}) for i in range(20 if n else 350)]
        (folder / f"{n}.jsonl").write_text("\n".join(lines))
    result = esr("load", folder, "--index", tmp_path / "index")
    note = "analyzer multilingual: the sampled 150 documents are in several languages: en 80, de 70"
    note += ". With --detect-language each language would have its own analyzer"
    assert note in result.stdout.splitlines()
    result = esr("load", folder, "--index", tmp_path / "own", "--detect-language")
    note = "analyzer by-language: the sampled 150 documents are in several languages: en 80, de 70"
    assert note in result.stdout.splitlines()
    assert esr("search", "die Regierungen", "--index", tmp_path / "own").exit_code == 0
    pipe = tmp_path / "pipe"  # can be read only once
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=((folder / "1.jsonl").read_text(),))
    writer.start()
    assert esr("load", pipe, folder / "2.jsonl", "--index", tmp_path / "other").exit_code == 0
    writer.join()


def test_a_delivery_in_another_language_is_told_before_the_switch_and_after_an_append(
    esr: Esr, tmp_path: Path
) -> None:
    def write(*documents: dict[str, str]) -> Path:
        lines = (json.dumps({"id": f"{len(documents)}-{n}", **each}) for n, each in enumerate(documents))
        (tmp_path / "a.jsonl").write_text("\n".join(lines))
        return tmp_path / "a.jsonl"

    where = tmp_path / "index"
    result = esr("load", write(*[ENGLISH] * 320, *[PLAIN_GERMAN] * 80), "--index", where)
    assert "analyzer english-stem: 300 of the first 300 documents are in en" in result.stdout
    told = "sampled documents seem to be in a language that the analyzer english-stem is not made for: de"
    assert "Warning: " in result.stderr and told in result.stderr and told in result.stdout
    assert f"1 of 1 {told} 1" in esr("append", write(PLAIN_GERMAN), "--index", where).stdout
    declared = {"language": "de", "text": "Ein Sturm."}
    output = esr("append", write(declared, declared), "--index", where).stdout
    assert "2 documents are in a language that the analyzer english-stem is not made for: de 2" in output
    assert "language" not in esr("append", write(*[ENGLISH] * 3), "--index", where).stdout
    corrected = esr("append", write({**PLAIN_GERMAN, "title": "Korrigiert"}), "--index", where).stdout
    assert "1 changed" in corrected and "language" not in corrected  # it was told of when it was added


def test_documents_without_a_language_are_told_where_each_has_the_analyzer_of_its_own(
    esr: Esr, tmp_path: Path
) -> None:
    lines = [{"id": "a", "language": "de", "text": "Die Banken zahlten."}, {"id": "b", "text": "The bank."}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = "1 document has no language, and the analyzer multilingual: detect theirs with --detect-language"
    for place in (["--dry-run"], ["--index", tmp_path / "index"]):
        result = esr("load", tmp_path / "a.jsonl", *place, "--analyzer", "by-language")
        assert result.exit_code == 0 and told in result.stdout
    lines[1]["language"] = "en"
    (tmp_path / "a.jsonl").write_text(json.dumps(lines[1]))
    result = esr("append", tmp_path / "a.jsonl", "--index", tmp_path / "index")
    assert "1 changed" in result.stdout and "no language" not in result.stdout


def test_a_language_that_detection_takes_for_another_is_told(esr: Esr, tmp_path: Path) -> None:
    text = "Abantu bose bavuka bishira bakizana kandi bangana mu gateka, no mu vyubahiro."
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": text}))
    result = esr("load", tmp_path / "a.jsonl", "--index", tmp_path / "index", "--detect-language")
    assert "rn (Kirundi) is detected as rw too; if one is meant, declare it" in result.stdout
    result = esr("load", tmp_path / "a.jsonl", "--dry-run")
    assert "the document is in rw (rn (Kirundi) is detected as rw too)" in result.stdout


def test_appended_documents_get_the_analyzer_of_the_index(esr: Esr, source: Path, tmp_path: Path) -> None:
    where = tmp_path / "index"
    esr("load", source, "--index", where, "--analyzer", "plain")
    source.write_text(json.dumps({"id": "de", **GERMAN}) + "\n")
    esr("load", source, "--index", where, "--if-exists", "append")
    with open_searcher(str(where)) as searcher:
        assert searcher.index.description.analyzer == "plain"


@pytest.fixture
def where(esr: Esr, tmp_path: Path) -> Path:
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "A storm."}\n{"id": "b", "text": "A flood."}\n')
    esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "index")
    return tmp_path / "index"


def ids_append(esr: Esr, where: Path) -> list[str]:
    return [json.loads(line)["id"] for line in esr("export", where).stdout.splitlines()]


def test_a_delivery_reports_its_counts(esr: Esr, where: Path, tmp_path: Path) -> None:
    monday = tmp_path / "monday.jsonl"
    changed = '{"id": "b", "text": "A flood. It fell."}\n'
    monday.write_text(changed + '{"id": "a", "text": "A storm."}\n{"id": "c", "text": "Hail."}\n')
    first, kept = esr("append", where, monday).stdout.splitlines()
    assert first.startswith(f"{where}: 1 added, 1 changed, 1 unchanged, in ")
    assert "is kept: esr rollback" in kept
    assert ids_append(esr, where) == ["a", "b", "c"]
    (repeated,) = esr("append", where, monday).stdout.splitlines()
    assert repeated.startswith(f"{where}: 3 unchanged, in ")
    esr("rollback", where)
    assert ids_append(esr, where) == ["a", "b"]


def test_a_removal_reports_unknown_ids(esr: Esr, where: Path) -> None:
    lines = esr("remove", where, "a", "x", "-", input="b\n y z\n").stdout.splitlines()
    assert lines[0].startswith(f"{where}: 2 removed, in ")
    assert lines[1] == "3 were not in the index: x, y, z"
    assert ids_append(esr, where) == []


REPEATS = [
    {
        "id": "a",
        "text": "The dam of the old town broke at night after a week of rain.",
        "source": "x",
        "date": "2014",
    },
    {
        "id": "b",
        "text": "The dam of the old town broke at night after a week of rain.",
        "source": "y",
        "date": "2015",
    },
    {"id": "c", "text": "A dam holds. The dam is old.", "source": "x", "date": "2016"},
    {"id": "d", "text": "Snow fell.", "source": "x", "date": "2013"},
]


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def repeats(request: pytest.FixtureRequest, esr: Esr, tmp_path: Path) -> Iterator[str]:
    """An index with two documents that say the same."""
    path = tmp_path / "repeats.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in REPEATS))
    with ExitStack() as stack:
        where = str(tmp_path / "repeated")
        if request.param == "elasticsearch":
            where = stack.enter_context(fresh(request.getfixturevalue("elasticsearch_url")))
        assert esr("load", path, "--index", where).exit_code == 0
        yield where


def test_documents_are_removed_by_a_query_with_the_repeats_that_lists_fold(esr: Esr, repeats: str) -> None:
    options = ["remove", repeats, "--query", "dam town"]
    assert esr(*options, "--dry-run").stdout == "would remove 2 documents; 2 sentences of them match\n"
    assert json.loads(esr(*options, "--dry-run", "--json").stdout) == {
        "documents": 2,
        "sentences": 2,
        "ids": ["a", "b"],
    }
    lines = esr(*options).stdout.splitlines()
    assert ": 2 removed, in " in lines[0] and "2 sentences matched, repeats included" in lines
    lines = esr("remove", repeats, "--query", "dam").stdout.splitlines()
    assert ": 1 removed, in " in lines[0] and "2 sentences matched, repeats included" in lines
    assert esr("remove", repeats, "--list").stdout.split() == ["a", "b", "c"]
    assert ": nothing to do, in " in esr("remove", repeats, "--query", "dam").stdout


def test_documents_are_removed_by_their_age_alone_or_with_a_query(esr: Esr, repeats: str) -> None:
    options = ["remove", repeats, "--query", "source:x", "--before", "2016", "--json"]
    report = json.loads(esr(*options).stdout)
    assert (report["removed"], report["documents"], report["sentences"]) == (2, 2, 2)
    report = json.loads(esr("remove", repeats, "--before", "2016", "--json").stdout)
    assert (report["removed"], report["sentences"]) == (1, 1)
    known = {"ids": ["a", "d"], "before": 1_451_606_400_000}
    assert json.loads(esr("remove", repeats, "--list", "--json").stdout) == known


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "nothing says which documents to remove: give ids, a query or a date"),
        (["a", "--query", "storm"], "documents are removed by ids, or by --query and --before"),
        (["--query", "the of"], "the query has only stop words"),
        (["--before", "soon"], "before must be a date such as 2017-02-28, not 'soon'"),
    ],
)
def test_a_removal_that_is_unclear_is_one_message(
    esr_error: Esr, where: Path, options: list[str], problem: str
) -> None:
    assert problem in str(esr_error("remove", "--index", where, *options))


def test_the_report_can_be_json(esr: Esr, where: Path) -> None:
    report = json.loads(esr("remove", where, "a", "--json", "--keep", "0").stdout)
    assert (report["removed"], report["missing"], report["notes"]) == (1, [], [])
    assert len(json.loads(esr("indices", where, "--json").stdout)) == 1


def test_a_bad_delivery_is_one_message(esr_error: Esr, esr: Esr, where: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "new", "text": "One."}\n{"id": true}\n')
    assert "bad.jsonl:2: id must be a string" in str(esr_error("append", where, bad))
    assert "there is no index" in str(esr_error("append", tmp_path / "none", bad))
    assert "there is no index" in str(esr_error("remove", tmp_path / "none", "a"))
    assert ids_append(esr, where) == ["a", "b"]


def test_it_shows_the_first_documents_and_counts_and_writes_nothing(esr: Esr, tmp_path: Path) -> None:
    result = esr("load", FOLDER / "news.jsonl", FOLDER / "trec.sgml", "--dry-run", "--index", tmp_path / "i")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        f"{FOLDER}/news.jsonl:1",
        "  j1: Ferry back in service",
        "  2024-01-15 · 2 sentences",
    ]
    assert "6 documents with 10 sentences" in lines
    assert "2 have a title, 4 a date, 0 a source, 1 a language" in lines
    assert "  AP-1: Ferry back in service" not in lines  # three are shown
    assert lines[-1] == "nothing was written"
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_needs_no_index_but_a_load_does(esr: Esr, esr_error: Esr) -> None:
    assert esr("load", FOLDER / "news.jsonl", "--dry-run").exit_code == 0
    assert "no index given: use --index or ESR_INDEX" in str(esr_error("load", FOLDER / "news.jsonl"))


def test_all_problems_are_reported_and_the_exit_status_is_1(esr: Esr, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "a"}\n{\n{"id": "b", "text": 1}\n{"id": "a", "text": "x"}\n')
    result = esr("load", path, tmp_path / "x.jsonl", "--dry-run")
    assert result.exit_code == 1
    assert f"{path}:2: broken JSON" in result.stdout
    assert f"{path}:3: text must be a string" in result.stdout
    assert f"{path}:4: document id 'a' is duplicated: first used at {path}:1 with other" in result.stdout
    assert "Error: 6 documents cannot be loaded; nothing was written" in result.stderr


def test_the_file_of_bad_documents_stays_as_it_was(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{\n")
    (tmp_path / "bad").write_text("of the last load")
    result = esr("load", tmp_path / "x.jsonl", "--bad-documents", tmp_path / "bad", "--dry-run")
    assert "Error: 1 document cannot be loaded; nothing was written" in result.stderr
    assert (tmp_path / "bad").read_text() == "of the last load"


def test_an_unreadable_source_is_a_problem_too(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "x.odd").write_bytes(b"\x00\x01")
    result = esr("load", tmp_path / "x.odd", "--dry-run")
    assert result.exit_code == 1
    assert "x.odd: unknown format" in result.stdout
    assert "Error: 1 document cannot be loaded" in result.stderr


def test_an_error_that_ends_the_reading_is_shown_beside_malformed_documents(
    esr: Esr, source: Path, tmp_path: Path
) -> None:
    source.write_text(ONE + "{\n")
    (tmp_path / "x.odd").write_bytes(b"\x00\x01")
    result = esr("load", source, tmp_path / "x.odd", "--dry-run")
    assert f"{source}:2: broken JSON" in result.stdout
    assert "x.odd: unknown format" in result.stdout
    assert "Error: 2 documents cannot be loaded" in result.stderr


def test_json_has_complete_documents(esr: Esr) -> None:
    data = json.loads(
        esr("load", "-", "--format", "warc", "--dry-run", "--json", input=sample("warc")).stdout
    )
    assert (data["documents"], data["problem_count"], data["problems"]) == (2, 0, [])
    assert data["first"][0]["where"] == "standard input:record 2"
    assert data["first"][0]["title"] == "Ferry back in service"


def test_documents_are_shown_after_mapping_and_deduplication(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("n,body\n1,Some text.\n2,Some text.\n")
    options = ["--mapping", "id=n", "--mapping", "text=body", "--duplicates", "drop"]
    result = esr("load", tmp_path / "x.csv", *options, "--dry-run")
    assert "1 document with 1 sentence" in result.stdout
    assert "1 document repeats an earlier one word for word" in result.stdout


@pytest.mark.parametrize("command", ["load", "append"])
def test_the_seconds_of_a_report_include_reading(
    command: str, esr: Esr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents are read before the writer is opened: a sample of them chooses the analyzer."""
    from esr.loaders.pipeline import DocumentPipeline

    clock, offset = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + offset[0])
    news, index = tmp_path / "news.jsonl", tmp_path / "index"
    news.write_text('{"id": "a", "text": "A storm came."}\n')
    esr("load", news, "--index", index)
    open_at_once = DocumentPipeline.open

    def open_slowly(self: DocumentPipeline, **options: Any) -> Any:
        offset[0] += 1000
        return open_at_once(self, **options)

    monkeypatch.setattr(DocumentPipeline, "open", open_slowly)
    news.write_text('{"id": "b", "text": "A flood came."}\n')
    replace = ["--if-exists", "replace"] if command == "load" else []
    result = esr(command, news, "--index", index, *replace, "--json")
    assert json.loads(result.stdout)["seconds"] >= 1000


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        ImportError("x.so: failed to map segment from shared object"),
    ],
)
def test_too_little_memory_is_one_message(
    error: Exception, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esr.cli.load.load_documents", Mock(side_effect=error))
    result = CliRunner().invoke(main, ["load", str(source), "--index", str(tmp_path / "index")])
    assert result.exit_code == 1 and len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("Error: there is not enough memory") and "ulimit -v" in result.stderr


def test_another_failure_of_a_program_keeps_its_traceback(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esr.cli.load.load_documents", Mock(side_effect=RuntimeError("a fault of esr")))
    result = CliRunner().invoke(main, ["load", str(source), "--index", str(tmp_path / "index")])
    assert isinstance(result.exception, RuntimeError)
