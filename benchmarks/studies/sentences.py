"""Compares sentence splitters by the F1 of their boundaries and their time on English news.

    pip install nupunkt pysbd sentencex spacy
    python -m benchmarks.studies.sentences ud-sentences/ newsarticles-cc0/docs.jsonl.gz

The folder has a file of gold sentences for each language, such as `de.txt`: one sentence per line, and an
empty line between documents. The news are JSON Lines with `text` or `sentences`. The output is Markdown.
Splitters that are not installed are left out.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from esr.text.sentences import split_sentences
from esr.text.splitting.rules import load_rules

Split = Callable[[str], list[str]]

DOCUMENT = 10
"""Sentences per document in files without document boundaries."""
UNSPACED_LANGUAGES = ("ja", "zh")
"""Languages without a space between sentences."""
PEERS = {"nupunkt": "nupunkt", "sentencex": "sentencex", "pysbd": "pysbd", "spacy": "spaCy's sentencizer"}
"""The names of splitters by module."""
LANGUAGES = {
    **{"ar": "Arabic", "zh": "Chinese", "en": "English", "fr": "French", "de": "German", "hi": "Hindi"},
    **{"ja": "Japanese", "ru": "Russian"},
}
TITLES = sorted(word for word in load_rules("en").titles if word[0].isupper())
_CUT_TITLE = re.compile(rf"(?:^|[\s(\"“-])(?:{'|'.join(map(re.escape, TITLES))})\.$")


def read_documents(path: Path) -> Iterator[list[str]]:
    """The documents of a file, as lists of sentences."""
    lines = path.read_text("utf-8").split("\n")
    if sum(not line for line in lines) > len(lines) / 3:  # each sentence is a document
        lines = [line for line in lines if line]
    document: list[str] = []
    for line in [*lines, ""]:
        if line:
            document.append(line)
        if document and (not line or len(document) == DOCUMENT):
            yield document
            document = []


def boundaries(sentences: Iterable[str]) -> set[int]:
    """The ends of sentences within their document, in characters without whitespace."""
    ends, position = set(), 0
    for sentence in sentences:
        position += len("".join(sentence.split()))
        ends.add(position)
    return ends - {position}


def f1(path: Path, split: Split) -> float:
    """F1 of the boundaries of all documents of a file."""
    correct = total = 0
    for document in read_documents(path):
        separator = "" if path.stem in UNSPACED_LANGUAGES else " "
        predicted = boundaries(split(separator.join(document)))
        gold = boundaries(document)
        correct += len(predicted & gold)
        total += len(predicted) + len(gold)
    return 2 * correct / total


def load_splitter(name: str, language: str) -> Split | None:
    """A splitter by the name of its library; None if it lacks the language or is not installed."""
    if name == "esr":
        return partial(split_sentences, language=language)
    if importlib.util.find_spec(name) is None:
        return None
    if name == "nupunkt":
        import nupunkt

        tokenizer = nupunkt.load("default")
        return lambda text: list(tokenizer.tokenize(text))
    if name == "sentencex":
        import sentencex

        return lambda text: list(sentencex.segment(language, text))
    if name == "pysbd":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its patterns are not raw strings
            import pysbd
        segmenter = pysbd.Segmenter(language=language, clean=False)
        return lambda text: list(segmenter.segment(text))
    import spacy

    try:
        model = spacy.blank(language)
    except ImportError:  # Japanese needs a further package
        return None
    model.add_pipe("sentencizer")
    return lambda text: [sentence.text for sentence in model(text).sents]


def report_boundaries(folder: Path) -> Iterator[str]:
    """The table of F1 by language and splitter."""
    names = ["esr", *(name for name in PEERS if importlib.util.find_spec(name))]
    yield f"| language | {' | '.join(PEERS.get(name, name) for name in names)} |"
    yield f"| --- |{' --: |' * len(names)}"
    for code, language in LANGUAGES.items():
        path = folder / f"{code}.txt"
        splitters = [load_splitter(name, code) for name in names]
        figures = [f"{f1(path, split):.3f}".lstrip("0") if split else "" for split in splitters]
        cells = [f"**{figure}**" if figure == max(figures) else figure for figure in figures]
        yield f"| {language} | {' | '.join(cells)} |"


def read_texts(path: Path) -> Iterator[str]:
    """The texts of JSON Lines, packed or not. Sentences are joined again."""
    open_text = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            yield document.get("text") or " ".join(sentence["text"] for sentence in document["sentences"])


def report_news(path: Path) -> Iterator[str]:
    """The table for English news. A sentence that ends with a title is an error."""
    texts = list(read_texts(path))
    yield "| splitter | sentences | of these ending with a rank or title | seconds |"
    yield "| --- | --: | --: | --: |"
    for name in ("esr", *PEERS):
        split = load_splitter(name, "en")
        if split is None or name == "pysbd":  # it takes hours on some texts
            continue
        split(texts[0])
        started = time.process_time()
        sentences = [sentence.strip() for text in texts for sentence in split(text)]
        seconds = time.process_time() - started
        titles = sum(bool(_CUT_TITLE.search(sentence)) for sentence in sentences)
        yield f"| {name} | {len(sentences):,} | {titles:,} | {seconds:.1f} |"


def main(arguments: list[str]) -> int:
    """Print the tables. Returns the exit status."""
    if len(arguments) not in (1, 2):
        print("usage: python -m benchmarks.studies.sentences UD_FOLDER [NEWS.jsonl[.gz]]", file=sys.stderr)
        return 2
    for line in report_boundaries(Path(arguments[0])):
        print(line, flush=True)
    if len(arguments) == 2:
        print()
        for line in report_news(Path(arguments[1])):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
