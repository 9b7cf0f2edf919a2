"""Splits text into paragraphs and sentences, by the rules of its language or else of its script.

Paragraphs end at blank lines, and at lines that were not merely wrapped. Words hyphenated at line ends are
joined. Scripts with blanks between words are split by `spaced_scripts`. Chinese and Japanese have special
marks and no blanks, and short quotations are not split. Thai and Lao end sentences with a blank, without a
mark, but also put blanks after phrases, names and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set
from typing import NamedTuple

from esr.stdlib import compile_lazily
from esr.text.spaced_scripts import load_rules, split_spaced_paragraph

# Paragraphs

UNWRAPPED = 120
"""Length of a line above which the text is not wrapped: each line is a paragraph."""
NARROW = 40
"""If all lines are shorter than this, the text is not wrapped either: they are headings or list items."""
SHORT = 0.75
"""Share of the longest line's length. A shorter line with room for the next word ends a paragraph."""

# A blank line ends a paragraph. It may contain blanks.
_BLANK_LINE = compile_lazily(r"\n\s*\n")
_BULLETS = tuple("•‣⁃◦▪▫●■□◆►▶➢✓✔∙")
# A hyphen may be a dash, and a wrapped line may begin with a number, so a single such line is no list.
_LIST_MARKERS = compile_lazily(r"[-–—*+·]\s"), compile_lazily(r"\(?(?:\d{1,3}|[a-z])[.)]\s")
# A paragraph neither ends nor begins with these characters.
_UNFINISHED = tuple(",;-–—‐/&、，")


def split_paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text that are not blank, each as one line with single blanks."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    for block in _BLANK_LINE.split(text) if "\n" in text else (text,):
        if "\n" in block:
            yield from _join_wrapped([line for line in map(_normalise, block.split("\n")) if line])
        elif paragraph := _normalise(block):
            yield paragraph


def _normalise(text: str) -> str:
    return " ".join(text.split())


def _join_wrapped(lines: list[str]) -> Iterator[str]:
    """Yield the paragraphs of consecutive lines without a blank line."""
    if not lines:
        return
    # A line of one long word, such as a URL, tells nothing about the width.
    width = max((len(line) for line in lines if " " in line or not line.isascii()), default=0)
    markers = [marker for marker in _LIST_MARKERS if sum(map(bool, map(marker.match, lines))) > 1]
    paragraph = [lines[0]]
    for line in lines[1:]:
        if _ends_paragraph(paragraph[-1], line, width) or _is_item(line, markers):
            yield "".join(paragraph)
            paragraph = []
        if paragraph and has_blank_between(paragraph[-1], line):
            paragraph.append(" ")
        paragraph.append(line)
    yield "".join(paragraph)


