"""Lines and seconds of the same task in esr and in other libraries for search, side by side.

    python -m benchmarks.studies.libraries news.jsonl

The task, in a new process: load the sentences, search, search with two filters, count the sources and the
months of all matches, and explain the first hit. esr gets documents and splits them; the others get split
sentences. Each program follows the documentation of its library. Steps that a library does not support are
left out and named. Lines are those of the program without blank ones.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from textwrap import dedent
from typing import NamedTuple

import esr
from esr.wording import format_table

PROGRAMS = {
    "esr": """
        import esr
        index = esr.load("news-index", "news.jsonl")
        hits = index.search("travel ban court")
        some = index.search("travel ban court", source="abcnews.go.com", after="2017-02")
        counts = hits.facets("source", "month")
        parts = hits.explain(0)
        result = [hit.text for hit in some]
    """,
    "bm25s": """
        import json
        from collections import Counter
        import bm25s, numpy as np, Stemmer
        rows = [json.loads(line) for line in open("sentences.jsonl")]
        options = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english"), "show_progress": False}
        index = bm25s.BM25()
        index.index(bm25s.tokenize([row["text"] for row in rows], **options), show_progress=False)
        query = bm25s.tokenize("travel ban court", return_ids=False, **options)
        hits, _ = index.retrieve(query, k=10, show_progress=False)
        mask = np.array([row["source"] == "abcnews.go.com" and row["date"] >= "2017-02" for row in rows])
        some, _ = index.retrieve(query, k=10, weight_mask=mask, show_progress=False)
        matches = np.flatnonzero(index.get_scores(query[0]))
        counts = Counter(rows[n]["source"] for n in matches), Counter(rows[n]["date"][:7] for n in matches)
        parts = {term: index.get_scores([term])[hits[0][0]] for term in query[0]}
        result = [rows[n]["text"] for n in some[0]]
    """,
    "tantivy": """
        import json
        import tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
        for name in ("source", "month"):
            builder.add_text_field(name, stored=True, tokenizer_name="raw", fast=True)
        index = tantivy.Index(builder.build())
        writer = index.writer()
        for line in open("sentences.jsonl"):
            row = json.loads(line)
            fields = {"text": row["text"], "source": row["source"], "month": row["date"][:7]}
            writer.add_document(tantivy.Document(**fields))
        writer.commit()
        index.reload()
        searcher = index.searcher()
        query = index.parse_query("travel ban court", ["text"])
        hits = searcher.search(query, 10).hits
        filters = '+source:"abcnews.go.com" +month:>=2017-02'
        both = index.parse_query(f"+(travel ban court) {filters}", ["text"])
        some = searcher.search(both, 10).hits
        wanted = {name: {"terms": {"field": name}} for name in ("source", "month")}
        counts = searcher.aggregate(query, wanted)
        parts = query.explain(searcher, hits[0][1]).to_json()
        result = [searcher.doc(address)["text"][0] for _, address in some]
    """,
    "sqlite-utils": """
        import json
        import sqlite_utils
        db = sqlite_utils.Database("news.db")
        db["news"].insert_all((json.loads(line) for line in open("sentences.jsonl")), pk="id")
        db["news"].enable_fts(["text"], tokenize="porter")
        query = "travel OR ban OR court"
        hits = list(db["news"].search(query, limit=10))
        where = {"where": "source = :source and date >= :after"}
        values = {"source": "abcnews.go.com", "after": "2017-02"}
        some = list(db["news"].search(query, limit=10, where_args=values, **where))
        matching = "from news where rowid in (select rowid from news_fts where news_fts match ?)"
        counts = [
            list(db.query(f"select {field}, count(*) {matching} group by 1 order by 2 desc", [query]))
            for field in ("source", "substr(date, 1, 7)")
        ]
        result = [row["text"] for row in some]
    """,
    "PyTerrier": """
        import json
        import pyterrier as pt
        rows = [json.loads(line) for line in open("sentences.jsonl")]
        rows = [{"docno": row["id"], **row} for row in rows]
        indexer = pt.IterDictIndexer("./terrier-index", meta={"docno": 40, "text": 4096}, text_attrs=["text"])
        index = indexer.index(rows)
        retriever = pt.terrier.Retriever(index, wmodel="BM25", metadata=["docno", "text"])
        hits = retriever.search("travel ban court")
        found = {row["id"]: row for row in rows}
        of_hits = hits.assign(**{n: [found[d][n] for d in hits.docno] for n in ("source", "date")})
        some = of_hits[(of_hits.source == "abcnews.go.com") & (of_hits.date >= "2017-02")].head(10)
        counts = of_hits.source.value_counts(), of_hits.date.str[:7].value_counts()
        result = list(some.text)
    """,
}
MODULES = {"esr": "esr", "bm25s": "bm25s", "tantivy": "tantivy", "sqlite-utils": "sqlite_utils"}
MODULES["PyTerrier"] = "pyterrier"
LACKS = {
    "esr": "nothing",
    "bm25s": "filters, counts and parts are the program's own; the index is in memory",
    "tantivy": "no surroundings or documents of sentences; facets of fields that were declared",
    "sqlite-utils": "no explanation; counts are SQL",
    "PyTerrier": "no explanation; filters and counts are of the 1,000 hits, by pandas; needs Java",
}


def write_inputs(news: Path, folder: Path) -> None:
    """Copy the documents, and write their sentences, split by esr."""
    (folder / "news.jsonl").write_bytes(news.read_bytes())
    with (
        esr.load(folder / "split", news) as index,
        (folder / "sentences.jsonl").open("w", encoding="utf-8") as file,
    ):
        for document in index.documents():
            for sentence in document.sentences:
                row = {"id": sentence.id, "text": sentence.text}
                row |= {"source": document.source or "", "date": document.date or ""}
                file.write(json.dumps(row) + "\n")


class Times(NamedTuple):
    """Seconds of a process with its children: wall-clock time, and processor time."""

    elapsed: float
    busy: float


def time_program(program: str, inputs: Path) -> Times:
    """The times of a new process that runs the program in a folder with the inputs."""
    with tempfile.TemporaryDirectory() as folder:
        for file in ("news.jsonl", "sentences.jsonl"):
            os.symlink(inputs / file, Path(folder) / file)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        started, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
        program += "\nassert 0 < len(result) <= 10, result"
        subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, env=environment)
        elapsed, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
        return Times(elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("news", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    programs = {
        name: dedent(program).strip() for name, program in PROGRAMS.items() if find_spec(MODULES[name])
    }
    times: dict[str, list[Times]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder)
        write_inputs(arguments.news, inputs)
        for _ in range(arguments.rounds):
            for name, program in programs.items():
                try:
                    times[name].append(time_program(program, inputs))
                except subprocess.CalledProcessError:
                    print(f"{name} failed", file=sys.stderr)
    rows = [
        (
            name,
            str(len(program.splitlines())),
            *(f"{statistics.median(values):.1f}" for values in zip(*times[name], strict=True)),
            LACKS[name],
        )
        for name, program in programs.items()
        if times[name]
    ]
    print(format_table(("library", "lines", "seconds", "seconds of a processor", "what it lacks"), rows))


if __name__ == "__main__":
    main()
