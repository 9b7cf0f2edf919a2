"""How many queries that people would type in their language find the sentence that they look for.

    python -m benchmarks.studies.native_queries FOLDER [LANGUAGE ...]

FOLDER is that of `benchmarks.studies.languages`, with XQuAD. `native_queries.tsv` has twenty queries a
language and says how they were written. A query is right if the sentence in which the answer begins is among
the first five. Prints a table; with languages, also what fails in these.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.studies.languages import find_judgements
from esr import loaders
from esr.index.factory import open_writer
from esr.index.writer import LoadOptions
from esr.ranking.searcher import UnsearchableQuery, open_searcher
from esr.text.analyzer_definitions import choose_analyzer

QUERIES = Path(__file__).with_suffix(".tsv")
_FIRST = 5


def main(folder: Path, shown: Sequence[str]) -> None:
    print("| language | analyzer | queries | among the first five |")
    print("| --- | --- | ---: | ---: |")
    for language, queries in read_queries().items():
        if (folder / language).exists():
            _measure(folder / language, queries, language in shown)


def read_queries() -> Mapping[str, list[tuple[str, str]]]:
    """By language, the id of a question and what is typed."""
    queries: dict[str, list[tuple[str, str]]] = {}
    for line in QUERIES.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            language, question, typed = line.split("\t")
            queries.setdefault(language, []).append((question, typed))
    return queries


def _measure(folder: Path, queries: Sequence[tuple[str, str]], is_shown: bool) -> None:
    """Print the row of a language."""
    located = list(loaders.read_documents([str(folder / "docs.jsonl.gz")]))
    analyzer = choose_analyzer(one.document.language for one in located).analyzer
    documents = [one.document for one in located]
    texts = {s.id: s.text for document in documents for s in document.sentences}
    wanted = {query: next(iter(ids)) for query, ids in find_judgements(documents, folder)}
    with tempfile.TemporaryDirectory() as work:
        where = str(Path(work) / "index")
        open_writer(where, LoadOptions(analyzer=analyzer)).load(located)
        with open_searcher(where) as searcher:
            missed = []
            for question, typed in queries:
                try:
                    hits = searcher.search(typed, _FIRST, records=False).hits
                except UnsearchableQuery:
                    hits = []
                if wanted[question] not in {hit.sentence_id for hit in hits}:
                    missed.append((typed, texts[wanted[question]]))
    print(f"| {folder.name} | {analyzer} | {len(queries)} | {len(queries) - len(missed)} |")
    for typed, text in missed if is_shown else ():
        print(f"{typed}\n    {text}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
