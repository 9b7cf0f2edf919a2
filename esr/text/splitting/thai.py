"""Splits paragraphs in Thai and Lao.

A blank ends a sentence, without a mark, but it also follows phrases, names and numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from esr.stdlib import compile_lazily

THAI_LANGUAGES = frozenset({"th"})

SHORTEST = 20
"""Length below which a piece is a phrase."""
END_OF_PHRASE = 30
"""Number of last characters of a phrase that are examined."""

# Continuations of a sentence: marks of repetition and omission; and, or, which, that, by, such as, including,
# for, so, because; said; units.
_THAI_CONTINUATION = compile_lazily(
    r"[\d\Wๆฯ]|และ|หรือ|ซึ่ง|ที่|โดย|เช่น|รวมถึง|รวมทั้ง|เพื่อ|จึง|ก็|ของ|กับ|ให้|ว่า|เพราะ|จน|ตลอดจน|ได้แก่|อย่าง"
    r"|ล้าน|พัน|หมื่น|แสน|บาท|ปอนด์|ดอลลาร์|ยูโร|เปอร์เซ็นต์|กิโลเมตร|เมตร|ปี|คน|กล่าว|บอก|ระบุ|เผย"
    r"|ແລະ|ຫຼື|ທີ່|ຊຶ່ງ|ໂດຍ|ເພື່ອ"
)
# No sentence ends with a number, an abbreviation, Latin letters, "that", or a mark of repetition or omission.
_THAI_UNFINISHED = compile_lazily(r"(?:\d[\d.,%]*|[\u0e00-\u0e7f]\.|[,:;(“\"‘]|ว่า|ๆ|ฯ|[A-Za-z][\w.-]*)$")
_MARK = compile_lazily(r"[.!?…][\"'”’)]*$")


def split_thai_paragraph(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, which must have single blanks."""
    sentence: list[str] = []
    length = quotes = 0
    for phrase in paragraph.split(" "):
        if sentence and _ends_sentence(sentence[-1][-END_OF_PHRASE:], phrase, length, quotes > 0):
            yield " ".join(sentence)
            sentence = []
            length = quotes = 0
        sentence.append(phrase)
        length += len(phrase)
        quotes += phrase.count("“") - phrase.count("”")
    yield " ".join(sentence)


def _ends_sentence(last: str, following: str, length: int, is_quoted: bool) -> bool:
    """Whether a sentence ends with its last phrase."""
    if _THAI_UNFINISHED.search(last):
        return False
    if _MARK.search(last):
        return True
    return length >= SHORTEST and not is_quoted and not _THAI_CONTINUATION.match(following)
