"""A small synthetic collection with judgements: each document favours a few words of its own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.folder.write.folder_writer import FolderWriter
from esr.index.writer import Description
from esr.lab.tuner import Task
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document, Located, Sentence, default_sentence_id

WORDS = [f"word{n}" for n in range(40)]


def documents(seed: int = 5, number: int = 60) -> list[Document]:
    chance = random.Random(seed)
    collection = []
    for n in range(number):
        theme = chance.sample(WORDS, 4)
        texts = [
            " ".join(
                chance.choices(theme, k=chance.randint(0, 4)) + chance.choices(WORDS, k=chance.randint(0, 6))
            )
            for _ in range(chance.randint(1, 8))
        ]
        sentences = tuple(Sentence(default_sentence_id(f"d{n}", i), text) for i, text in enumerate(texts))
        collection.append(Document(f"d{n}", sentences))
    return collection


def tasks(seed: int = 6, number: int = 12) -> list[Task]:
    """Topics of two or three words. Some sentences with the first word are relevant."""
    chance = random.Random(seed)
    sentences = [s for d in documents() for s in d.sentences]
    topics = []
    for n in range(number):
        words = chance.sample(WORDS, chance.randint(2, 3))
        matching = [s.id for s in sentences if words[0] in s.text.split()]
        relevant = chance.sample(matching, min(len(matching), 4)) + ["not-in-the-index"] * (n % 3 == 0)
        topics.append(Task(f"t{n}", " ".join(words), tuple(relevant)))
    return topics


@pytest.fixture(scope="session")
def index_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tuning") / "index"
    FolderWriter(path, Description("plain", True)).load(Located("sample", d) for d in documents())
    return path


@pytest.fixture
def searcher(index_path: Path) -> Iterator[Searcher]:
    with open_searcher(str(index_path)) as searcher:
        yield searcher
