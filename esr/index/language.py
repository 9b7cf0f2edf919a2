"""The languages of an index by language: their groups, and the conditions that documents are in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from esr.plans.plan import AllOf, AnyOf, Condition, HasLanguage, HasTerm, Not, any_of
from esr.text.analyzer_definitions import UNKNOWN_LANGUAGE, language_group
from esr.text.languages import standardise_language


def implies_language(condition: Condition) -> bool:
    """Whether a condition requires a term, and so holds only for sentences in the term's language."""
    match condition:
        case HasTerm():
            return True
        case AllOf(parts):
            return any(map(implies_language, parts))
        case AnyOf(parts):
            return all(map(implies_language, parts))
        case _:
            return False


_NO_LANGUAGE = "none"
"""A code that no document has."""


def distinctive_codes(languages: Iterable[str | None], group: str) -> list[str]:
    """Of the codes that documents declare, those that decide whether a document is in a group's language.

    Documents in a language declare one of these codes. Documents in the unknown language declare none of
    them.
    """
    is_unknown = group == UNKNOWN_LANGUAGE
    return [code for code in languages if code is not None and (language_group(code) == group) != is_unknown]


def language_condition(languages: Iterable[str | None], group: str) -> Condition:
    """The condition that a document is in the language of a group. `languages` are those of all documents."""
    codes = {code.lower() for code in distinctive_codes(languages, group)}
    # Sorted by code, since equal conditions are cached once.
    declared = any_of(map(HasLanguage, sorted(codes) or [_NO_LANGUAGE]))
    return Not(declared) if group == UNKNOWN_LANGUAGE else declared


def groups_of(languages: Mapping[str | None, int]) -> Collection[str]:
    """The language groups of the languages that documents declare, most documents first."""
    documents: dict[str, int] = {}
    for language, count in languages.items():
        group = language_group(language)
        documents[group] = documents.get(group, 0) + count
    return sorted(documents, key=lambda group: (-documents[group], group))


def find_group(language: str, groups: Collection[str]) -> str:
    """The group of a language that a query names: `eng` is `en`, unless an older index has `eng` itself."""
    group = language_group(language)
    return group if group in groups else language_group(standardise_language(language))
