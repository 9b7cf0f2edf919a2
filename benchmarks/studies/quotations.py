"""Measures the rules for quotations on articles with annotations in the format of PolNeAR.

    python benchmarks/studies/quotations.py PolNeAR/data/train PolNeAR/data/dev

A folder has `text/NAME.txt` and `attributions/NAME*.ann`. A content counts if at least half of it is within
double quotation marks. It is found if its Jaccard similarity with a quotation, over characters without
spaces, is at least .5. A speaker is correct if it shares a capitalized word with the annotated source.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from esr.enrichment.quotations.quotes import JoinedText, find_quotations
from esr.text.document import Document
from esr.text.validate import build_document

LEAST_OVERLAP = 0.5
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        "a all an and another as at both but dr for gen gov governor he her his i in it its many mr mrs "
        "ms my on one our president rep secretary sen senator several she some that the their they "
        "this we you",
    )
)


class Attribution(NamedTuple):
    """An annotation: the characters of the content, and the text of the source."""

    content: frozenset[int]
    source: str


class Speech(NamedTuple):
    """A quotation found by the rules: its characters in the article, and its speaker."""

    characters: frozenset[int]
    speaker: str


def read_attributions(path: Path, text: str) -> Iterator[Attribution]:
    spans: dict[str, tuple[list[tuple[int, int]], str]] = {}
    relations: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        fields = line.split("\t")
        if fields[0].startswith("T") and len(fields) == 3:
            written = (place.split() for place in fields[1].partition(" ")[2].split(";"))
            spans[fields[0]] = [(int(start), int(end)) for start, end in written], fields[2]
        elif fields[0].startswith("E"):
            relations.append(fields[1])
    for relation in relations:
        parts = [part.split(":") for part in relation.split()]
        of_role = {
            role: [spans[id] for name, id in parts if name.startswith(role) and id in spans]
            for role in ("Content", "Source")
        }
        places = [place for places, _ in of_role["Content"] for place in places]
        content = frozenset(n for start, end in places for n in range(start, end) if not text[n].isspace())
        if content:
            yield Attribution(content, " ".join(source for _, source in of_role["Source"]))


def within_marks(text: str) -> set[int]:
    """The characters within double quotation marks, paired within each paragraph."""
    return {
        n
        for paragraph in re.finditer(r"[^\n]+", text)
        for span in re.finditer(r"“[^”\"]*[”\"]?|\"[^\"”]*[\"”]?", paragraph[0])
        for n in range(paragraph.start() + span.start(), paragraph.start() + span.end())
    }


def find_speeches(document: Document, text: str) -> list[Speech]:
    joined = JoinedText(document)
    places: dict[int, int] = {}
    at = 0
    for n, character in enumerate(joined.text):
        if not character.isspace() and (found := text.find(character, at)) >= 0:
            places[n], at = found, found + 1
    speeches: list[Speech] = []
    for pieces, source, follows in find_quotations(joined, "en"):
        characters = frozenset(places[n] for start, end in pieces for n in range(start, end) if n in places)
        if follows and speeches:
            before = speeches.pop()
            speeches.append(before._replace(characters=before.characters | characters))
        else:
            speeches.append(Speech(characters, (source and source.speaker) or ""))
    return speeches


def overlap(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other)


def names_in(speaker: str) -> set[str]:
    words = (re.sub(r"(?:’s|'s|’|')$", "", word).strip(".") for word in re.findall(r"[\w’'.-]+", speaker))
    return {word.lower() for word in words if word[:1].isupper()} - _NO_NAMES


def measure(folder: Path) -> str:
    contents = found = quotations = right = named = same = 0
    for path in sorted((folder / "text").glob("*.txt")):
        # Line ends are not converted, so that offsets agree with the annotations.
        text = path.read_bytes().decode()
        annotated = sorted(p for p in (folder / "attributions").glob("*.ann") if p.name.startswith(path.stem))
        if not annotated:
            continue
        attributions = list(read_attributions(annotated[0], text))
        document = build_document({"id": "a", "text": text, "language": "en"})
        speeches, quoted = find_speeches(document, text), within_marks(text)
        quotations += len(speeches)
        right += sum(
            any(overlap(speech.characters, each.content) >= LEAST_OVERLAP for each in attributions)
            for speech in speeches
        )
        for each in attributions:
            if 2 * len(each.content & quoted) < len(each.content):
                continue
            contents += 1
            best = max(speeches, key=lambda s, each=each: overlap(s.characters, each.content), default=None)  # type: ignore[misc]
            if best is None or overlap(best.characters, each.content) < LEAST_OVERLAP:
                continue
            found += 1
            if names := names_in(each.source):
                named += 1
                same += bool(names & names_in(best.speaker))
    return (
        f"{folder.name}: {contents:,} contents, recall {found / contents:.3f}, {quotations:,} quotations, "
        f"precision {right / quotations:.3f}, speaker {same / named:.3f} of {named:,}"
    )


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(measure(Path(argument)))
