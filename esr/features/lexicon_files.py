"""A user's lexicon: the MPQA lexicon, Hu & Liu's lists, plain words, or words with scores.

The best lexica may not be passed on, so that users bring them. A file is told by what stands in it:

    type=strongsubj len=1 word1=abuse pos1=verb stemmed1=y priorpolarity=negative     MPQA (.tff)
    abuse<TAB>-3.2                                                                    a score: its sign counts
    abuse                                                                             a word

Lines that start with ; or # are comments. Words without a score have the polarity that the file's name or
first comments say, as in Hu & Liu's positive-words.txt and negative-words.txt, or none. Every word is a
strong clue, but for MPQA's weaksubj ones.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from esr.errors import InputError
from esr.features.lexicon import Clue, Entries, Lexicon, WordClass, stemmed

_MPQA_CLASSES: dict[str, WordClass | None] = {
    "adj": "adjective",
    "adverb": "adverb",
    "noun": "noun",
    "verb": "verb",
    "anypos": None,
}
_MPQA_POLARITIES = {"positive": 1, "negative": -1, "neutral": 0, "both": 0, "weakneg": -1, "weakpos": 1}
_MPQA_TYPES = {"strongsubj": True, "weaksubj": False}

T = TypeVar("T")
Entry = tuple[str, WordClass | None, Clue, bool]  # the last: in every inflection


def read(paths: Sequence[Path]) -> Lexicon:
    """One lexicon of these files; of a word in several, the last counts. Raises InputError with file:line."""
    words: Entries = {}
    stems: Entries = {}
    for path in paths:
        entries = list(_entries(path))
        if not entries:
            raise InputError(str(path), "there is no word in this lexicon")
        for word, of, clue, inflected in entries:
            words[word, of] = clue
            if inflected:
                stems[stemmed(word), of] = clue
    return Lexicon(_digest(paths), words, stems)


def _digest(paths: Iterable[Path]) -> str:
    """Names the contents of these files, in their order."""
    contents = hashlib.sha256()
    names = []
    for path in paths:
        data = _bytes(path)
        contents.update(len(data).to_bytes(8, "little") + data)
        names.append(path.name)
    return f"{' + '.join(names)} {contents.hexdigest()[:12]}"


def _entries(path: Path) -> Iterator[Entry]:
    lines = _text(path).splitlines()
    polarity = _told_polarity(path, lines)
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line or line[0] in ";#":
            continue
        try:
            yield _mpqa(line) if line.startswith("type=") else _plain(line, polarity)
        except ValueError as problem:
            raise InputError(f"{path}:{number}", str(problem)) from None


def _told_polarity(path: Path, lines: Sequence[str]) -> int:
    comments = " ".join(line for line in lines[:10] if line.lstrip()[:1] in (";", "#"))
    for told in (path.name.lower(), comments.lower()):
        found = {word for word in ("positive", "negative") if re.search(rf"(?<![a-z]){word}", told)}
        if len(found) == 1:
            return 1 if found == {"positive"} else -1
    return 0


def _plain(line: str, polarity: int) -> Entry:
    word, *columns = line.split("\t")
    word = word.strip().lower()
    if not columns:
        if len(word.split()) != 1:
            raise ValueError(f"{line[:60]!r} is neither a word nor word<TAB>score")
        return word, None, Clue(polarity, True), False
    try:
        score = float(columns[0])
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"the score of {word[:40]!r} must be a number, not {columns[0][:40]!r}")
    return word, None, Clue((score > 0) - (score < 0), True), False


def _mpqa(line: str) -> Entry:
    fields = dict(pair.partition("=")[::2] for pair in line.split())
    strong = _one_of(fields, "type", _MPQA_TYPES)
    of = _one_of(fields, "pos1", _MPQA_CLASSES)
    polarity = _one_of(fields, "priorpolarity", _MPQA_POLARITIES)
    if not fields.get("word1"):
        raise ValueError("word1 is missing")
    return fields["word1"].lower(), of, Clue(polarity, strong), fields.get("stemmed1") == "y"


def _one_of(fields: Mapping[str, str], name: str, known: Mapping[str, T]) -> T:
    if fields.get(name) not in known:
        told = repr(fields[name]) if name in fields else "missing"
        raise ValueError(f"{name} must be one of {', '.join(known)}, and is {told}")
    return known[fields[name]]


def _text(path: Path) -> str:
    data = _bytes(path)
    if b"\0" in data:
        raise InputError(str(path), "this is no text: give a lexicon as words, word<TAB>score or MPQA's .tff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:  # Hu & Liu's lists
        return data.decode("latin-1")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), f"cannot read this lexicon: {error.strerror}") from None
