"""Which model of spaCy is used for which language: those that are installed, or that a user names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from esr.enrichment.languages import LANGUAGES, language_code
from esr.errors import EsrError, UsageError
from esr.extras import install_command, missing

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
    """By language, the model to use: the requested one, or else the first one of LANGUAGES that is installed.

    Loads neither spaCy nor a model. Raises UsageError if spaCy, a requested model or any model is missing.
    """
    if find_spec("spacy") is None:
        raise missing("enrichment", "spacy")
    models: dict[str, InstalledModel] = {}
    for name in requested:
        model = _model_of(_read_meta(name) or _not_installed(name), name)
        other = models.setdefault(model.language, model)
        if other != model:
            raise UsageError(f"{other.name} and {name} are both for {model.language!r}: choose one of them")
    for code, language in LANGUAGES.items():
        for name in language.models if code not in models else ():
            meta = _read_meta(name)
            if meta is not None and _is_for_this_spacy(meta):
                models[code] = _model_of(meta, name)
                break
    if not models:
        raise UsageError(f"no model of spaCy is installed: {install_command('enrich')}")
    return models


def spacy_version() -> str:
    """The version of spaCy. Does not load it."""
    try:
        return version("spacy")
    except PackageNotFoundError:
        raise EsrError("the package spacy has no version: install it again with pip") from None


def describe_missing_models(documents: Mapping[str, int], models: Mapping[str, object]) -> list[str]:
    """A line about the documents in languages without a model, with what would install one.

    `documents` are numbers of documents by the code of their language, empty where it is unknown.
    """
    counts = sorted(((n, code) for code, n in documents.items() if code not in models), reverse=True)
    if not counts:
        return []
    parts = [_describe_language(n, code) for n, code in counts[:_MAX_NOTED]]
    rest = counts[_MAX_NOTED:]
    if rest:
        parts.append(f"{sum(n for n, _ in rest):,} in {len(rest)} other languages")
    total = sum(n for n, _ in counts)
    return [f"{total:,} documents were enriched without a model of their language: {', '.join(parts)}"]


def _describe_language(documents: int, code: str) -> str:
    if not code:
        return f"{documents:,} of unknown language"
    return f"{code} {documents:,} ({LANGUAGES[code].command if code in LANGUAGES else 'spaCy has none'})"


def _read_meta(name: str) -> dict[str, Any] | None:
    """What an installed package says about its model; None if it is not installed or has no model."""
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
    """A model of another spaCy may load, and then err."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # spaCy brings it

    try:
        return SpecifierSet(meta.get("spacy_version", "")).contains(spacy_version(), prereleases=True)
    except InvalidSpecifier:
        return False
