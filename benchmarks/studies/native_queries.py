"""How many queries that people would type in their language find the sentence that they look for.

    python -m benchmarks.studies.native_queries FOLDER [LANGUAGE ...]

FOLDER is that of `benchmarks.studies.languages`, with XQuAD, or treebanks `<code>_…-ud-test.conllu`, whose
sentences are documents. `native_queries.tsv` has twenty queries a language and says how they were written. A
query is right if its sentence is among the first five: that of the treebank, or the one in which the answer
begins. Prints a table; with languages, also what fails in these.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.studies.languages import find_judgements
from benchmarks.studies.quotation_languages import read_texts
from esr import loaders
from esr.index.factory import open_writer
from esr.index.writer import LoadOptions
from esr.ranking.searcher import UnsearchableQuery, open_searcher
from esr.text.analyzer_definitions import choose_analyzer
from esr.text.document import Document, Located, Sentence

QUERIES = Path(__file__).with_suffix(".tsv")
_FIRST = 5


def main(folder: Path, shown: Sequence[str]) -> None:
    print("| language | analyzer | queries | among the first five |")
    print("| --- | --- | ---: | ---: |")
    for language, queries in read_queries().items():
        treebank = next(folder.glob(f"{language}_*-ud-test.conllu"), None)
        if (folder / language).exists():
            located = list(loaders.read_documents([str(folder / language / "docs.jsonl.gz")]))
            judged = find_judgements([one.document for one in located], folder / language)
            wanted = {query: next(iter(ids)) for query, ids in judged}
            _measure(language, located, wanted, queries, language in shown)
        elif treebank is not None:
            located = list(_read_treebank(treebank, language))
            wanted = {one.document.id: one.document.sentences[0].id for one in located}
            _measure(language, located, wanted, queries, language in shown)


def read_queries() -> Mapping[str, list[tuple[str, str]]]:
    """By language, the id of a question and what is typed."""
    queries: dict[str, list[tuple[str, str]]] = {}
    for line in QUERIES.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            language, question, typed = line.split("\t")
            queries.setdefault(language, []).append((question, typed))
    return queries


def _read_treebank(path: Path, language: str) -> Iterator[Located]:
    """The sentences of a treebank as documents."""
    for sentence, text in read_texts(path):
        document = Document(sentence, (Sentence(f"{sentence}.s0", text),), language=language)
        yield Located(str(path), document)


def _measure(
    language: str,
    located: Sequence[Located],
    wanted: Mapping[str, str],
    queries: Sequence[tuple[str, str]],
    is_shown: bool,
) -> None:
    """Print the row of a language. `wanted` has the sentence of each query's id."""
    analyzer = choose_analyzer(one.document.language for one in located).analyzer
    texts = {s.id: s.text for one in located for s in one.document.sentences}
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
    print(f"| {language} | {analyzer} | {len(queries)} | {len(queries) - len(missed)} |")
    for typed, text in missed if is_shown else ():
        print(f"{typed}\n    {text}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
