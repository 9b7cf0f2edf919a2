"""Labels of links to other articles, which web pages put between the sentences of an article.

A page's text often has such a link in one line with the sentence after it: "READ MORE: Towns cut off by
floods The army brought food." The label announces a headline, so a capitalised word that begins sentences
ends the headline.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from esr.stdlib import compile_lazily

# Phrases: case-insensitive patterns whose first word is literal. A blank stands for any white space.
LINKS = """
read more|read also|also read|opinion|read next|read the full story|see also|related|related articles?
related stor(?:y|ies)|learn more|more on this|more from|continue reading|keep reading|find out more
click here|recommended|you may also like|lesen sie auch|lesen sie mehr|mehr lesen|mehr zum thema|mehr dazu
weiterlesen|zum thema|das könnte sie auch interessieren|lire aussi|à lire aussi|a lire aussi|lire la suite
voir aussi|à voir aussi|en savoir plus|sur le même sujet|lea también|lee también|lea además|leer más
te puede interesar|le puede interesar|vea también|ver más|más información|sigue leyendo|leggi anche
leggi tutto|per saperne di più|vedi anche|continua a leggere|leia também|leia mais|saiba mais|veja também
continue lendo|читайте также|читать далее|смотрите также|подробнее|по теме|lees ook|lees meer|lees verder
bekijk ook|czytaj także|czytaj też|czytaj więcej|zobacz także|zobacz też|läs också|läs mer|läs även
les også|les mer|læs også|læs mere|lue myös|lue lisää|ayrıca okuyun|ilgili haber|çok okunanlar
devamını oku|čtěte také|číst více|citește și|citește mai mult|olvassa el ezt is|διαβάστε επίσης|اقرأ أيضا
اقرأ أيضًا|اقرأ المزيد|شاهد أيضا|طالع أيضا|यह भी पढ़ें|ये भी पढ़ें|और पढ़ें|관련기사|더 보기|더보기
相关阅读|延伸阅读|阅读更多|更多阅读|阅读全文|相關閱讀|延伸閱讀|関連記事|続きを読む|もっと読む
あわせて読みたい
"""
CAPITAL_LINKS = """
READ|WATCH|LISTEN|VIDEO|VIDEOS|GALLERY|PHOTOS|OPINION|INTERACTIVE|EXPLAINER|PODCAST|IN PICTURES
SPECIAL SERIES|FOTOSTRECKE|BILDERGALERIE|KOMMENTAR|MEINUNG|EN IMAGES|VIDÉO|EN FOTOS|ВИДЕО|ФОТО|ФОТОГАЛЕРЕЯ
"""


def match_any(*phrases: str) -> str:
    """A pattern that matches any of the phrases."""
    return "|".join(line for text in phrases for line in text.strip("\n").split("\n")).replace(" ", r"\s+")


def first_words(*phrases: str) -> frozenset[str]:
    """The first word of each phrase, which saves trying all phrases on all sentences."""
    matches = map(FIRST_WORD.match, match_any(*phrases).split("|"))
    return frozenset(match[1] for match in matches if match)


FIRST_WORD = compile_lazily(r"[\W_]*(\w+)")
LEAD = r"[\W_]*"
SEPARATOR = r"\s*(?:[:：|>»→]|[-–—](?!\w))"
LINK = compile_lazily(rf"{LEAD}(?:{match_any(LINKS)}){SEPARATOR}", re.IGNORECASE)
CAPITAL_LINK = compile_lazily(rf"{LEAD}(?:{match_any(CAPITAL_LINKS)}){SEPARATOR}")
GLUED_LINK = compile_lazily(r"\b(?:READ MORE|ALSO READ|READ ALSO|LIRE AUSSI)\s*[:\-–—]")
_FIRST_WORDS = first_words(LINKS, CAPITAL_LINKS)

_WORD = compile_lazily(r"(?<= )([\"“„«]?)([^\W\d_]+)(?=[,'’]? )")
_HEADLINE_END = compile_lazily(r"[^\s,;:–—-]*[^\W_][)\]'’]?")
"""The last word of a headline ends with a letter, a number, or a closing quote or bracket."""
_NEXT_LETTER = compile_lazily(r"[^ ,'’\"“„«]")
_LEADS = frozenset("-–—*•>»|▶►→ ")
"""Marks before a label."""
_MARK = compile_lazily(r"[:：|>»→–—-]")
_LONGEST_LABEL = 40
_LEAST_WORDS, _MOST_WORDS = 3, 16
"""Minimum and maximum number of words of a headline."""


def find_links(sentence: str, starters: Collection[str], capital_nouns: bool) -> list[int]:
    """The positions at which to split a sentence: before a label inside it, and after a label's headline.

    `starters` are small words that begin sentences. A headline whose end is in doubt is not split off.
    """
    has_glued = "READ" in sentence or "LIRE" in sentence
    if not has_glued:
        word = sentence.partition(" ")[0].rstrip(":")
        if word not in _FIRST_WORDS and word.lower() not in _FIRST_WORDS and word[:1] not in _LEADS:
            return []  # the usual case
    places = []
    if has_glued:
        first = len(sentence) - len(sentence.lstrip(" -–—"))
        glued = (match.start() for match in GLUED_LINK.finditer(sentence, 1))
        places = [at for at in glued if sentence[at - 1] == " " and first < at - 1]
    for start, end in zip([0, *places], [*places, len(sentence)], strict=True):
        behind = _find_end_of_headline(sentence, start, end, starters, capital_nouns)
        if behind is not None:
            places.append(behind)
    return sorted(places)


def _find_end_of_headline(
    sentence: str, start: int, end: int, starters: Collection[str], capital_nouns: bool
) -> int | None:
    first = FIRST_WORD.match(sentence, start, end)
    if first is None or (first[1] not in _FIRST_WORDS and first[1].lower() not in _FIRST_WORDS):
        return None
    if not _MARK.search(sentence, first.end(), min(end, first.end() + _LONGEST_LABEL)):
        return None  # most sentences that begin with "A" or "You"
    label = LINK.match(sentence, start, end) or CAPITAL_LINK.match(sentence, start, end)
    if label is None:
        return None
    for match in _WORD.finditer(sentence, label.end(), end):
        headline = sentence[label.end() : match.start()].split()
        if len(headline) > _MOST_WORDS:
            return None
        if len(headline) >= _LEAST_WORDS and _begins_sentence(match, headline, starters, capital_nouns):
            return match.start()
    return None


def _begins_sentence(
    match: re.Match[str], headline: list[str], starters: Collection[str], capital_nouns: bool
) -> bool:
    quote, word = match.groups()
    last = headline[-1]
    if word != word.capitalize() or last.lower() in starters or not _HEADLINE_END.fullmatch(last):
        return False
    if quote:
        return True
    if word.lower() not in starters:
        return False
    following = _NEXT_LETTER.search(match.string, match.end())
    if capital_nouns or (following is not None and following[0].islower()):
        return True
    # Between capitals, it may be part of a name or of a headline in capitals: "Committee Against Torture".
    return not last[0].isupper() and any(len(word) > 3 and word.islower() for word in headline)
