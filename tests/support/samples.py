"""A small good file of each source format, with two or more documents where the format allows it.

Each is written for these tests from the format's specification; WARC by warcio 1.8, Parquet by pyarrow, the
tools that write such files. The news in them is made up.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import tarfile
import zipfile
from functools import cache
from pathlib import Path

from esr.loaders import FORMATS

FOLDER = Path(__file__).resolve().parent.parent / "data" / "loaders"
# The file in tests/data/loaders for each format; Parquet is written here.
FILES = {
    "csv": "table.csv",
    "feed": "rss.xml",
    "html": "page.html",
    "json": "news.json",
    "jsonl": "news.jsonl",
    "mbox": "list.mbox",
    "newsml": "newsml-g2.xml",
    "newsml1": "newsml-1.xml",
    "nitf": "nitf.xml",
    "reuters": "reuters.sgm",
    "text": "article.txt",
    "trec": "trec.sgml",
    "warc": "crawl.warc",
}
# Tokens that the fuzzer inserts: those of a format do more harm than noise.
TOKENS = {
    "csv": [b'"', b",", b"\r\n", b'""', b"\t", b";"],
    "feed": [b"<item>", b"</item>", b"<guid>", b"<![CDATA[", b"&lt;p", b"<feed>", b"</rss>"],
    "html": [b"<article>", b"</p>", b"<script>", b"<!--", b"<table><tr><td>", b"&#0;", b"<title>"],
    "json": [b"{", b"}", b"[", b"]", b",", b'"', b'{"data": [', b"\\ud83d\\u", b"-", b"Infinity", b"[" * 99],
    "jsonl": [b"{", b"}", b'"', b'"id": 1', b"\\ud800", b"[" * 99, b"NaN", b'"sentences": ', b"1e999"],
    "mbox": [b"\n\nFrom a@b Thu Jan  1 00:00:00 2024\n", b"Content-Type: multipart/mixed\n", b"=?x?q?=80?=",
             b"charset=utf-7", b"Content-Transfer-Encoding: base64\n", b"Message-ID: <>\n"],
    "newsml": [b"<newsItem>", b"</newsItem>", b"<inlineXML>", b"&eacute;", b"<!DOCTYPE a>", b"]]>"],
    "newsml1": [b"<NewsItem>", b"</NewsItem>", b"<NewsComponent EquivalentsList='yes'>", b"</NewsComponent>",
                b"<DataContent>", b"<NewsLines><HeadLine>x</HeadLine></NewsLines>", b"<NewsML>", b"&x;"],
    "nitf": [b"<nitf>", b"</nitf>", b"<body.content>", b"<block>", b"&x;", b"<doc-id/>", b"<?xml?>"],
    "parquet": [b"PAR1", b"\x15\x00", b"\xff\xff\xff\x7f", b"\x19\xfc"],
    "reuters": [b"<REUTERS NEWID=", b"</REUTERS>", b"<BODY>", b"&#3;", b"<DATE>", b"\x1f", b'NEWID="">'],
    "text": [b"\n\n", b"\x00", b"\xff"],
    "trec": [b"<DOC>", b"</DOC>", b"<DOCNO>", b'<s docid="x" num="1">', b"</s>", b"<TEXT>", b"&#x;"],
    "warc": [b"WARC/1.0\r\n", b"Content-Length: 99999999999\r\n", b"\r\n\r\n", b"Content-Length: -1\r\n",
             b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: br\r\n", b"HTTP/1.1 200 OK\r\n"],
}  # fmt: skip
# Documents in these formats have an explicit end, so truncation is detected.
ENDING = ("feed", "json", "jsonl", "newsml", "newsml1", "nitf", "parquet", "reuters", "trec", "warc")


@cache
def sample(format: str) -> bytes:
    """The bytes of a good file of this format."""
    if format == "parquet":
        return _parquet()
    return (FOLDER / FILES[format]).read_bytes()


def packed(kind: str) -> bytes:
    """The JSON Lines sample in a file of this kind: gz, zst, zip, tar or tgz."""
    data = sample("jsonl")
    if kind == "gz":
        return gzip.compress(data, mtime=0)
    if kind == "zst":
        from backports import zstd

        return zstd.compress(data)
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a/news.jsonl", data)
            archive.writestr("b/trec.sgml", sample("trec"))
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w:gz" if kind == "tgz" else "w") as tar:
        for name, member in (("a/news.jsonl", data), ("b/trec.sgml", sample("trec"))):
            info = tarfile.TarInfo(name)
            info.size = len(member)
            tar.addfile(info, io.BytesIO(member))
    return out.getvalue()


def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "id": ["p1", "p2"],
            "title": ["Ferry back in service", None],
            "date": pa.array([1_705_312_800_000, None], pa.timestamp("ms")),
            "text": ["The ferry sails again. Two hundred people were aboard.", "The harbour stays closed."],
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


assert set(TOKENS) == set(FORMATS) == set(FILES) | {"parquet"}, "a format has no sample"


# A synthetic collection with queries, small enough for a benchmark of seconds.


WORDS = [f"{first}{second}" for first in "bdfgklmnprstvz" for second in ("ako", "emi", "oru", "uda", "iba")]


def write_toy_collection(folder: Path, documents: int = 80) -> tuple[Path, Path]:
    """Paths of the documents and of the queries."""
    chance = random.Random(5)
    source, queries = folder / "documents.jsonl", folder / "queries.tsv"
    with source.open("w", encoding="utf-8") as file:
        for number in range(documents):
            texts = [_sentence(chance) for _ in range(chance.randint(1, 9))]
            fields = {"id": f"d{number}", "title": _sentence(chance), "date": "2026-01-02", "source": "toy"}
            file.write(json.dumps({**fields, "sentences": [{"text": text} for text in texts]}) + "\n")
    lines = (f"q{number}\t{' '.join(chance.sample(WORDS, 3))}\n" for number in range(60))
    queries.write_text("".join(lines), "utf-8")
    return source, queries


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 12)))