_CHINESE_OR_JAPANESE = compile_lazily(
    r"[\u3000-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


def has_blank_between(line: str, next_line: str) -> bool:
    """Whether a line end stands for a blank, unlike in Chinese. Neither line is empty."""
    return not (_CHINESE_OR_JAPANESE.match(next_line) and _CHINESE_OR_JAPANESE.match(line[-1]))


def _ends_paragraph(line: str, next_line: str, width: int) -> bool:
    """Whether a line ends a paragraph, as a heading or byline does, instead of being wrapped."""
    if line.endswith(_UNFINISHED) or next_line[0].islower() or next_line.startswith(_UNFINISHED):
        return False
    if width > (UNWRAPPED // 2 if _is_unspaced_letter(next_line[0]) else UNWRAPPED):
        return True
    if line.endswith(":"):
        return False
    if width < NARROW and next_line[0].isupper() and not line.endswith("."):
        return True
    next_word = "" if _is_unspaced_letter(next_line[0]) else next_line.split(" ", 1)[0]
    return len(line) + 1 + len(next_word) <= SHORT * width


def _is_item(line: str, markers: list[re.Pattern[str]]) -> bool:
    """Whether a line begins an item of a list."""
    return line.startswith(_BULLETS) or any(marker.match(line) for marker in markers)


def _is_unspaced_letter(character: str) -> bool:
    """Whether it belongs to a script that can be wrapped within words: Thai, Lao, Han, Kana."""
    return "\u0e00" <= character < "\u0f00" or character >= "\u2e80"


# Languages and scripts

_NAMES = {
    "ar": "ara arabic",
    "bg": "bul bulgarian",
    "ca": "cat catalan valencian",
    "cs": "ces cze czech sk slk slo slovak",
    "da": "dan danish",
    "de": "deu ger german gsw bar nds lb ltz",
    "el": "ell gre greek",
    "en": "eng english",
    "es": "spa spanish castilian gl glg galician",
    "fa": "fas per persian farsi",
    "fi": "fin finnish",
    "fr": "fra fre french",
    "hi": "hin hindi mr mar marathi ne nep nepali sa san sanskrit",
    "hu": "hun hungarian",
    "it": "ita italian",
    "ja": "jpn japanese",
    "ko": "kor korean",
    "nl": "nld dut dutch flemish af afr afrikaans",
    "no": "nor norwegian nb nob nn nno",
    "pl": "pol polish",
    "pt": "por portuguese",
    "ro": "ron rum romanian mo moldovan",
    "ru": "rus russian be bel belarusian",
    "sr": "srp scc serbian hr hrv scr croatian bs bos bosnian sh hbs sl slv slovenian",
    "sv": "swe swedish",
    "th": "tha thai lo lao",
    "tr": "tur turkish az aze azerbaijani",
    "uk": "ukr ukrainian",
    "ur": "urd urdu",
    "zh": "zho chi chinese cmn mandarin yue cantonese wuu hak lzh",
}
"""Other codes and names of each language, and related languages with similar abbreviations."""

_CODES = {name: code for code, names in _NAMES.items() for name in (code, *names.split())}
_REGION = compile_lazily(r"[-_;,/ (]")

_OTHERS = """
af=Afrikaans am=Amharic as=Assamese az=Azerbaijani be=Belarusian bn=Bengali br=Breton bs=Bosnian
ceb=Cebuano cy=Welsh dz=Dzongkha eo=Esperanto et=Estonian eu=Basque fil=Filipino fo=Faroese
fy=Frisian ga=Irish gd=Gaelic gl=Galician gu=Gujarati ha=Hausa he=Hebrew hr=Croatian ht=Haitian
hy=Armenian id=Indonesian ig=Igbo is=Icelandic jv=Javanese ka=Georgian kk=Kazakh km=Khmer kn=Kannada
ku=Kurdish ky=Kyrgyz la=Latin lb=Luxembourgish lo=Lao lt=Lithuanian lv=Latvian mg=Malagasy mi=Maori
mk=Macedonian ml=Malayalam mn=Mongolian mr=Marathi ms=Malay mt=Maltese my=Burmese nb=Norwegian
ne=Nepali nn=Norwegian ny=Chichewa oc=Occitan om=Oromo or=Odia pa=Punjabi ps=Pashto qu=Quechua
rm=Romansh rw=Kinyarwanda sd=Sindhi se=Sami si=Sinhala sk=Slovak sl=Slovene sn=Shona so=Somali
sq=Albanian st=Sotho su=Sundanese sw=Swahili ta=Tamil te=Telugu tg=Tajik ti=Tigrinya tk=Turkmen
tl=Tagalog tn=Tswana tt=Tatar ug=Uyghur uz=Uzbek vi=Vietnamese vo=Volapük wa=Walloon xh=Xhosa
yi=Yiddish yo=Yoruba zu=Zulu
"""
_OTHER_NAMES = dict(pair.split("=") for pair in _OTHERS.split())
"""Names of languages without rules."""


def name_language(tag: str) -> str:
    """A language for readers: "German" for "de", "German (AT)" for "de-at". Other tags are unchanged."""
    code, *rest = tag.split("-")
    names = (name.capitalize() for name in _NAMES.get(code.lower(), "").split() if len(name) > 3)
    name = next(names, _OTHER_NAMES.get(code.lower()))
    return tag if name is None else name + (f" ({'-'.join(rest).upper()})" if rest else "")


def find_language(language: str | None) -> str | None:
    """The code of a language's rules: "de" for "de-AT", "deu" and "German". None without rules."""
    if language is None:
        return None
    return _CODES.get(_REGION.split(language.strip().lower(), maxsplit=1)[0])


SAMPLE = 2_000
"""Number of characters of a text that are examined."""

_SCRIPTS = {
    "ja": r"\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "zh": r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "th": r"\u0e00-\u0eff",
    "hi": r"\u0900-\u097f",
    "ar": r"\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff",
    "ru": r"\u0400-\u052f",
    "el": r"\u0370-\u03ff\u1f00-\u1fff",
}
"""The letters of a script, by the language whose rules suit it."""
_LETTERS = {language: compile_lazily(f"[{letters}]") for language, letters in _SCRIPTS.items()}
_ANY_LETTER = compile_lazily(f"[{''.join(_SCRIPTS.values())}]")
_LATIN = compile_lazily(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")


def find_script_language(text: str) -> str | None:
    """The language whose rules suit a text's script; None for Latin and for scripts without rules."""
    sample = text[:SAMPLE]
    if text.isascii() or not _ANY_LETTER.search(sample):
        return None
    counts = {language: len(letters.findall(sample)) for language, letters in _LETTERS.items()}
    # Japanese has about as many Han characters as Kana; Chinese has no Kana.
    if 10 * counts["ja"] > counts["zh"]:
        counts["ja"] += counts["zh"]
    language = max(counts, key=lambda language: counts[language])
    return language if counts[language] > len(_LATIN.findall(sample)) else None


# Chinese and Japanese

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


# Thai and Lao

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


# All languages

DEFAULT = "en"
"""The language for Latin script of unknown language, and for scripts without rules."""

ParagraphSplitter = Callable[[str], Iterable[str]]


class NumberedSentence(NamedTuple):
    """A sentence, and the zero-based index of its paragraph in the source text."""

    paragraph: int
    text: str


def split_sentences(text: str, language: str | None = None) -> list[str]:
    """Split a text into sentences, in order. No sentence is empty or crosses the end of a paragraph.

    `language` is a document's: a code, with or without a region ("de", "de-AT", "deu"), or an English name.
    If it is missing or has no rules, the script of the text decides.

    Each run of white space within a sentence becomes one blank, so wrapped text becomes one line. Nothing
    else is changed or lost.
    """
    return [sentence.text for sentence in split_numbered_sentences(text, language)]


def split_numbered_sentences(text: str, language: str | None = None) -> list[NumberedSentence]:
    """Split a text into sentences, each with the index of its paragraph."""
    split_paragraph = _splitter(_rules_language(text, language))
    return [
        NumberedSentence(number, sentence)
        for number, paragraph in enumerate(split_paragraphs(text))
        for sentence in split_paragraph(paragraph)
    ]


def _rules_language(text: str, language: str | None) -> str:
    """The language whose rules apply. Scripts without blanks take precedence over the document's language."""
    named, script = find_language(language), find_script_language(text)
    if named is None or _is_unspaced(named) or (script is not None and _is_unspaced(script)):
        return script or DEFAULT
    return named


def _is_unspaced(language: str) -> bool:
    return language in UNSPACED_LANGUAGES or language in THAI_LANGUAGES


def _splitter(language: str) -> ParagraphSplitter:
    if language in UNSPACED_LANGUAGES:
        return split_unspaced_paragraph
    if language in THAI_LANGUAGES:
        return split_thai_paragraph
    rules = load_rules(language)
    return lambda paragraph: split_spaced_paragraph(paragraph, rules)


# Printed lines, and the words split at their ends


# A soft hyphen, and the signs that text recognition returns for hyphens at line ends.
_SURE = "\xad\u00ac\u2e17"
_HYPHENS = f"-\u2010\u2011{_SURE}"
_CUT = compile_lazily(rf"(?P<head>(?:[\w'’]+[-‐‑])*[^\W\d_]+)(?P<hyphen>[{_HYPHENS}])$")
_LONGEST_WORD = 100
_HEAD = compile_lazily(r"[^\W\d_][\w'’]*")
_WORD = compile_lazily(r"[\w'’]+(?:[-‐‑][\w'’]+)*")
_AND = frozenset(
    (
        *("and", "or", "nor", "und", "oder", "bzw", "sowie", "et", "ou", "y", "e", "o"),
        *("en", "of", "och", "og", "eller", "i", "ali"),
    )
)
"""Words after an elliptic hyphen: "pre- and post-war"."""


def find_uncut_words(lines: Iterable[str]) -> Set[str]:
    """The words of lines in lower case, with their hyphens, except words that a line end may have split."""
    words: set[str] = set()
    for line in lines:
        found = _WORD.findall(line.lower())
        words.update(found[:-1] if _CUT.search(line) else found)
    return words


def join_lines(lines: Iterable[str], words: Set[str] = frozenset()) -> str:
    """The text of the lines of a paragraph, on one line.

    A hyphen at the end of a line is removed if the next line continues its word with a small letter, unless
    the text has the word only with the hyphen (`words`, from `find_uncut_words`) or the hyphen is elliptic.
    """
    text = ""
    for line in lines:
        line = " ".join(line.split())
        text = _join(text, line, words) if text and line else text or line
    return text.replace("\xad", "")


def _join(text: str, line: str, words: Set[str]) -> str:
    cut, head = _CUT.search(text[-_LONGEST_WORD:]), _HEAD.match(line)
    if cut is None or head is None:
        is_range = bool(re.search(r"\d[-‐–]$", text[-2:])) and line[0].isdigit()
        return f"{text} {line}" if not is_range and has_blank_between(text, line) else f"{text}{line}"
    if cut["hyphen"] in _SURE:
        return text[:-1] + line
    if head[0].lower() in _AND:
        return f"{text} {line}"
    if not line[0].islower() and line[0].lower() != line[0].upper():
        return f"{text}{line}"
    before, after = cut["head"].lower(), head[0].lower()
    is_compound = f"{before}-{after}" in words and f"{before}{after}" not in words
    return f"{text}{line}" if is_compound else text[:-1] + line
