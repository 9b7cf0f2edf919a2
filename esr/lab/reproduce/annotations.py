"""Annotations of sentences by the papers' tools: opinions, names and parses, read from the tools' files.

Each tool gets one text per document, with a sentence on each line, as `esr reproduce texts` writes it.
Its output for the document ID is

    ID_auto_anns/markup.txt   OpinionFinder: SGML, <MPQASENT autoclass2=...>, <MPQAPOL autoclass=...>
    ID.ner                    a named-entity recognizer: XML, <PERSON>, <LOCATION> and <ORGANIZATION>
    ID.minipar                MINIPAR: a block of nodes in parentheses for each line

The data of the track has no such files, and no example from the papers' authors is known. The formats are
those that the tools are known to write.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from esr.plugin import Document, InputError
from esr.plugin.provisional import ParseWord, Topic

OPINIONS = ("subj", "pos", "neg", "opt")
NAMES = ("pers", "loc", "org", "ne")
_OPINION_FILE, _OPINION_FOLDER = "markup.txt", "_auto_anns"
T = TypeVar("T")
_SUFFIXES = {".ner": "names", ".minipar": "parses"}


@dataclass(frozen=True)
class Annotations:
    """The files of each tool by the id of a document, or for names of a topic."""

    opinions: dict[str, Path] = field(default_factory=dict)
    names: dict[str, Path] = field(default_factory=dict)
    parses: dict[str, Path] = field(default_factory=dict)


def find_annotations(paths: Iterable[Path]) -> Annotations:
    """The tools' files among these. Raises InputError for two of the same tool and document."""
    annotations = Annotations()
    for path in paths:
        if path.name == _OPINION_FILE and path.parent.name.endswith(_OPINION_FOLDER):
            tool, id = "opinions", path.parent.name.removesuffix(_OPINION_FOLDER)
        elif path.suffix in _SUFFIXES:
            tool, id = _SUFFIXES[path.suffix], path.stem
        else:
            continue
        files: dict[str, Path] = getattr(annotations, tool)
        if id in files:
            raise InputError(str(path), f"{id} has another file of {tool}, {files[id]}: remove one")
        files[id] = path
    return annotations


def annotate(document: Document, annotations: Annotations) -> Document:
    """The document with the tools' annotations of its sentences.

    Raises InputError for a file whose number of lines, or parses, is not that of the document's sentences.
    """
    sentences = list(document.sentences)
    for path, read in (
        (annotations.opinions.get(document.id), read_opinions),
        (annotations.names.get(document.id), read_names),
    ):
        if path is not None:
            values = _one_each(path, read(path), len(sentences))
            sentences = [
                replace(sentence, features={**sentence.features, **features})
                for sentence, features in zip(sentences, values, strict=True)
            ]
    if document.id in annotations.parses:
        path = annotations.parses[document.id]
        parses = _one_each(path, read_parses(path), len(sentences))
        sentences = [replace(s, parse=parse) for s, parse in zip(sentences, parses, strict=True)]
    return replace(document, sentences=tuple(sentences))


def find_named_titles(topics: Iterable[Topic], annotations: Annotations) -> dict[str, bool]:
    """Whether the title of a topic has a name, by topics that have a file of names."""
    return {
        topic.id: any(features["ne"] > 0 for features in read_names(annotations.names[topic.id]))
        for topic in topics
        if topic.id in annotations.names
    }


