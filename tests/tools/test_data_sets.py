"""The comparison of data sets finds what a load leaves out, and the docs have a row for each of them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from esr.loaders import ReadOptions, read_documents
from tests.support.samples import sample
from tools import readings
from tools.data_sets import DATA_SETS, DataSet, compare
from tools.readings import read_json, read_table, read_texts

DOCS = Path(__file__).resolve().parents[2] / "docs/formats-notes.md"
SET = DataSet("two", "JSON", "someone/two", ("*.json",), read_json("title", "text|body"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a clone of the data set: two articles, one of them twice."""
    (tmp_path / "two").mkdir()
    (tmp_path / "scratch").mkdir()
    for name, text in (("a", "A ferry sails."), ("b", "A ferry sails."), ("c", "Storms came.")):
        (tmp_path / "two" / f"{name}.json").write_text(f'{{"id": "{name}", "title": "T", "text": "{text}"}}')
    return tmp_path


@pytest.mark.slow
def test_a_load_of_everything_has_no_letter_more_or_less(folder: Path) -> None:
    found = compare(SET, folder, folder / "scratch")
    assert (found.articles, found.distinct, found.documents) == (3, 2, 3)
    assert (found.letters, found.missing, found.further) == (len("TAferrysailsTStormscame"), 0, 0)


@pytest.mark.slow
def test_what_a_load_leaves_out_is_missing(folder: Path) -> None:
    less = replace(SET, options=("--exclude", "c.json"), named=(".",))
    found = compare(less, folder, folder / "scratch")
    assert (found.documents, found.missing, found.further) == (2, len("TStormscame"), 0)


@pytest.mark.slow
def test_what_a_load_adds_is_further(folder: Path) -> None:
    found = compare(replace(SET, files=("[ab].json",), named=(".",)), folder, folder / "scratch")
    assert (found.documents, found.missing, found.further) == (3, 0, len("TStormscame"))


@pytest.mark.slow
def test_a_load_that_fails_says_why(folder: Path) -> None:
    (folder / "two" / "d.json").write_text("{")
    found = compare(replace(SET, read=read_texts), folder, folder / "scratch")
    assert not found.documents and "d.json" in (found.error or "")


def test_tables_are_read_with_their_delimiter_and_quotes(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("a;'It''s; so'\nb;\"Two\n")
    read = read_table("text", names=("section", "text"), delimiter=";", quote="'")
    assert list(read([file])) == ["It's; so", '"Two']


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        ("srt", readings.read_subtitles),
        ("vtt", readings.read_subtitles),
        ("docx", readings.read_office),
        ("odt", readings.read_office),
        ("tei", readings.read_speeches),
        ("alto", readings.read_pages_of_alto),
        ("mediawiki", readings.read_wiki),
        ("eml", readings.read_mails),
        ("xlsx", readings.read_workbook("title", "text")),
    ],
)
def test_plain_readings_find_the_words_of_the_samples_that_esr_finds(
    tmp_path: Path, kind: str, read: readings.Reading
) -> None:
    file = tmp_path / f"sample.{kind}"
    file.write_bytes(sample(kind))
    documents = (located.document for located in read_documents([str(file)], kind, ReadOptions()))
    wanted = {word for document in documents for text in document.sentences for word in text.text.split()}
    found = set(" ".join(read([file])).split())
    assert len(wanted & found) > 0.8 * len(wanted)


def test_articles_of_exports_are_read_between_their_statements(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Title\nBody\nIt sails.\nLoad-Date: x\nEnd\nTwo\nBody\nIt rains.\n")
    read = readings.read_export("^End$", "^Body$", "^Load-Date", r"\A\s*(.*)")
    assert [text.split() for text in read([tmp_path / "a.txt"])] == [
        ["Title", "It", "sails."],
        ["Two", "It", "rains."],
    ]


def test_the_docs_have_each_data_set_and_its_options() -> None:
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \| ([^|]*?) ?\|", DOCS.read_text(), re.MULTILINE)
    options = {name: said for name, _, said in rows}
    for data_set in DATA_SETS:
        assert data_set.name in options
        for option in data_set.options:
            assert not option.startswith("--") or option in options[data_set.name], data_set.name
        assert bool(data_set.options) == bool(options[data_set.name])
