"""Fixtures that write files, miniature topics, a synthetic collection, and random topics with signals.

The miniature topics have the form of the TREC Novelty track. Each document of the synthetic collection
favours a few words of its own. Of the signals, one helps and the other is noise.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from esr.folder.write.folder_writer import FolderWriter
from esr.index.writer import Description
from esr.lab.training_data import TopicSignals
from esr.lab.tuner import Task
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.signals import RankingSignal
from esr.text.document import Document, Located, Sentence, default_sentence_id

# Synthetic, in the form of novelty03 and novelty04: tags are not closed, and labels repeat their names.
NOVELTY = """\
<top>

<num> Number: N1
<title> harbour strike
<toptype>event

<desc> Description:
The dockers' strike in the
harbour of Nowhere.

<narr> Narrative:
Relevant sentences tell of <b>the strike</b>, its causes & its end.

<docs>
XIE20010101.0001
NYT20010102.0002
APW20010103.0003

</top>

<top>
<num>Number: N2
<title>toll on the bridge
<toptype>Opinion
<desc>Description:
What people think of the toll.
<narr>Narrative:
Facts alone are not relevant.
<docs>
1 XIE20010104.0004
2 XIE20010101.0001
</top>
"""


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a file, compressed if its name ends in .gz, and returns its path."""

    def write(content: str | bytes, name: str = "file.txt") -> Path:
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def read_error(file: Callable[..., Path]) -> Callable[..., str]:
    """A function that reads a file with this content and returns the error message, without the folder."""
    from esr.errors import InputError

    def message(read: Callable[[Path], object], content: str | bytes, name: str = "file.txt") -> str:
        path = file(content, name)
        with pytest.raises(InputError) as error:
            read(path)
        text = str(error.value)
        assert "\n" not in text
        return text.replace(str(path), name)

    return message


HELPS, NOISE = "dir", "feature quote"
SIGNALS = (RankingSignal(HELPS), RankingSignal(NOISE))
DEPTH = 20


def topics(number: int, seed: int = 0, below: int = 5) -> list[TopicSignals]:
    """Each has two relevant sentences, which may be below the candidates; `dir` is higher for these."""
    chance = np.random.default_rng(seed)
    sample = []
    for n in range(number):
        total = DEPTH + below
        ids = tuple(f"d{n}.s{position}" for position in range(total))
        relevant = chance.choice(total, 2, replace=False).tolist()
        judgements = {ids[position]: int(chance.integers(1, 3)) for position in relevant} | {f"lost{n}": 1}
        grades = np.array([judgements.get(id, 0) for id in ids[:DEPTH]], np.int64)
        helps = chance.normal(size=DEPTH) + 2.0 * (grades > 0)
        first_scores = np.sort(chance.normal(size=total))[::-1].copy()
        values = np.column_stack([helps, chance.normal(size=DEPTH)])
        first_run = dict(zip(ids, first_scores.tolist(), strict=True))
        sample.append(
            TopicSignals(f"t{n}", f"words of {n}", ids, first_scores, values, grades, judgements, first_run)
        )
    return sample


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
