"""A synthetic miniature of the TREC Novelty data: the three years in exactly the raw formats.

None of the text is from TREC. Words are made of random syllables and sentences of these words; every call
gives the same bytes. Each topic has two words of its own, which appear now and then in its documents. Most
sentences with such a word are relevant, and so are a few of the others.
"""

from __future__ import annotations

import gzip
import io
import random
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from esr.lab.reproduce.data import NAMES, NEW_NAMES

TOPICS = 4
DOCUMENTS = 5
SENTENCES = 12
_CONSONANTS, _VOWELS = "bdfgklmnprtvz", "aeiou"
# How the archives name the file of a topic; 2004 omits the letter of the topic.
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
    vocabulary = [word(chance) for _ in range(60)]
    topics_of_year: list[Topic] = []
    for n in range(TOPICS):
        id = f"{'' if year == '2002' else 'N'}{_FIRST[year] + n}"
        own = [word(chance) + "x" for _ in range(2)]
        if n == TOPICS - 1:
            own[1] = topics_of_year[0].title.split()[0]
        documents = [f"XIE{year}0101.{n:02}{d:02}" for d in range(DOCUMENTS)]
        sentences = [s for document in documents for s in _document(chance, document, own, vocabulary)]
        if n == 1:
            shared = topics_of_year[0].documents[0]
            documents.append(shared)
            sentences += [s for s in topics_of_year[0].sentences if s.document == shared]
        relevant = [f"{s.document}:{s.number}" for s in sentences if _is_relevant(chance, year, s, own)]
        topics_of_year.append(
            Topic(id, " ".join(own), documents, sentences, relevant or [f"{documents[0]}:1"])
        )
    return topics_of_year


def new_sentences(topic: Topic) -> list[str]:
    """All but every third of the relevant sentences."""
    return [sentence for n, sentence in enumerate(topic.relevant) if n % 3 != 2]


def _document(chance: random.Random, id: str, own: list[str], vocabulary: list[str]) -> Iterator[Sentence]:
    for number in range(1, SENTENCES + 1):
        words = chance.choices([*vocabulary, "kafé"], k=chance.randint(3, 12))
        for topical in own:
            words += [topical] * chance.choice((0, 0, 1, 1, 2) if number % 3 else (0, 0, 0, 1))
        chance.shuffle(words)
        yield Sentence(id, number, f"The {' and the '.join([' '.join(words[:2]), ' '.join(words[2:])])}.")


def _is_relevant(chance: random.Random, year: str, sentence: Sentence, own: list[str]) -> bool:
    is_topical = any(topical in sentence.text.split() for topical in own)
    return chance.random() < (_SHARE[year] if is_topical else 0.05)


def write(
    folder: Path, years: tuple[str, ...] = tuple(NAMES), add: Mapping[str, bytes] | None = None
) -> Path:
    """Write the raw files of `years`, each year into its own folder. `add` adds members to the archives."""
    for year in years:
        year_folder = folder / f"novelty{year}"
        year_folder.mkdir(parents=True, exist_ok=True)
        topics_name, archive, qrels = NAMES[year]
        topics_of_year = topics(year)
        (year_folder / topics_name).write_text("\n".join(_topic(year, topic) for topic in topics_of_year))
        (year_folder / qrels).write_text(
            "".join(f"{t.id} {sentence}\n" for t in topics_of_year for sentence in t.relevant)
        )
        (year_folder / NEW_NAMES[year][0]).write_text(
            "".join(f"{t.id} {sentence}\n" for t in topics_of_year for sentence in new_sentences(t))
        )
        members = {
            _FILE[year].format(t.id.lstrip("N") if year == "2004" else t.id): _text(t) for t in topics_of_year
        }
        pack(year_folder / archive, members | dict(add or {}))
    return folder


def _topic(year: str, topic: Topic) -> str:
    """Topics of 2002 list no documents, so that those of the file must do; the other years list them."""
    lines = ["<top>", "", f"<num> Number: {topic.id}", f"<title> {topic.title}", ""]
    if year != "2002":
        lines.append("<toptype> event" if int(topic.id[1:]) % 2 else "<toptype> opinion")
    lines += [
        "<desc> Description:",
        f"What is reported about {topic.title}?",
        "",
        "<narr> Narrative:",
        "Everything.",
    ]
    if year != "2002":
        lines += ["", "<docs>", *topic.documents]
    return "\n".join([*lines, "</top>", ""])


def _text(topic: Topic) -> bytes:
    """The file of a topic. It is not UTF-8, like some newswire of those years."""
    lines = [f'<s docid="{s.document}" num="{s.number}"> {s.text}</s>\n' for s in topic.sentences]
    return "".join(lines).encode("latin-1")


def pack(path: Path, members: Mapping[str, bytes]) -> None:
    """Write a .tar.gz whose bytes are the same at every call."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    path.write_bytes(gzip.compress(plain.getvalue(), mtime=0))
