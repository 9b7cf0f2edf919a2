"""Boundaries against those that people marked, in Universal Dependencies treebanks.

The text is not part of the project: the tests look for it in a folder `shared` beside it, and are skipped
without it. Documents and scores are those of the `boundaries.py` in that folder.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.text.sentences import split_sentences

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "collections" / "ud-sentences"
# English and German have headings and reviews without full stops.
FLOORS = {"ar": 0.99, "de": 0.98, "en": 0.945, "fr": 0.98, "hi": 0.99, "ja": 0.99, "ru": 0.975, "zh": 0.99}


def read_documents(path: Path) -> list[list[str]]:
    """The documents of a file, as lists of sentences: ten sentences each, or the treebank's own."""
    lines = path.read_text("utf-8").split("\n")
    if sum(not line for line in lines) > len(lines) / 3:  # each sentence is a document
        lines = [line for line in lines if line]
    documents: list[list[str]] = [[]]
    for line in lines:
        if not line or len(documents[-1]) == 10:
            documents.append([])
        if line:
            documents[-1].append(line)
    return [document for document in documents if document]


def boundaries(sentences: list[str]) -> set[int]:
    """Where sentences end within their document, in characters without blanks."""
    ends, position = set(), 0
    for sentence in sentences[:-1]:
        position += len("".join(sentence.split()))
        ends.add(position)
    return ends


@pytest.mark.parametrize("language", FLOORS)
@pytest.mark.parametrize("is_named", [True, False])
def test_boundaries_are_those_that_people_marked(language: str, is_named: bool) -> None:
    path = FOLDER / f"{language}.txt"
    if not path.exists():
        pytest.skip(
            "the collection ud-sentences is not there: it would be in shared/collections beside the project"
        )
    correct = predicted = marked = 0
    for sentences in read_documents(path):
        text = ("" if language in ("ja", "zh") else " ").join(sentences)
        split = boundaries(split_sentences(text, language if is_named else None))
        gold = boundaries(sentences)
        correct, predicted, marked = correct + len(split & gold), predicted + len(split), marked + len(gold)
    f1 = 2 * correct / (predicted + marked)
    assert f1 >= FLOORS[language] - (0 if is_named else 0.01), f"{language}: F1 {f1:.4f}"
