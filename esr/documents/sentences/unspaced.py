"""Splits Chinese and Japanese: marks of their own, no blanks, and short quotations are never split."""

from __future__ import annotations

import re
from collections.abc import Iterator

LANGUAGES = frozenset({"ja", "zh"})

LONGEST_QUOTATION = 200
"""A longer one is split like other text, and so is text behind a bracket that is never closed."""

_PAIRS = {pair[0]: pair[1] for pair in ("「」", "『』", "（）", "()", "“”", "‘’", "【】", "《》", "〈〉")}
_CLOSING = "」』）)”’】》〉〕］\"'"
_MARKS = re.compile(
    # Latin marks too, but not in "Yahoo!ニュース", and full stops only before a blank.
    r"(?:[。｡！？]|(?<![A-Za-z0-9])[!?]|(?<![A-Z.…])[.…]++(?= |$))[。｡！？!?]*+"
    rf"(?P<closing>[{_CLOSING}]*+) ?"
)
_OPENING = re.compile(f"[{''.join(map(re.escape, _PAIRS))}]")
# What continues a sentence behind a quotation: a mark, a Japanese particle, or the speaker. Not words that
# merely begin like a particle (はい, もちろん) or end like a verb of speech (知道, 訪問, 名稱, 小說).
_CONTINUATION = re.compile(
    r"[，、。；：,;:!?！？）)」』】》…—–]"
    r"|(?!はい|はじ|はる|はっき|もちろん|もし|もっと|もう|ところ|とても|とにかく|とりあえず|とうとう|がん|でも、|では、|だが|だから|だって"
    r"|なぜ|なお|なるほど|なんと|なんで|やはり|やっぱり|やがて|やっと|かつて|かれ|かの)"
    r"(?:って|という|といっ|との|として|とか|とも|とは|と|など|の|を|に|は|が|も|で|や|か|な|だ|へ|ら)(?=[\u3040-\u9fff、])"
    r"|[^，。！？、]{0,6}(?:(?<!小)[說说]|(?<![知報报街軌轨管通味頻频])道|(?<![訪访學学疑顧顾])[問问]|(?<![名簡简])[稱称]"
    r"|表示|喊|叫|寫|写|答)[，。：:,]"
)


def split_paragraph(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph, which has single blanks only."""
    start = 0
    for end in _ends(paragraph):
        yield paragraph[start:end].rstrip(" ")
        start = end
    yield paragraph[start:]


def _ends(text: str) -> Iterator[int]:
    """The ends of sentences within a text, behind the blank if there is one."""
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
    """The spans of the outermost quotations and brackets, and at last an empty one at the end of the text."""
    end = -1
    for opening in _OPENING.finditer(text):
        if opening.start() > end:
            closing = text.find(_PAIRS[opening[0]], opening.end(), opening.end() + LONGEST_QUOTATION)
            if closing > 0:
                end = closing
                yield opening.start(), end
    yield len(text), len(text)
