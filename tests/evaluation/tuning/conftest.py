"""A small collection with judgements, made up: documents about a few words, each in its own way."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import esr
from esr.documents import Document, Located, Sentence
from esr.documents.document import default_sentence_id
from esr.engines.index import Description
from esr.engines.segments.writer.folder_writer import FolderWriter
from esr.evaluation.tuning.figures import Task
from esr.ranking.searcher import Searcher

WORDS = [f"word{n}" for n in range(40)]


def documents(seed: int = 5, number: int = 60) -> list[Document]:
    chance = random.Random(seed)
    made = []
    for n in range(number):
        theme = chance.sample(WORDS, 4)
        texts = [
            " ".join(
                chance.choices(theme, k=chance.randint(0, 4)) + chance.choices(WORDS, k=chance.randint(0, 6))
            )
            for _ in range(chance.randint(1, 8))
        ]
        sentences = tuple(Sentence(default_sentence_id(f"d{n}", i), text) for i, text in enumerate(texts))
        made.append(Document(f"d{n}", sentences))
    return made


def tasks(seed: int = 6, number: int = 12) -> list[Task]:
    """Topics of two or three words; relevant are some sentences with the first of them."""
    chance = random.Random(seed)
    sentences = [s for d in documents() for s in d.sentences]
    made = []
    for n in range(number):
        words = chance.sample(WORDS, chance.randint(2, 3))
        holding = [s.id for s in sentences if words[0] in s.text.split()]
        relevant = chance.sample(holding, min(len(holding), 4)) + ["not-in-the-index"] * (n % 3 == 0)
        made.append(Task(f"t{n}", " ".join(words), tuple(relevant)))
    return made


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("tuning") / "index"
    FolderWriter(where, Description("plain", True)).load(Located("made up", d) for d in documents())
    return where


@pytest.fixture
def searcher(place: Path) -> Iterator[Searcher]:
    with esr.open(str(place)) as opened:
        yield opened
