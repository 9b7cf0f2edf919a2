"""Topics in TREC's format."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path

from esr.topics.lines import Line, line_error
from esr.topics.topic import FIELDS, Topic

_KIND_TAGS = ("toptype", "type")
_DOCUMENT_TAGS = ("docs", "docno", "docid", "doc")
_TAGS = ("top", "num", *FIELDS, *_KIND_TAGS, *_DOCUMENT_TAGS)
# An unknown tag ends a field only at the start of a line. "<b>" within a sentence does not.
_TAG = re.compile(
    rf"<(?P<end>/?)(?P<tag>{'|'.join(_TAGS)})\b[^<>\n]*>|^[ \t]*</?(?P<other>[a-z]\w*)[^<>\n]*>", re.I | re.M
)
# Labels that repeat the tag, at the start of a field only: a title may be "Hot topic: health insurance".
_LABEL = re.compile(r"\A(?:Number|Topic|Description|Narrative|Type|Documents)\s*:", re.I)
_RANKED = re.compile(r"^\d{1,6}[.:]?\s+(?=\S+$)")


def parse_trec_topics(path: str | Path, content: Iterable[Line]) -> Iterator[tuple[Line, Topic]]:
    """Parse topics in TREC SGML, each with its first line.

    The fields are `<num>`, `<title>`, `<desc>` and `<narr>` within `<top>`. Tags are seldom closed, so a
    field ends at the next tag. A topic of the Novelty track also has a type, `<toptype>event`, and the
    documents that its sentences come from, `<docs>`, best first. Raises InputError for a topic without a
    number or with two.
    """
    lines = list(content)
    texts = [line.text.rstrip("\r\n") for line in lines]
    text = "\n".join(texts)
    starts = list(accumulate((len(line) + 1 for line in texts), initial=0))

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
                yield line_at(begin), _build_trec_topic(path, line_at(begin), parts)
            begin, parts = (None if tag["end"] else tag.start()), defaultdict(list)
        elif begin is None:
            if name in ("num", *FIELDS):
                raise line_error(path, line_at(tag.start()), f"this <{name}> needs a <top> before it")
        elif name and not tag["end"]:
            parts[name].append(_LABEL.sub("", html.unescape(text[tag.end() : end]).strip(), count=1))
    if begin is not None:
        yield line_at(begin), _build_trec_topic(path, line_at(begin), parts)


def _build_trec_topic(path: str | Path, line: Line, parts: Mapping[str, list[str]]) -> Topic:
    numbers = parts.get("num", [])
    if len(numbers) != 1:
        problem = "has no <num>" if not numbers else "has two <num>: add the missing <top> between them"
        raise line_error(path, line, f"this <top> {problem}")
    number = numbers[0].split()
    if len(number) != 1:
        problem = f"the topic's number must be one word, not {numbers[0].strip()[:60]!r}"
        raise line_error(path, line, problem)
    fields = {name: " ".join(" ".join(parts.get(name, [])).split()) for name in FIELDS}
    kinds = [" ".join(kind.split()).casefold() for tag in _KIND_TAGS for kind in parts.get(tag, [])]
    return Topic(
        number[0],
        {name: text for name, text in fields.items() if text},
        next(filter(None, kinds), None),
        tuple(dict.fromkeys(_iterate_documents(parts))),
    )


def _iterate_documents(parts: Mapping[str, list[str]]) -> Iterator[str]:
    """The document ids, one or more per line. A rank may precede a single id on its line."""
    for tag in _DOCUMENT_TAGS:
        for part in parts.get(tag, []):
            for row in part.splitlines():
                yield from _RANKED.sub("", row.strip()).split()
