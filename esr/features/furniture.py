"""The feature `furniture`: the certainty that a sentence is part of the page instead of the text.

Links to other articles, labels, credits, bylines, contact lines, notices of consent and subscription, and
bars of buttons are furniture. They are recognised by their form and by the phrases that sites use, in any
language. A false positive hides a sentence from readers, so doubtful cases are not furniture: a form counts
only if the document's sentences have another form, and a phrase only in its usual form.

A load stores the feature only for sentences that are furniture.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from esr.features.feature import Feature, FeatureInput, Values, register
from esr.stdlib import compile_lazily
from esr.text import labels

# Phrases by kind of furniture; those of links are in `labels`.
_CREDITS = """
photo|photos|photograph|photographs|picture|pictures|image|images|photo credits?|image credits?|credit
credits|source|sources|author|authors|foto|fotos|фото|bild|bilder|quelle|quellen|autor|autorin|redaktion
crédit|crédits|crédits? photo|auteur|auteurs|fuente|fuentes|autores|créditos|fonti|fonte|autore|foto di
источник|источники|автор|bron|bronnen|kilde|källa|źródło|kaynak|fotoğraf|المصدر|تصوير|स्रोत|फोटो|来源|图片
資料來源|出典|写真|출처|사진
"""
_CALLS = r"""
sign up\b.*\b(?:newsletters?|inbox|alerts?|updates)|register\b.*\b(?:newsletters?|inbox|alerts?|updates)
like us on\b|subscribe\b.*\b(?:newsletters?|news|inbox|channel|email)|follow us\b|follow @
follow .{1,60} on (?:twitter|facebook|instagram)\b|join us on (?:twitter|facebook|instagram)
join the conversation\b|click here\b|share this (?:slide|article|story|page|post)\b
download the .{0,40}\bapp\b|download our .{0,40}\bapp\b|abonnieren sie|melden sie sich\b.*\bnewsletter
klicken sie hier|folgen sie uns\b|folgen sie .{1,60} (?:auf|bei) (?:twitter|facebook|instagram)\b
jetzt .{0,40}\b(?:abonnieren|herunterladen)\b|abonnez-vous|inscrivez-vous\b.*\b(?:newsletter|lettre)
suivez-nous|suivez .{1,60} sur (?:twitter|facebook|instagram)\b|cliquez ici|partagez cet article
suscríbete|suscríbase|síguenos|síganos|haz clic|haga clic|iscriviti alla|seguici|clicca qui
assine (?:a|o|nossa)|siga-nos|clique aqui|подписывайтесь на|подпишитесь на|следите за нами|нажмите
volg ons|meld je aan|abonneer je|zapisz się|obserwuj nas|polub nas|följ oss|tilaa uutiskirje|abone ol
bizi takip|اشترك في|تابعونا|关注我们|订阅我们
"""
_RIGHTS = r"""
copyright (?:©|\(c\)|\d{4})|all rights reserved|alle rechte vorbehalten|tous droits réservés
todos los derechos reservados|todos os direitos reservados|tutti i diritti riservati|все права защищены
版权所有|無断転載
"""
_NETWORKS = r"""
send|share|print|e-?mail|facebook|twitter|google ?\+|whatsapp|tumblr|linkedin|stumble|digg|reddit|newsvine
pinterest|instagram|telegram|xing|pocket|flipboard|viber|messenger|permalink|вконтакте|одноклассники
teilen|partager|compartir
"""


_FIRST_WORDS = labels.first_words(labels.LINKS, labels.CAPITAL_LINKS, _CREDITS, _CALLS, _RIGHTS)
_UNSPACED = compile_lazily("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

_LINK_ALONE = compile_lazily(rf"{labels.LEAD}(?:{labels.match_any(labels.LINKS)})[\W_]*", re.IGNORECASE)
_CREDIT = compile_lazily(rf"{labels.LEAD}(?:{labels.match_any(_CREDITS)})\s*[:：]", re.IGNORECASE)
_CALL = compile_lazily(rf"{labels.LEAD}(?:{labels.match_any(_CALLS)})", re.IGNORECASE)
_RIGHT = compile_lazily(rf"{labels.LEAD}(?:©|\(c\) ?\d{{4}}|{labels.match_any(_RIGHTS)})", re.IGNORECASE)
_BAR = compile_lazily(rf"(?:\b(?:{labels.match_any(_NETWORKS)})[\s|,·•]*){{4,}}", re.IGNORECASE)
_COOKIE = compile_lazily(
    r"\b(?:browser|javascript|websites?|sites?|polic(?:y|ies)|privacy|consent|accept|agree|webseite|datenschutz"
    r"|akzeptieren|nutzung|confidentialité|acceptez|navigation|navegación|aceptar?|política|navigazione|accetta)\b",
    re.IGNORECASE,
)
_READER = compile_lazily(
    r"\b(?:we|our|us|you|your|wir|unsere[rnms]?|sie|ihre[rnms]?|nous|notre|nos|vous|votre|nuestr[oa]s?|usted"
    r"|utilizamos|usamos|noi|nostr[oia]|tuoi)\b",
    re.IGNORECASE,
)
_BYLINE = compile_lazily(
    r"(?:By|By:|Von|Par|Por|De|Di|Da|Door|Av|Af|Autor|Автор)\s+[^\W\d_a-z]\w+\s+[^\W\d_a-z]\w+"
)
_CONTACT = compile_lazily(r"\S+@\w[\w-]*(?:\.\w+)+|(?:https?://|www\.|pic\.twitter\.com/)\S+|(?<!\w)@\w+")
_NETWORK_NAME = compile_lazily(r"twitter|facebook|instagram", re.IGNORECASE)
_LETTER = compile_lazily(r"[^\W\d_]")
_WORD = compile_lazily(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")

_CLOSERS = " \t\n-\"'”“’‘«»›‹)]}）」』】*_"
_ENDS = frozenset(".?!…–—。！？｡।॥؟۔։።‥;:,")
"""Characters that end sentences or parts of them, but not headings."""
_QUOTES = ('"', "“", "„", "«", "»", "‘", "「", "『", "'")
_CAPITAL_LETTERS = 10
"""Minimum letters of a line of capitals that is furniture. A shorter one may be an abbreviation."""
_MOST_WORDS = 12
"""Maximum words of a heading or a byline."""
_FEW_WORDS = 3
"""Maximum words of a line that is furniture if it does not end like a sentence."""
_FEW_CHARACTERS = 8
"""The same in characters, if words are not separated by spaces."""
_SHORT = 20
"""Maximum characters of a line without letters that is furniture."""
_CREDIT_WORDS, _CONTACT_WORDS, _LINK_WORDS = 9, 7, 2
"""Maximum words of a credit, next to a mail address or a handle, and next to a web address."""
_LEAST_SENTENCES, _LEAST_SHARE = 4, 0.5
"""Minimum sentences, and minimum share of them that end with a mark, to expect this of all sentences."""

CERTAIN, LIKELY, PROBABLE = 1.0, 0.875, 0.75
"""The values: for a phrase alone; for a phrase with its form; for a form unlike the document's sentences.
They are exact in 16-bit floats."""


def find_furniture(texts: Sequence[str]) -> list[float]:
    """The feature of each sentence of a document, from 0 to 1."""
    unended = _find_unended(texts)
    return [
        max(_by_phrase(text), _by_form(text) if is_unended else 0.0)
        for text, is_unended in zip(texts, unended, strict=True)
    ]


def find_links_and_headings(texts: Sequence[str]) -> tuple[list[int], list[int]]:
    """The numbers of the sentences of a document that begin with the label of a link, and of its headings.

    Headings are known by their form. A link's headline may go on with a sentence of the article.
    """
    links = [number for number, text in enumerate(texts) if _is_link(text)]
    unended = _find_unended(texts)
    return links, [number for number, text in enumerate(texts) if unended[number] and _by_form(text)]


def _find_unended(texts: Sequence[str]) -> list[bool]:
    """Whether each sentence has no mark at its end, in a document whose sentences have one."""
    ended = [not (bare := text.rstrip(_CLOSERS)) or bare[-1] in _ENDS for text in texts]
    has_marks = len(texts) >= _LEAST_SENTENCES and sum(ended) >= _LEAST_SHARE * len(texts)
    return [has_marks and not is_ended for is_ended in ended]


def _is_link(text: str) -> bool:
    first = labels.FIRST_WORD.match(text)
    if first is None or not (first[1] in _FIRST_WORDS or first[1].lower() in _FIRST_WORDS):
        return first is not None and first[1] >= "\u0e00" and _has_link_label(text)
    return _has_link_label(text)


def _has_link_label(text: str) -> bool:
    return bool(labels.LINK.match(text) or labels.CAPITAL_LINK.match(text))


def _by_phrase(text: str) -> float:
    """The value by the phrases of a sentence, independent of its document."""
    first = labels.FIRST_WORD.match(text)
    if first is None or (len(text) < _SHORT and not _LETTER.search(text)):
        return CERTAIN if text.strip() else 0.0
    word = first[1]
    if word in _FIRST_WORDS or word.lower() in _FIRST_WORDS or word >= "\u0e00" or "©" in text:
        value = _by_first_words(text)
        if value:
            return value
    if ("READ" in text or "LIRE" in text) and labels.GLUED_LINK.search(text):
        return PROBABLE
    if ("@" in text or "http" in text or "www." in text) and _is_contact(text):
        return LIKELY
    if "ookie" in text and _COOKIE.search(text) and _READER.search(text):
        return LIKELY
    return LIKELY if ("acebook" in text or "witter" in text) and _is_bar(text) else 0.0


def _by_first_words(text: str) -> float:
    """The value by the phrase at the beginning of a sentence."""
    if _LINK_ALONE.fullmatch(text):
        return CERTAIN
    if _has_link_label(text) or _CALL.match(text):
        return LIKELY
    if _CREDIT.match(text):
        return LIKELY if _count_words(text) <= _CREDIT_WORDS else 0.0
    return LIKELY if _RIGHT.match(text) and _count_words(text) <= 2 * _MOST_WORDS else 0.0


def _is_contact(text: str) -> bool:
    """Whether a sentence is an address with a few words. A handle needs the name of a network."""
    addresses = _CONTACT.findall(text)
    most = _LINK_WORDS
    if any("@" in address for address in addresses):
        is_named = _NETWORK_NAME.search(text) or not all(address.startswith("@") for address in addresses)
        most = _CONTACT_WORDS if is_named else -1
    return bool(addresses) and _count_words(_CONTACT.sub(" ", text)) <= most


def _is_bar(text: str) -> bool:
    """Whether names of buttons make up at least half of a sentence."""
    return any(2 * len(match[0]) >= len(text) for match in _BAR.finditer(text))


def _by_form(text: str) -> float:
    """The value by the form of a sentence that does not end like the sentences of its document."""
    words = _WORD.findall(text)
    if text.lstrip().startswith(_QUOTES):  # direct speech may be short
        return 0.0
    if _UNSPACED.search(text):
        return PROBABLE if len(text.strip()) <= _FEW_CHARACTERS else 0.0
    if len(words) <= _FEW_WORDS or (len(words) <= _MOST_WORDS and _BYLINE.match(text)):
        return PROBABLE
    letters = sum(map(len, words))
    if text.isupper() and letters >= _CAPITAL_LETTERS:
        return PROBABLE
    long = [word for word in words if len(word) > 3]
    is_title = bool(long) and all(word[0].isupper() for word in long)
    return PROBABLE if is_title and len(words) <= _MOST_WORDS else 0.0


def _count_words(text: str) -> int:
    return len(_WORD.findall(text))


MIN_REPEATS, MIN_REPEAT_SHARE = 10, 0.005
"""Minimum number, and minimum share, of the documents of a source that repeat a sentence of furniture."""
MAX_REPEATED = 0.5
"""Share of repeated sentences from which a document counts as a version of a story, and its repeats do not
count."""


class FurnitureFinder:
    """Finds the furniture of many documents, and the sentences that many documents of their source repeat."""

    def __init__(self) -> None:
        self._values = array("d")
        self._keys = array("q")
        """A hash of each sentence and its source."""
        self._sources = array("q")
        self._sizes = array("q")
        """For each document, a hash of its source and its number of sentences."""

    def add(self, source: str | None, texts: Sequence[str]) -> None:
        """Add the next document."""
        self._values.extend(find_furniture(texts))
        self._keys.extend([hash((source, text)) for text in texts])
        self._sources.append(hash(source))
        self._sizes.append(len(texts))

    def values(self) -> npt.NDArray[np.float64]:
        """The feature of the n sentences of all documents, of shape (n,); 0 if not furniture."""
        values, sizes = np.array(self._values), np.array(self._sizes)
        if len(sizes) < MIN_REPEATS or not len(values):
            return values
        _, key, counts = np.unique(self._keys, return_inverse=True, return_counts=True)
        document = np.repeat(np.arange(len(sizes)), sizes)
        repeated = np.bincount(document[counts[key] >= MIN_REPEATS], minlength=len(sizes))
        is_version = repeated >= MAX_REPEATED * np.maximum(sizes, 1)
        where = np.flatnonzero((counts[key] >= MIN_REPEATS) & ~is_version[document])
        pairs = np.unique(np.stack([key[where], document[where]]), axis=1)
        documents = np.bincount(pairs[0], minlength=len(counts))
        of_source = Counter(self._sources)
        least = np.array([of_source[self._sources[n]] for n in document[where].tolist()]) * MIN_REPEAT_SHARE
        where = where[documents[key[where]] >= np.maximum(least, MIN_REPEATS)]
        values[where] = np.maximum(values[where], PROBABLE)
        return values


def compute(inputs: FeatureInput) -> Values:
    """The feature of each sentence; None if it is not furniture."""
    values = find_furniture([sentence.text for sentence in inputs.document.sentences])
    return [value or None for value in values]


NAME = "furniture"
register(
    Feature(
        NAME,
        "0 to 1: how surely the sentence is a link, a label, a credit or a notice of the page",
        "esr; templates of pages, Bar-Yossef & Rajagopalan 2002; Kohlschütter, Fankhauser & Nejdl 2010",
        compute,
    )
)