def write_texts(documents: Iterable[Document], titles: Mapping[str, str], folder: Path) -> int:
    """Write the texts for the tools: one file per document, and one per topic with its title.

    Returns the number of files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {document.id: [" ".join(s.text.split()) for s in document.sentences] for document in documents}
    texts |= {topic: [title] for topic, title in titles.items()}
    for id, lines in texts.items():
        (folder / id).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return len(texts)


def _one_each(path: Path, values: list[T], number: int) -> list[T]:
    if len(values) != number:
        raise InputError(
            str(path),
            f"is about {len(values)} sentences, but the document has {number}: give the tool one on a line",
        )
    return values


# Readers


_SENTENCE_CLASS = re.compile(r'<MPQASENT\b[^>]*?\bautoclass2="(\w+)"')
_POLARITY = re.compile(r'<MPQAPOL\b[^>]*?\bautoclass="(\w+)"')
_NAME = re.compile(r"<(PERSON|LOCATION|ORGANIZATION)>")


def read_opinions(path: Path) -> list[dict[str, float]]:
    """F_subj, F_pos, F_neg and F_opt of each line. A sentence of an unknown class counts as objective."""
    values = []
    for line in _lines(path):
        polarities = Counter(_POLARITY.findall(line))
        pos, neg = float(polarities["positive"]), float(polarities["negative"])
        subjective = float("subj" in _SENTENCE_CLASS.findall(line))
        values.append({"subj": subjective, "pos": pos, "neg": neg, "opt": pos + neg})
    return values


def read_names(path: Path) -> list[dict[str, float]]:
    """F_pers, F_loc, F_org and F_ne of each line."""
    values = []
    for line in _lines(path):
        tags = Counter(_NAME.findall(line))
        counts = {
            short: float(tags[tag])
            for short, tag in (("pers", "PERSON"), ("loc", "LOCATION"), ("org", "ORGANIZATION"))
        }
        values.append({**counts, "ne": sum(counts.values())})
    return values


_NODE = re.compile(r"(?P<id>E?\d+)\t\((?P<word>.*?)\s*\t(?P<rest>.*)")
_HEAD = re.compile(r"E?\d+|\*")
_ANTECEDENT = re.compile(r"\(antecedent (\w+)\)")


def read_parses(path: Path) -> list[tuple[ParseWord, ...]]:
    """The tree of each block. Raises InputError for a broken one.

    Traces are removed: their dependents are attached to the antecedent. Empty nodes of clauses are kept.
    """
    parses: list[tuple[ParseWord, ...]] = []
    block: list[str] | None = None
    for number, line in enumerate(_lines(path), 1):
        where = f"{path}:{number}"
        if line.strip() == "(":
            if block is not None:
                raise InputError(where, "a parse begins before the last one ends")
            block = []
        elif line.strip() == ")":
            if block is None:
                raise InputError(where, "a parse ends that has not begun")
            parses.append(_build_tree(where, block))
            block = None
        elif block is not None and line.strip():
            block.append(line)
    if block is not None:
        raise InputError(str(path), "ends within a parse: it may be truncated")
    return parses


def _build_tree(where: str, lines: list[str]) -> tuple[ParseWord, ...]:
    nodes: dict[str, ParseWord] = {}
    heads: dict[str, str] = {}
    traces: dict[str, str] = {}
    for line in lines:
        match = _NODE.fullmatch(line)
        fields = [part.strip() for part in match["rest"].split("\t")] if match else []
        # The lemma and the category are either one field or two.
        head = next((part for part in fields[1:3] if _HEAD.fullmatch(part)), None)
        if match is None or head is None:
            raise InputError(where, f"is not a parse of MINIPAR: {line[:60]!r}")
        if antecedent := _ANTECEDENT.search(match["rest"]):
            traces[match["id"]] = antecedent[1]
            continue
        word = "" if match["word"] == "()" else match["word"]
        nodes[match["id"]], heads[match["id"]] = ParseWord(word, -1), head
    order = {id: position for position, id in enumerate(nodes)}
    words = [ParseWord(node.word, order.get(_find_head(heads[id], traces), -1)) for id, node in nodes.items()]
    for start in range(len(words)):
        head, steps = words[start].head, 0
        while head >= 0:
            head, steps = words[head].head, steps + 1
            if steps > len(words):
                raise InputError(where, "has a parse with a cycle")
    return tuple(words)


def _find_head(head: str, traces: Mapping[str, str]) -> str:
    """The head, or the antecedent if the head is a trace; none for a cycle of traces."""
    visited = set()
    while head in traces and head not in visited:
        visited.add(head)
        head = traces[head]
    return "" if head in traces else head


def _lines(path: Path) -> Iterator[str]:
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from None
    yield from text.splitlines()
