"""Languages of documents: the names people write, the script of a text, and detection by py3langid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from esr.disk_errors import explain_temporary_file
from esr.stdlib import compile_lazily, import_lazily

if TYPE_CHECKING:
    import babel
    from babel import core
    from py3langid import langid
else:
    babel = import_lazily("babel")
    core = import_lazily("babel.core")
    langid = import_lazily("py3langid.langid")

LANGUAGE_NAMES = {
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

CODES_BY_NAME = {name: code for code, names in LANGUAGE_NAMES.items() for name in (code, *names.split())}
"""The code of a language by each of its codes and names."""
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
    names = (name.capitalize() for name in LANGUAGE_NAMES.get(code.lower(), "").split() if len(name) > 3)
    name = next(names, _OTHER_NAMES.get(code.lower()))
    return tag if name is None else name + (f" ({'-'.join(rest).upper()})" if rest else "")


def find_language(language: str | None) -> str | None:
    """The code of a language's rules: "de" for "de-AT", "deu" and "German". None without rules."""
    if language is None:
        return None
    return CODES_BY_NAME.get(_REGION.split(language.strip().lower(), maxsplit=1)[0])


@cache
def standardise_language(tag: str) -> str:
    """The tag of a language as documents have it: "en" for "eng" and "English", "pt-BR" for "pt_BR".

    CLDR has the codes of three letters and the English names. Other tags stay as they are.
    """
    tag = tag.replace("_", "-")
    language, hyphen, rest = tag.partition("-")
    code = None if len(language) < 3 else _short_codes().get(language.lower())
    return tag if code is None else f"{code}{hyphen}{rest}"


@cache
def _short_codes() -> dict[str, str]:
    """The code of two letters by each code of three letters and English name."""
    names = {name.lower(): code for code, name in babel.Locale("en").languages.items()}
    of_three = {long: short for long, short in core.get_global("language_aliases").items() if len(long) == 3}
    return {name: code for name, code in {**names, **of_three}.items() if len(code) == 2}


JOINERS = "\u200c\u200d"
"""Invisible signs that belong to the spelling of words, as in Persian, and of emojis."""


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


# Below these, a detected language is not reliable enough to be used.
MIN_LETTERS = 40
_MIN_PROBABILITY = 0.9
MAX_CHARACTERS = 5_000


def detect_language(texts: Iterable[str]) -> str | None:
    """The language of texts as an ISO 639-1 code; None for too few letters or an uncertain language."""
    text = abridge(texts)
    if sum(map(str.isalpha, text)) < MIN_LETTERS:
        return None
    language, probability = _read_model().classify(text.encode(errors="ignore").decode())
    return str(language) if probability >= _MIN_PROBABILITY else None


def abridge(texts: Iterable[str]) -> str:
    """The part of the texts that detection uses, as one line."""
    return " ".join(" ".join(_take_enough(texts)).split())[:MAX_CHARACTERS]


@cache
def _read_model() -> langid.LanguageIdentifier:
    """The model. Reading it takes half a second, so it is not read for documents with languages."""
    with explain_temporary_file("the model that detects languages"):
        return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


def _take_enough(texts: Iterable[str]) -> Iterator[str]:
    """Yield the first texts, as many as detection uses."""
    length = 0
    for text in texts:
        yield text
        length += len(text)
        if length > MAX_CHARACTERS:
            return
