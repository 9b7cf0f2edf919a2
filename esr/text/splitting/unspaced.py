"""Splits paragraphs in Chinese and Japanese, which have marks of their own and no blanks.

Short quotations are not split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from esr.stdlib import compile_lazily

UNSPACED_LANGUAGES = frozenset({"ja", "zh"})

LONGEST_QUOTATION = 200
"""Length above which a quotation is split like other text, as is text after an unclosed bracket."""

_PAIRS = {pair[0]: pair[1] for pair in ("「」", "『』", "（）", "()", "“”", "‘’", "【】", "《》", "〈〉")}
_CLOSING = "」』）)”’】》〉〕］\"'"
_MARKS = compile_lazily(
    # Latin marks end sentences, too, but not in "Yahoo!ニュース"; full stops only before a blank.
    r"(?:[。｡！？]|(?<![A-Za-z0-9])[!?]|(?<![A-Z.…])[.…]++(?= |$))[。｡！？!?]*+"
    rf"(?P<closing>[{_CLOSING}]*+) ?"
)
_OPENING = compile_lazily(f"[{''.join(map(re.escape, _PAIRS))}]")
# Continuations of a sentence after a quotation: a mark, a Japanese particle, or the speaker. Excludes words
# that only begin like a particle (はい, もちろん) or end like a verb of speech (知道, 訪問, 名稱, 小說).
_CONTINUATION = compile_lazily(
    r"[，、。；：,;:!?！？）)」』】》…—–]"
    r"|(?!はい|はじ|はる|はっき|もちろん|もし|もっと|もう|ところ|とても|とにかく|とりあえず|とうとう|がん|でも、|では、|だが|だから|だって"
    r"|なぜ|なお|なるほど|なんと|なんで|やはり|やっぱり|やがて|やっと|かつて|かれ|かの)"
    r"(?:って|という|といっ|との|として|とか|とも|とは|と|など|の|を|に|は|が|も|で|や|か|な|だ|へ|ら)(?=[\u3040-\u9fff、])"
    r"|[^，。！？、]{0,6}(?:(?<!小)[說说]|(?<![知報报街軌轨管通味頻频])道|(?<![訪访學学疑顧顾])[問问]|(?<![名簡简])[稱称]"
    r"|表示|喊|叫|寫|写|答)[，。：:,]"
)


def split_unspaced_paragraph(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, which must have single blanks."""
    start = 0
    for end in _ends(paragraph):
        yield paragraph[start:end].rstrip(" ")
        start = end
    yield paragraph[start:]


def _ends(text: str) -> Iterator[int]:
    """Yield the ends of sentences within a text, after any blank."""
    quotations = _quotations(text)
    quotation_start, quotation_end = next(quotations)
    for match in _MARKS.finditer(text):
        while quotation_end < match.start():
            quotation_start, quotation_end = next(quotations)
        if quotation_start < match.start() and match.end("closing") <= quotation_end:
            continue
        if match["closing"] and _CONTINUATION.match(text, match.end()):
            continue
        if match.end() < len(text):
            yield match.end()


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the outermost quotations and brackets, then an empty one at the end of the text."""
    end = -1
    for opening in _OPENING.finditer(text):
        if opening.start() > end:
            closing = text.find(_PAIRS[opening[0]], opening.end(), opening.end() + LONGEST_QUOTATION)
            if closing > 0:
                end = closing
                yield opening.start(), end
    yield len(text), len(text)
