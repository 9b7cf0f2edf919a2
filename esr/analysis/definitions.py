"""The definitions of the analyzers: the files of `index_templates/analyzers/`.

A file describes one analyzer: what it does, the languages that it is made for, its version, which an index
records, and its parts as index settings have them. `shared.json` has the parts that several use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from esr import resources
from esr.errors import unknown

FOLDER = "analyzers"
SHARED = "shared"
WORDS = "words"
"""The analyzer of words as they are written, which every index has beside its own, from a component."""
DEFAULT = "english-stem"
MULTILINGUAL = "multilingual"
_PARTS = ("char_filter", "tokenizer", "filter")


class Definition(Struct, frozen=True):
    """One analyzer. `languages` are codes of ISO 639-1; `example` is a text that shows what it does."""

    name: str
    description: str
    languages: Sequence[str]
    version: int
    example: str
    settings: Mapping[str, Mapping[str, Any]]
    """What it needs in `index.analysis` of an index: its parts by kind and name, and the analyzer itself."""

    def chain(self, kind: str) -> list[Mapping[str, Any]]:
        """The settings of its parts of a kind, char_filter or filter, in order."""
        return [self._part(kind, name) for name in self._analyzer.get(kind, ())]

    @property
    def tokenizer(self) -> Mapping[str, Any]:
        return self._part("tokenizer", self._analyzer["tokenizer"])

    @property
    def _analyzer(self) -> Mapping[str, Any]:
        analyzer: Mapping[str, Any] = self.settings["analyzer"][self.name]
        return analyzer

    def _part(self, kind: str, name: str) -> Mapping[str, Any]:
        """A part of the file, or one that Elasticsearch knows by its type alone."""
        part: Mapping[str, Any] = self.settings[kind].get(name, {"type": name})
        return part


@cache
def all_definitions() -> Mapping[str, Definition]:
    """All definitions by name: first those of the default language and of no language, then by name."""
    first = (DEFAULT, "english", "plain", MULTILINGUAL)
    return {
        name: _read(name)
        for name in sorted(
            _names(), key=lambda name: (first.index(name) if name in first else len(first), name)
        )
    }


@cache
def _names() -> frozenset[str]:
    return frozenset(resources.list_names(FOLDER, ".json")) - {SHARED}


def get(name: str) -> Definition:
    """The definition of that name. Raises UsageError with the nearest name."""
    if name == WORDS:
        return _words()
    if name not in _names():
        raise unknown("analyzer", name, all_definitions())
    return _read(name)


def for_language(code: str) -> Definition:
    """The definition made for a language; `multilingual` where there is none."""
    made = (definition for definition in all_definitions().values() if code in definition.languages)
    return next(made, all_definitions()[MULTILINGUAL])


@cache
def _words() -> Definition:
    component = resources.load_json("components/esr-words.json")
    description = component["_meta"]["description"]
    return Definition(
        WORDS, description, (), 1, "“White House”, l’été", component["template"]["settings"]["analysis"]
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
        name, data["description"], tuple(data["languages"]), data["version"], data["example"], settings
    )
