"""Memory does not grow with the size of the source. Slow: it reads tens of thousands of documents."""

from __future__ import annotations

import io
import os
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.loaders import read_documents
from esr.loaders.document_ids import DuplicateFilter
from tests.support import samples
from tests.support.runs import IS_LONG

pytestmark = pytest.mark.endurance

FEW, MANY = (500, 5000) if IS_LONG else (60, 600)
TEXT = "The ferry sails again. " * 20
_CONTENT = "<ContentItem><DataContent>{}</DataContent></ContentItem>"
UNITS = {
    "csv": ("id,text\n", 'i{},"{}"\n', ""),
    "factiva": ("", "HD  a\nPD  16 January 2024\nLP\n{1}\nAN  Document NPOST00020240116ek1g{0:05}\n", ""),
    "json": ('{"status": "ok", "articles": [', '{{"id": "i{}", "text": "{}"}}, ', '{"id": "z"}]}'),
    "jsonl": ("", '{{"id": "i{}", "text": "{}"}}\n', ""),
    "mediawiki": (
        "<mediawiki>",
        "<page><title>a</title><id>{}</id><revision><text>{}</text></revision></page>",
        "</mediawiki>",
    ),
    "mbox": ("", "From a@b Mon Jan 15 09:00:00 2024\nMessage-ID: <i{}@b>\n\n{}\n\n", ""),
    "newsml": ("<x>", '<newsItem guid="i{}"><inlineData>{}</inlineData></newsItem>\n', "</x>"),
    "newsml1": ("<x>", '<NewsItem Duid="i{}">' + _CONTENT + "</NewsItem>", "</x>"),
    "nitf": ("<x>", '<nitf><doc-id id-string="i{}"/><body.content><p>{}</p></body.content></nitf>\n', "</x>"),
    "reuters": ("", '<REUTERS NEWID="{}">\n<TEXT><BODY>{}</BODY></TEXT></REUTERS>\n', ""),
    "tei": ("<TEI><teiHeader/>", '<u xml:id="u{}"><seg>{}</seg></u>', "</TEI>"),
    "trec": ("", "<DOC><DOCNO>i{}</DOCNO><TEXT>{}</TEXT></DOC>\n", ""),
}  # fmt: skip


def written(format: str, count: int, path: Path) -> str:
    if format == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {"id": [f"i{n}" for n in range(count)], "text": [f"{n} {TEXT}" for n in range(count)]}
        pq.write_table(pa.table(columns), path, row_group_size=100)
    elif format == "xlsx":
        import openpyxl

        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet()
        for row in (["id", "text"], *([f"i{n}", f"{n} {TEXT}"] for n in range(count))):
            sheet.append(row)
        book.save(path)
    elif format == "warc":
        record = samples.sample("warc").split(b"WARC/1.0\r\n")[2]
        number = b"00000000-0000-0000-0000-000000000001"
        with path.open("wb") as file:
            for n in range(count // 10):
                file.write(b"WARC/1.0\r\n" + record.replace(number, b"%d" % n))
    elif format == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.jsonl", "".join(lines("jsonl", count)))
    else:
        path.write_text("".join(lines(format, count)))
    return os.fspath(path)


def lines(format: str, count: int) -> Iterator[str]:
    start, unit, end = UNITS[format]
    yield start
    yield from (unit.format(n, TEXT) for n in range(count))
    yield end


def peak(format: str, path: str) -> int:
    """The peak of memory that Python allocated while the documents were read."""
    tracemalloc.start()
    try:
        for _ in read_documents([path], "auto" if format == "zip" else format):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("format", [*UNITS, "parquet", "warc", "xlsx", "zip"])
def test_ten_times_as_many_documents_take_no_more_memory(format: str, tmp_path: Path) -> None:
    few = written(format, FEW, tmp_path / "few")
    many = written(format, MANY, tmp_path / "many")
    peak(format, few)  # one-time allocations
    assert peak(format, many) < 1.3 * peak(format, few) + 2**20


def test_duplicate_detection_takes_no_more_memory_when_its_window_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("esr.loaders.document_ids.NEAR_WINDOW", 200)
    monkeypatch.setattr("esr.loaders.document_ids.MIN_WORDS", 1)

    def peak_of(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        path.write_text(
            "".join(f'{{"id": "{n}", "text": "a{n} b{n} c{n} d{n} e{n} f{n}"}}\n' for n in range(count))
        )
        tracemalloc.start()
        try:
            for _ in DuplicateFilter("drop").filter(read_documents([os.fspath(path)])):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak_of(300)
    assert peak_of(4000) < 1.3 * peak_of(400) + 2**20


def test_a_pipe_is_read_as_a_stream() -> None:
    """The stream is ten times the memory that the test may use."""
    from esr.loaders import Source, get

    class Endless(io.RawIOBase):
        left = 50_000

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            self.left -= 1
            data = b'{"id": "i%d", "text": "%s"}\n' % (self.left, b"x " * 400)
            if self.left < 0:
                return 0
            buffer[: len(data)] = data
            return len(data)

    tracemalloc.start()
    try:
        count = sum(1 for _ in get("jsonl").read(Source("x", "x", io.BufferedReader(Endless(), 2**16))))
        assert count == 50_000
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    finally:
        tracemalloc.stop()
