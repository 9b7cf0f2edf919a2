"""How well quotations and speakers are found in Dutch novels, with the annotations of OpenBoek (CC BY 4.0).

    python -m benchmarks.studies.quotation_novels OPENBOEK/quotes [NOVEL ...]

A novel is one document, each line of its `.xml` a sentence. A quotation of at least three words is found if
one of esr shares half of its union with the annotated one in the sentence in which it begins. Speakers count
if the annotation has a mention of the speaker, "he" included, in the first or last sentence of the quotation;
one is right if it shares a word with the mention. Prints a table; with the beginnings of names, also the
wrong speakers in these.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from esr.enrichment.quotations.quotes import find_quotes
from esr.text.document import Document, Quote, Sentence

_MIN_WORDS = 3
_SHARED = 0.5
_TOKEN = re.compile(r"<(/?)(quote|mention)\b([^>]*)>|<[^>]*>|(\n)|([^\s<]+)")
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_CLOSED = re.compile(r"[,.;:!?)]+")


class Mark(Struct):
    """An annotated quotation or mention: the sentence in which it begins, and its part of that sentence."""

    attributes: Mapping[str, str]
    sentence: int
    start: int
    end: int = 0
    last: int = 0
    is_open: bool = True


class Novel(Struct):
    """The sentences of a novel, and what is annotated in them, by the ids of the annotation."""

    sentences: list[str]
    quotes: dict[str, Mark]
    mentions: dict[str, Mark]


def main(folder: Path, shown: Sequence[str]) -> None:
    print("| novel | quotations | recall | mentions | speaker |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for path in sorted(folder.glob("*.xml")):
        novel = read_novel(path.read_text("utf-8"))
        if any("type" in quote.attributes for quote in novel.quotes.values()):
            print(_measure(path.stem, novel, any(path.stem.startswith(one) for one in shown)))


def read_novel(xml: str) -> Novel:
    """The sentences with their words joined, and the annotated places in them."""
    novel = Novel([], {}, {})
    line, stack, is_quoted, is_glued = "", list[Mark](), False, True
    for token in _TOKEN.finditer(xml[xml.index("<text>") : xml.index("</text>")] + "\n"):
        closing, kind, attributes, newline, word = token.groups()
        if newline and line:
            for mark in (*novel.quotes.values(), *novel.mentions.values()):
                if mark.is_open and mark.sentence == len(novel.sentences):
                    mark.end = len(line)
            novel.sentences.append(line)
            line, is_glued = "", True
        elif kind and closing:
            mark = stack.pop()
            mark.is_open, mark.last = False, len(novel.sentences)
            if mark.sentence == mark.last:
                mark.end = len(line)
            elif not line:
                mark.last -= 1
        elif kind:
            read = dict(_ATTRIBUTE.findall(attributes))
            stack.append(Mark(read, len(novel.sentences), len(line)))
            (novel.quotes if kind == "quote" else novel.mentions)[read["id"]] = stack[-1]
            is_quoted = is_quoted and kind == "mention"
        elif word:
            word = html.unescape(word)
            closes = _CLOSED.fullmatch(word) or (word == '"' and is_quoted)
            line += word if is_glued or closes else f" {word}"
            is_quoted ^= word == '"'
            is_glued = word == '"' and is_quoted
    return novel


def _measure(name: str, novel: Novel, shows: bool) -> str:
    """The row of a novel."""
    sentences = tuple(Sentence(f"{name}.s{n}", text) for n, text in enumerate(novel.sentences))
    found = find_quotes(Document(name, sentences, language="nl"), "nl")
    wanted = hits = named = right = 0
    for mark in novel.quotes.values():
        quoted = novel.sentences[mark.sentence][mark.start : mark.end]
        if len(re.findall(r"\w+", quoted)) < _MIN_WORDS:
            continue
        wanted += 1
        quote = next((one for one in found[mark.sentence] if _overlap(one, mark) >= _SHARED), None)
        hits += quote is not None
        mentions = [_text(novel, mention) for mention in _mentions(novel, mark)]
        if quote is None or not mentions:
            continue
        said = set(_words(quote.speaker or ""))
        is_right = any(said & set(_words(mention)) for mention in mentions)
        named, right = named + 1, right + is_right
        if shows and not is_right:
            print(
                f"{name}: {mentions} {quote.speaker!r}\n   {sentences[mark.sentence].text}", file=sys.stderr
            )
    return f"| {name} | {wanted} | {hits / wanted:.3f} | {named} | {right / max(named, 1):.3f} |"


def _mentions(novel: Novel, mark: Mark) -> Iterator[Mark]:
    """The mentions of the speaker in the sentences in which a quotation begins and ends."""
    for id in mark.attributes.get("connection", "").split(","):
        mention = novel.mentions.get(id)
        if mention is not None and mention.sentence in (mark.sentence, mark.last):
            yield mention


def _text(novel: Novel, mark: Mark) -> str:
    return novel.sentences[mark.sentence][mark.start : mark.end]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _overlap(quote: Quote, mark: Mark) -> float:
    shared = min(quote.end, mark.end) - max(quote.start, mark.start)
    return max(shared, 0) / (max(quote.end, mark.end) - min(quote.start, mark.start))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
