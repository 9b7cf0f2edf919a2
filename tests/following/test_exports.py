"""Citations of articles in one line, whatever their fields say."""

from __future__ import annotations

import errno
import gc

import pytest

from esr.following.exports import EXPORTS, Row, cite
from esr.index.hits import Hit, SentenceRecord
from esr.text.document import Document


def document(**fields: object) -> Document:
    values = {"id": "a", "title": "Floods", "date": "2024-03-05", "source": "Wire", **fields}
    return Document(sentences=(), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", ['"', "”", "“", "„", "＂"])
@pytest.mark.parametrize("field", ["title", "source", "authors"])
def test_no_field_of_an_article_ends_its_title_and_goes_on_as_another_source(field: str, mark: str) -> None:
    forged = f"Floods{mark}, Fake Source, 2020-01-01, https://fake.example"
    line = cite("a", document(**{field: (forged,) if field == "authors" else forged}))
    assert [c for c in line if c in '"“”„＂'] == ["“", "”"]
    assert line.endswith("2024-03-05")


def test_quotation_marks_inside_a_title_become_single_ones() -> None:
    assert cite("a", document(title="He said “no”")) == "“He said ‘no’”, Wire, 2024-03-05"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "https://a.example/\u202e"])
def test_only_addresses_of_the_web_are_cited(url: str) -> None:
    assert cite("a", document(url=url)) == "“Floods”, Wire, 2024-03-05"
    assert cite("a", document(url="https://a.example/x")).endswith(", https://a.example/x")


@pytest.mark.parametrize("name", ["csv", "bibtex", "ris", "csl"])
def test_files_have_addresses_of_the_web_only(name: str) -> None:
    rows = []
    for n, url in enumerate(["javascript:alert(1)", "https://news.example/a"]):
        record = SentenceRecord(
            f"d{n}.s0", f"d{n}", 0, "It rained.", None, None, "Rain", None, None, url, None
        )
        rows.append(Row(Hit(record.sentence_id, 1.0, record), {"url": url}))
    text = b"".join(EXPORTS[name].write(rows, ())).decode()
    assert "https://news.example/a" in text and "javascript" not in text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the unfinished ZIP
def test_a_disk_that_is_full_when_a_sheet_is_packed_is_an_error_of_the_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("xlsxwriter")
    with open("/dev/full", "r+b", buffering=0) as full:
        monkeypatch.setattr("tempfile.TemporaryFile", lambda: full)
        with pytest.raises(OSError) as caught:
            list(EXPORTS["xlsx"].write([], ()))
    number = caught.value.errno
    del caught
    gc.collect()  # ends the unfinished ZIP here, and not in another test
    assert number == errno.ENOSPC


def test_invisible_signs_of_a_title_do_not_cut_its_words() -> None:
    persian, emoji = "می\u200cخواهم", "\U0001f469\u200d\U0001f4bb"
    title = f"{persian} {emoji} Hoch\u00adwasser\nin\u2028Köln \u202eupside"
    assert cite("a", document(title=title)).startswith(f"“{persian} {emoji} Hochwasser in Köln upside”")
