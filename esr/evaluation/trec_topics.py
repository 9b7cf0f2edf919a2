"""TREC topics: `<top>`, `<num>`, `<title>`, `<desc>`, `<narr>`, and what the Novelty track adds to them.

The tags are seldom closed, so a field ends where the next tag stands. A Novelty topic has a type,
`<toptype>event`, and the documents that its sentences come from, `<docs>`, the best first.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path

from esr.evaluation import files
from esr.evaluation.files import Line
from esr.evaluation.topic import FIELDS, Topic

_KIND_TAGS = ("toptype", "type")
_DOCUMENT_TAGS = ("docs", "docno", "docid", "doc")
_KNOWN = ("top", "num", *FIELDS, *_KIND_TAGS, *_DOCUMENT_TAGS)
# A tag that is not known ends a field only if it begins its line: "<b>" within a sentence does not.
_TAG = re.compile(
    rf"<(?P<end>/?)(?P<tag>{'|'.join(_KNOWN)})\b[^<>\n]*>|^[ \t]*</?(?P<other>[a-z]\w*)[^<>\n]*>", re.I | re.M
)
# The words that stand before what the tag already says.
_LABEL = re.compile(r"(?:Number|Topic|Description|Narrative|Type|Documents)\s*:", re.I)
_RANKED = re.compile(r"^\d{1,6}[.:]?\s+(?=\S+$)")


def parse(path: str | Path, content: Iterable[Line]) -> Iterator[tuple[Line, Topic]]:
    """The topics, each with its first line. Raises InputError if one has no number, or two."""
    lines = list(content)
    texts = [line.text.rstrip("\r\n") for line in lines]
    text = "\n".join(texts)
    starts = list(accumulate((len(each) + 1 for each in texts), initial=0))

    def line_at(position: int) -> Line:
        return lines[bisect_right(starts, position) - 1]

    tags = list(_TAG.finditer(text))
    begin: int | None = None
    parts: dict[str, list[str]] = {}
    ends = [*(tag.start() for tag in tags), len(text)][1:]
    for tag, end in zip(tags, ends, strict=True):
        name = (tag["tag"] or "").lower()
        if name == "top":
            if begin is not None:
                yield line_at(begin), _topic(path, line_at(begin), parts)
            begin, parts = (None if tag["end"] else tag.start()), defaultdict(list)
        elif begin is None:
            if name in ("num", *FIELDS):
                raise files.line_error(path, line_at(tag.start()), f"this <{name}> has no <top> before it")
        elif name and not tag["end"]:
            parts[name].append(_LABEL.sub("", html.unescape(text[tag.end() : end]).strip(), count=1))
    if begin is not None:
        yield line_at(begin), _topic(path, line_at(begin), parts)


def _topic(path: str | Path, line: Line, parts: Mapping[str, list[str]]) -> Topic:
    numbers = parts.get("num", [])
    if len(numbers) != 1:
        what = "has no <num>" if not numbers else "has two <num>: a <top> is missing between them"
        raise files.line_error(path, line, f"this <top> {what}")
    number = numbers[0].split()
    if len(number) != 1:
        raise files.line_error(path, line, f"the topic's number is one word, not {numbers[0].strip()[:60]!r}")
    fields = {name: " ".join(" ".join(parts.get(name, [])).split()) for name in FIELDS}
    kinds = [" ".join(kind.split()).casefold() for tag in _KIND_TAGS for kind in parts.get(tag, [])]
    return Topic(
        number[0],
        {name: text for name, text in fields.items() if text},
        next(filter(None, kinds), None),
        tuple(dict.fromkeys(_documents(parts))),
    )


def _documents(parts: Mapping[str, list[str]]) -> Iterator[str]:
    """The ids, one or more a line. A rank may stand before an id that has a line for itself."""
    for tag in _DOCUMENT_TAGS:
        for part in parts.get(tag, []):
            for row in part.splitlines():
                yield from _RANKED.sub("", row.strip()).split()
