"""A synthetic miniature of the TREC Novelty data: the three years in exactly the raw formats.

Beside them are what the papers' tools say of the sentences of 2003 and 2004, in the shapes of these tools,
and a collection in the shape of AQUAINT, which has some of the documents of 2003.

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

from esr.lab.reproduce.raw_files import NAMES, NEW_NAMES

TOPICS = 4
DOCUMENTS = 5
SENTENCES = 12
_CONSONANTS, _VOWELS = "bdfgklmnprtvz", "aeiou"
# How the archives name the file of a topic; 2004 omits the letter of the topic.
_FILE = {"2002": "{}.docs_text", "2003": "{}.docs_text", "2004": "{}.doc_text"}
_FIRST = {"2002": 303, "2003": 1, "2004": 51}
_EXAMPLES = {"N3": "architects of hebei", "N2": "reward of $ 100,000 in its investigation"}
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
        if id == "N4":
            id = "N45"  # which the second paper names
        if id == "N3":
            own = ["chinese", "earthquake"]  # the example of the first paper
        documents = [f"XIE{year}0101.{n:02}{d:02}" for d in range(DOCUMENTS)]
        sentences = [s for document in documents for s in _document(chance, document, own, vocabulary)]
        if n == 1:
            shared = topics_of_year[0].documents[0]
            documents.append(shared)
            sentences += [s for s in topics_of_year[0].sentences if s.document == shared]
        if id in _EXAMPLES:
            place = next(p for p, s in enumerate(sentences) if own[1] in s.text and p % SENTENCES == 7)
            sentences[place] = sentences[place]._replace(
                text=f"{sentences[place].text[:-1]} and the {_EXAMPLES[id]}."
            )
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
    """Write the raw files of `years`, each year into its own folder. `add` adds members to the archives.

    For 2003 and 2004 there are annotations, and with 2003 an AQUAINT.
    """
    for year in {"2003", "2004"}.intersection(years):
        _annotate(folder / "annotations" / year, topics(year))
    if "2003" in years:
        _write_aquaint(folder / "aquaint", topics("2003")[0])
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
        is_event = topic.id in ("N2", "N45") or int(topic.id[1:]) in (52, 54)
        lines.append("<toptype> event" if is_event else "<toptype> opinion")
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


# What the papers' tools write, and a larger collection


def _annotate(folder: Path, topics_of_year: list[Topic]) -> None:
    """One file per document and tool, and for the recognizer of names one per topic, with its title."""
    folder.mkdir(parents=True, exist_ok=True)
    relevant = {id for topic in topics_of_year for id in topic.relevant}
    by_document: dict[str, dict[int, Sentence]] = {}
    for topic in topics_of_year:
        (folder / f"{topic.id}.ner").write_text(_mark(topic.title.split(), {0: "PERSON"}, topic.id != "N1"))
        for sentence in topic.sentences:
            by_document.setdefault(sentence.document, {})[sentence.number] = sentence
    for document, by_number in by_document.items():
        opinions, names, parses = [], [], []
        for sentence in by_number.values():
            chance = random.Random(f"{document}:{sentence.number}")
            is_relevant = f"{document}:{sentence.number}" in relevant
            opinions.append(_opinion(chance, sentence.text, is_relevant))
            names.append(_names(chance, sentence.text))
            parses.append(_parse(chance, sentence.text))
        opinion_folder = folder / f"{document}_auto_anns"
        opinion_folder.mkdir(exist_ok=True)
        (opinion_folder / "markup.txt").write_text("".join(opinions), "utf-8")
        (folder / f"{document}.ner").write_text("".join(names), "utf-8")
        (folder / f"{document}.minipar").write_text("".join(parses), "utf-8")


def _opinion(chance: random.Random, text: str, is_relevant: bool) -> str:
    """A line of OpinionFinder. Relevant sentences are more often subjective."""
    label = chance.choice(("subj", "subj", "unknown") if is_relevant else ("subj", "obj", "obj", "unknown"))
    words = text.split()
    for place in chance.sample(range(len(words)), chance.randint(0, 3)):
        polarity = chance.choice(("negative", "negative", "positive", "neutral"))
        words[place] = f'<MPQAPOL autoclass="{polarity}">{words[place]}</MPQAPOL>'
    first = chance.choice(("subj", "obj"))
    return f'<MPQASENT autoclass1="{first}" autoclass2="{label}" diff="1.5">{" ".join(words)}</MPQASENT>\n'


def _names(chance: random.Random, text: str) -> str:
    words = text.split()
    places = chance.sample(range(len(words)), min(len(words), chance.choice((0, 0, 1, 2, 6))))
    return _mark(words, {place: chance.choice(("PERSON", "LOCATION", "ORGANIZATION")) for place in places})


def _mark(words: list[str], names: Mapping[int, str], marked: bool = True) -> str:
    tagged = [
        f"<{names[n]}>{word}</{names[n]}>" if n in names and marked else word for n, word in enumerate(words)
    ]
    return " ".join(tagged) + "\n"


def _parse(chance: random.Random, text: str) -> str:
    """A block of MINIPAR: the node of the clause, a node for each word, and sometimes a trace."""
    lines = ["E0\t(()\tfin\tC\t*\t\t)"]
    for number, word_ in enumerate(text.rstrip(".").split(), 1):
        head = str(chance.randint(1, number - 1)) if number > 1 else "E0"
        lines.append(f"{number}\t({word_}\t~\tN\t{head}\tmod\t(gov x)\t)")
    if chance.random() < 0.3:
        lines.append("E2\t(()\tx\tN\t1\tsubj\t(gov x)\t(antecedent 2)\t)")
    return "\n".join(["(", *lines, ")"]) + "\n"


def _write_aquaint(folder: Path, topic: Topic) -> None:
    """A file per agency and day: the documents of a topic, and others of the same words."""
    chance = random.Random(7)
    words = [*topic.title.split() * 3, *(word(chance) for _ in range(4))]
    files = {
        "xie/2003/20030101_XIN_ENG": topic.documents,
        "apw/1999/19990101_APW_ENG": [f"APW19990101.{n:04}" for n in range(3)],
        "nyt/1998/19980601_NYT": [f"NYT19980601.{n:04}" for n in range(3)],
    }
    for name, ids in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        documents = []
        for id in ids:
            head, *rest = (" ".join(chance.choices(words, k=8)).capitalize() for _ in range(3))
            body = f"<HEADLINE>\n{head}\n</HEADLINE>\n<TEXT>\n<P>\n{'. '.join(rest)}.\n</P>\n</TEXT>"
            time = "<DATE_TIME> 1999-01-01 00:01 </DATE_TIME>"
            documents.append(
                f"<DOC>\n<DOCNO> {id} </DOCNO>\n<DOCTYPE> NEWS STORY </DOCTYPE>\n{time}\n<BODY>\n{body}\n"
                "</BODY>\n</DOC>\n"
            )
        (folder / name).write_text("".join(documents))
