"""One data set loaded by esr, and its words beside those of the plain reading."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from tools.data_sets.catalog import DataSet

_ESR = (sys.executable, "-c", "import sys; sys.argv[0] = 'esr'; from esr.cli import main; main()")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Comparison:
    """What a plain reading finds, and what an index has after a load.

    `articles` are all that were read, `distinct` those with other words than any before. Letters are those
    of the words of distinct articles, with repetition: `missing` ones are in the reading and not in the
    index, `further` ones the other way round. `notes` is all that the load said, and `error` why it failed.
    """

    articles: int
    distinct: int
    letters: int
    documents: int = 0
    missing: int = 0
    further: int = 0
    notes: tuple[str, ...] = ()
    error: str | None = None


def compare(data_set: DataSet, folder: Path, scratch: Path) -> Comparison:
    """Load a data set into an index in an empty folder, and compare what `esr export` gives."""
    read = list(data_set.read(data_set.find(folder)))
    distinct = distinguish(read)
    words = count_words(distinct)
    command = ["load", *data_set.arguments(folder), "--index", str(scratch / "index"), "--json"]
    loaded = subprocess.run([*_ESR, *command], capture_output=True, text=True)
    letters = count_letters(words)
    if not loaded.stdout:
        return Comparison(len(read), len(distinct), letters, error=loaded.stderr.strip())
    subprocess.run(
        [*_ESR, "export", str(scratch / "index"), "-o", str(scratch / "documents.jsonl")],
        check=True,
        capture_output=True,
    )
    exported = count_words(distinguish(_read_export(scratch / "documents.jsonl")))
    report = json.loads(loaded.stdout)
    return Comparison(
        len(read),
        len(distinct),
        letters,
        report["documents"],
        count_letters(words - exported),
        count_letters(exported - words),
        tuple(report["notes"]),
        loaded.stderr.strip() or None,
    )


def distinguish(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """The words of texts, in their order; once where several have the same. Accents are composed."""
    return {tuple(_WORD.findall(normalize("NFC", text))) for text in texts}


def count_words(articles: Iterable[tuple[str, ...]]) -> Counter[str]:
    return Counter(word for words in articles for word in words)


def count_letters(words: Counter[str]) -> int:
    return sum(len(word) * count for word, count in words.items())


def _read_export(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            sentences = (sentence["text"] for sentence in document["sentences"])
            yield " ".join([document.get("title") or "", *sentences])
