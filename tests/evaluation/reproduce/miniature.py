"""A made-up miniature of the TREC Novelty data: the three years in exactly the raw formats.

Nothing of it is TREC's. The words are invented from syllables, the sentences from words; every call makes
the same bytes. Each topic has two words of its own. Its documents speak of them now and then, and relevant
are most of the sentences that do, and some of their neighbours.
"""

from __future__ import annotations

import gzip
import io
import random
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from esr.evaluation.reproduce.raw import NAMES

TOPICS = 4
DOCUMENTS = 5
SENTENCES = 12
_CONSONANTS, _VOWELS = "bdfgklmnprtvz", "aeiou"
# What the files of a topic are called in the archives; those of 2004 leave the topic's letter out.
_FILE = {"2002": "{}.docs_text", "2003": "{}.docs_text", "2004": "{}.doc_text"}
_FIRST = {"2002": 303, "2003": 1, "2004": 51}
_SHARE = {"2002": 0.3, "2003": 0.9, "2004": 0.6}


class Sentence(NamedTuple):
    document: str
    number: int
    text: str


class Topic(NamedTuple):
    """A topic with the sentences of its documents, and the ids of the relevant ones."""

    id: str
    title: str
    documents: list[str]
    sentences: list[Sentence]
    relevant: list[str]


def word(chance: random.Random) -> str:
    return "".join(chance.choice(_CONSONANTS) + chance.choice(_VOWELS) for _ in range(3))


def topics(year: str) -> list[Topic]:
    """The topics of a year. The first two share a document, the first and the last a word."""
    chance = random.Random(int(year))
    usual = [word(chance) for _ in range(60)]
    made: list[Topic] = []
    for n in range(TOPICS):
        id = f"{'' if year == '2002' else 'N'}{_FIRST[year] + n}"
        own = [word(chance) + "x" for _ in range(2)]
        if n == TOPICS - 1:
            own[1] = made[0].title.split()[0]
        documents = [f"XIE{year}0101.{n:02}{d:02}" for d in range(DOCUMENTS)]
        sentences = [s for document in documents for s in _document(chance, document, own, usual)]
        if n == 1:
            shared = made[0].documents[0]
            documents.append(shared)
            sentences += [s for s in made[0].sentences if s.document == shared]
        relevant = [f"{s.document}:{s.number}" for s in sentences if _is_relevant(chance, year, s, own)]
        made.append(Topic(id, " ".join(own), documents, sentences, relevant or [f"{documents[0]}:1"]))
    return made


def _document(chance: random.Random, id: str, own: list[str], usual: list[str]) -> Iterator[Sentence]:
    for number in range(1, SENTENCES + 1):
        words = chance.choices([*usual, "kafé"], k=chance.randint(3, 12))
        for topical in own:
            words += [topical] * chance.choice((0, 0, 1, 1, 2) if number % 3 else (0, 0, 0, 1))
        chance.shuffle(words)
        yield Sentence(id, number, f"The {' and the '.join([' '.join(words[:2]), ' '.join(words[2:])])}.")


def _is_relevant(chance: random.Random, year: str, sentence: Sentence, own: list[str]) -> bool:
    speaks = any(topical in sentence.text.split() for topical in own)
    return chance.random() < (_SHARE[year] if speaks else 0.05)


def write(
    folder: Path, years: tuple[str, ...] = tuple(NAMES), add: Mapping[str, bytes] | None = None
) -> Path:
    """The raw files of some years, each in a folder of its own. `add` are more members of the archives."""
    for year in years:
        below = folder / f"novelty{year}"
        below.mkdir(parents=True, exist_ok=True)
        topics_name, archive, qrels = NAMES[year]
        made = topics(year)
        (below / topics_name).write_text("\n".join(_topic(year, topic) for topic in made))
        (below / qrels).write_text("".join(f"{t.id} {sentence}\n" for t in made for sentence in t.relevant))
        members = {_FILE[year].format(t.id.lstrip("N") if year == "2004" else t.id): _text(t) for t in made}
        pack(below / archive, members | dict(add or {}))
    return folder


def _topic(year: str, topic: Topic) -> str:
    """2002 names no documents, as if its files alone told them; the other years do."""
    lines = ["<top>", "", f"<num> Number: {topic.id}", f"<title> {topic.title}", ""]
    if year != "2002":
        lines.append("<toptype> event" if int(topic.id[1:]) % 2 else "<toptype> opinion")
    lines += ["<desc> Description:", f"What is told of {topic.title}?", "", "<narr> Narrative:", "All of it."]
    if year != "2002":
        lines += ["", "<docs>", *topic.documents]
    return "\n".join([*lines, "</top>", ""])


def _text(topic: Topic) -> bytes:
    """The file of a topic. Not UTF-8, as newswire of those years may be."""
    lines = [f'<s docid="{s.document}" num="{s.number}"> {s.text}</s>\n' for s in topic.sentences]
    return "".join(lines).encode("latin-1")


def pack(path: Path, members: Mapping[str, bytes]) -> None:
    """A .tar.gz that is the same at every call."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    path.write_bytes(gzip.compress(plain.getvalue(), mtime=0))
