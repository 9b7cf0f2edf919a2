"""Analyzers as data: the files of `index_templates/analyzers/`, and the choice by the languages of documents.

These files are the only definitions; `shared.json` has common parts. The terms of an index by language begin
with a mark, as in `de|regier`, so that terms of two languages are never equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from msgspec import Struct

from esr import resources
from esr.errors import unknown
from esr.wording import list_examples

FOLDER = "analyzers"
SHARED = "shared"
WORDS_ANALYZER = "words"
"""The analyzer of written words. Every index has it in addition to its own, by a component template."""
DEFAULT_ANALYZER = "english-stem"
MULTILINGUAL_ANALYZER = "multilingual"
BY_LANGUAGE = "by-language"
"""The name for the analyzers of each document's language: `by-language:de` for German."""
UNKNOWN_LANGUAGE = "und"
"""The code of documents whose language is not known."""
LANGUAGE_MARK = "|"
"""Separates the code of a language from a term. No term contains it, since it separates words."""
LANGUAGE_SEPARATOR = ":"
"""Separates the name of the analyzers by language from the code of a language."""
_PARTS = ("char_filter", "tokenizer", "filter")


class Definition(Struct, frozen=True):
    """An analyzer as data. `languages` are ISO 639-1 codes; `example` is a text that shows what it does.

    `accents` are letters that people type without their accents, and that the analyzer may tell apart.
    """

    name: str
    description: str
    languages: Sequence[str]
    version: int
    example: str
    settings: Mapping[str, Mapping[str, Any]]
    """Its part of the settings `index.analysis`: components by kind and name, and the analyzer itself."""
    accents: str = ""

    def chain(self, kind: str) -> list[Mapping[str, Any]]:
        """The settings of its components of one kind, char_filter or filter, in order."""
        return [self._part(kind, name) for name in self._analyzer.get(kind, ())]

    @property
    def tokenizer(self) -> Mapping[str, Any]:
        return self._part("tokenizer", self._analyzer["tokenizer"])

    @property
    def _analyzer(self) -> Mapping[str, Any]:
        analyzer: Mapping[str, Any] = self.settings["analyzer"][self.name]
        return analyzer

    def _part(self, kind: str, name: str) -> Mapping[str, Any]:
        """A component from the file, or one built into Elasticsearch."""
        part: Mapping[str, Any] = self.settings[kind].get(name, {"type": name})
        return part


@cache
def all_definitions() -> Mapping[str, Definition]:
    """All definitions by name. Those for the default language and for all languages come first."""
    first = (DEFAULT_ANALYZER, "english", "plain", MULTILINGUAL_ANALYZER)
    return {
        name: _read(name)
        for name in sorted(
            _names(), key=lambda name: (first.index(name) if name in first else len(first), name)
        )
    }


@cache
def _names() -> frozenset[str]:
    return frozenset(resources.list_names(FOLDER, ".json")) - {SHARED}


def get_definition(name: str) -> Definition:
    """Return the definition of that name. Raises UsageError with the nearest name."""
    if name == WORDS_ANALYZER:
        return _words()
    if name == BY_LANGUAGE:
        return _by_language()
    if name.startswith(BY_LANGUAGE + LANGUAGE_SEPARATOR):
        return analyzer_for_language(language_group(name.partition(LANGUAGE_SEPARATOR)[2]))
    if name not in _names():
        raise unknown("analyzer", name, [*all_definitions(), BY_LANGUAGE])
    return _read(name)


def analyzer_for_language(code: str) -> Definition:
    """The definition for a language, or else `multilingual`."""
    matching = (definition for definition in all_definitions().values() if code in definition.languages)
    return next(matching, all_definitions()[MULTILINGUAL_ANALYZER])


@lru_cache(1024)
def language_group(language: str | None) -> str:
    """The code of the language whose terms a document in this language has in an index by language.

    Languages that share an analyzer, such as nb and nn, have the same terms.
    """
    code = primary_language(language)
    if not (code.isascii() and code.isalpha()):
        return UNKNOWN_LANGUAGE
    return next(iter(analyzer_for_language(code).languages), code)


