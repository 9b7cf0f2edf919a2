"""AP of queries typed without accents, compared with the same queries as written.

    python -m benchmarks.studies.accents FOLDER

FOLDER is that of `benchmarks.studies.languages`; a language without `topics.tsv` has words alone. `words` is
the share of the words with accents of the documents whose form without accents finds one of the sentences
with the word. Prints a table.
"""

from __future__ import annotations

import re
import sys
import tempfile
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from benchmarks.studies.languages import find_judgements, mean_ap, rank_by_esr
from esr import loaders
from esr.index.factory import open_writer
from esr.index.writer import LoadOptions
from esr.ranking.searcher import Searcher, UnsearchableQuery, open_searcher
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import choose_analyzer
from esr.text.document import Document

_OTHER_LETTERS = str.maketrans({"ı": "i", "ł": "l", "đ": "d", "ø": "o", "æ": "ae", "œ": "oe", "ß": "ss"})
_KEPT = {"й": "й", "ё": "е"}
"""Letters of the keyboard that are no accented ones, and what is typed for ё."""
_WORDS = 300
"""Number of words with accents that are tried, the most frequent ones."""


def main(folder: Path) -> None:
    print("| language | analyzer | topics | as written | without accents | difference | words |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for of_language in sorted(path for path in folder.iterdir() if (path / "docs.jsonl.gz").exists()):
        with tempfile.TemporaryDirectory() as work:
            _compare(of_language, Path(work) / "index")


def _compare(folder: Path, where: Path) -> None:
    """Print the row of a language."""
    located = list(loaders.read_documents([str(folder / "docs.jsonl.gz")]))
    analyzer = choose_analyzer(one.document.language for one in located).analyzer
    open_writer(str(where), LoadOptions(analyzer=analyzer)).load(located)
    documents = [one.document for one in located]
    precision = _compare_questions(folder, where, documents) if (folder / "topics.tsv").exists() else "| | |"
    with open_searcher(str(where)) as searcher:
        words = _find_words(searcher, documents, analyzer)
    print(f"| {folder.name} | {analyzer} | {precision} | {words} |")


def _compare_questions(folder: Path, where: Path, documents: list[Document]) -> str:
    """The number of questions, AP as written and without accents, and the difference."""
    qrels = dict(find_judgements(documents, folder))
    topics = dict(line.split("\t") for line in (folder / "topics.tsv").read_text("utf-8").splitlines())
    bare = {query: strip_accents(text) for query, text in topics.items()}
    written, typed = (mean_ap(qrels, rank_by_esr(where, texts)) for texts in (topics, bare))
    return f"{len(topics)} | {written:.4f} | {typed:.4f} | {typed - written:+.4f}"


def strip_accents(text: str) -> str:
    """The text as typed on a keyboard without accents."""
    letters = (_KEPT.get(letter) or _strip(letter) for letter in unicodedata.normalize("NFC", text))
    return "".join(letters).translate(_OTHER_LETTERS)


def _strip(letter: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", letter) if not unicodedata.combining(c))


def _find_words(searcher: Searcher, documents: Iterable[Document], analyzer: str) -> str:
    """The share of words whose form without accents finds sentences with them, `-` without such words."""
    sentences: dict[str, set[str]] = {}
    for document in documents:
        for sentence in document.sentences:
            for word in re.findall(r"[^\W\d_]+", sentence.text.lower()):
                if strip_accents(word) != word and get_analyzer(analyzer).terms(word):
                    sentences.setdefault(word, set()).add(sentence.id)
    frequent = sorted(sentences, key=lambda word: (-len(sentences[word]), word))[:_WORDS]
    right = sum(_finds(searcher, strip_accents(word), sentences[word]) for word in frequent)
    return f"{right / len(frequent):.1%}" if frequent else "-"


def _finds(searcher: Searcher, typed: str, wanted: set[str]) -> bool:
    try:
        hits = searcher.search(typed, 100, records=False, literal=True).hits
    except UnsearchableQuery:
        return False
    return not wanted.isdisjoint(hit.sentence_id for hit in hits)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