def is_marked(term: str) -> bool:
    """Whether a term is of an index by language."""
    return LANGUAGE_MARK in term


def language_of_term(term: str) -> str:
    """The language that marks a term of an index by language."""
    return term.partition(LANGUAGE_MARK)[0]


@cache
def _by_language() -> Definition:
    """The definition for all languages. Its settings are for fields whose terms esr does not count."""
    multilingual = all_definitions()[MULTILINGUAL_ANALYZER]
    analyzers = {BY_LANGUAGE: multilingual.settings["analyzer"][MULTILINGUAL_ANALYZER]}
    return Definition(
        BY_LANGUAGE,
        "the analyzer of each document's language, with terms separated by language",
        (),
        sum(definition.version for definition in all_definitions().values()),
        multilingual.example,
        {**multilingual.settings, "analyzer": analyzers},
    )


@cache
def _words() -> Definition:
    component = resources.load_json("components/esr-words.json")
    description = component["_meta"]["description"]
    return Definition(
        WORDS_ANALYZER,
        description,
        (),
        1,
        "“White House”, l’été",
        component["template"]["settings"]["analysis"],
    )


@cache
def _read(name: str) -> Definition:
    shared = resources.load_json(f"{FOLDER}/{SHARED}.json")
    data = resources.load_json(f"{FOLDER}/{name}.json")
    analyzer = data["analyzer"]
    settings: dict[str, dict[str, Any]] = {kind: {} for kind in _PARTS}
    for kind in _PARTS:
        used = analyzer.get(kind, ())
        for part in [used] if isinstance(used, str) else used:
            of_file = data.get(kind, {}).get(part) or shared[kind].get(part)
            if of_file is not None:
                settings[kind][part] = of_file
    settings["analyzer"] = {name: {"type": "custom", **analyzer}}
    return Definition(
        name,
        data["description"],
        tuple(data["languages"]),
        data["version"],
        data["example"],
        settings,
        data.get("accents", ""),
    )


ONE_LANGUAGE = 0.9
"""If a greater share of documents is in one language, the analyzer of that language is chosen."""
_MAX_TOLD = 3


class Choice(NamedTuple):
    """An analyzer, and why it was chosen."""

    analyzer: str
    reason: str


def choose_analyzer(
    languages: Iterable[str | None], sample: str = "first", several: str = BY_LANGUAGE
) -> Choice:
    """Choose an analyzer for documents in these languages: codes, or None if unknown.

    `sample` describes in the reason which documents these are. `several` is the analyzer for documents in
    several languages.
    """
    counts = Counter(map(primary_language, languages))
    unknown = counts.pop("", 0)
    known = counts.total()
    total = known + unknown
    if not known:
        mixture = (
            f"no language of the {sample} {total:,} documents"
            if total != 1
            else "no language of the document"
        )
        return Choice(DEFAULT_ANALYZER, f"{mixture} is known")
    code, most = counts.most_common(1)[0]
    if most >= ONE_LANGUAGE * known:
        mixture = f"{most:,} of the {sample} {total:,} documents are" if total != 1 else "the document is"
        return Choice(analyzer_for_language(code).name, f"{mixture} in {code:.60}")
    parts = list_examples([f"{code:.60} {n:,}" for code, n in counts.most_common()], _MAX_TOLD)
    return Choice(
        several,
        f"the {sample} {total:,} documents are in several languages: {parts}",
    )


def primary_language(language: str | None) -> str:
    """The language of a tag such as en-GB, in lower case; empty if unknown."""
    return (language or "").strip().lower().replace("_", "-").split("-", 1)[0]


def find_misfits(languages: Mapping[str, int], definition: Definition) -> Mapping[str, int]:
    """The languages that an analyzer does not fit, with their numbers of documents.

    An analyzer without languages, such as `plain` and `multilingual`, fits all.
    """
    if not definition.languages:
        return {}
    return {code: n for code, n in languages.items() if code and code not in definition.languages}
