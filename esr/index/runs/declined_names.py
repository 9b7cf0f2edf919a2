"""Declined forms of names across the documents of a language: *Путина* and *Путину* are *Путин*.

`name_tables.json` has the endings of languages that decline names: by the ending of the usual form, those of
its other forms. A form is joined to a name that the documents of the language have, or, without one, to
another form of the same name. The words of a name decline together: *Donalda Tuska* is *Donald Tusk*.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product

from esr.index.names import fold_accents, majority_type, read_tables
from esr.index.runs.name_variants import TypeCounts, count_documents
from esr.text.sentence_enrichment import PERSON

_SHORTEST_STEM, _SHORTEST = 2, 3
"""Minimum lengths of what forms share, and of the usual form."""
_MOST_WORDS = 4
_RARE = 0.5
"""The least share of the documents with a single word that a person's name needs to take it as its form."""


def declining_languages() -> Iterable[str]:
    """The codes of the languages that have a table of endings."""
    codes: Mapping[str, object] = read_tables()["declensions"]
    return codes


def find_declined(language: str, types: TypeCounts) -> dict[str, list[str]]:
    """The declined forms of names among the documents of a language, by the name that they are joined to.

    `types` counts the documents of that language.
    """
    bases = {key: {*_bases(key, language)} for key in types}
    known = {key: {base for base in of_key if _is_like(types, base, key)} for key, of_key in bases.items()}
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for key, of_key in known.items():
        for base in of_key:
            forms[base].add(key)
    declined: defaultdict[str, list[str]] = defaultdict(list)
    alone: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    joined: set[str] = set()
    for key in types:
        # A form that has forms of its own is a name itself: *Путина* beside *Путиной*.
        fitting = [base for base in known[key] if all(base in known[form] for form in forms[key])]
        base = max(fitting, key=lambda base: (count_documents(types, base), base), default="")
        if fitting and base not in joined:
            if _is_frequent_enough(types, base, key):
                declined[base].append(key)
                joined.add(key)
        elif not known[key]:
            for base in bases[key]:
                alone[base, majority_type(types[key])].append(key)
    for keys in sorted(alone.values(), key=lambda keys: (-len(keys), keys)):
        main, *others = sorted(
            {*keys} - joined - {*declined}, key=lambda key: (-count_documents(types, key), key)
        ) or [""]
        if others:
            declined[main] += others
            joined |= {main, *others}
    return {base: keys for base, keys in declined.items() if keys}


def _bases(key: str, language: str) -> Iterator[str]:
    """Yield the possible usual forms of a name, if it is declined."""
    words = key.split()
    if len(words) <= _MOST_WORDS:
        for chosen in product(*((word, *_bases_of_word(word, language)) for word in words)):
            if (base := " ".join(chosen)) != key:
                yield base


def _bases_of_word(word: str, language: str) -> Iterator[str]:
    endings = _endings(language)
    for length in range(1, len(word) - _SHORTEST_STEM + 1):
        for usual in endings.get(word[-length:], ()):
            if len(base := word[:-length] + usual) >= _SHORTEST:
                yield base


@cache
def _endings(language: str) -> Mapping[str, tuple[str, ...]]:
    """The endings of usual forms, by the ending of another form. Keys of names have no accents."""
    usual: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for base, endings in read_tables()["declensions"][language].items():
        for ending in fold_accents(endings).split():
            usual[ending][fold_accents(base)] = None
    return {ending: tuple(bases) for ending, bases in usual.items()}


def _is_like(types: TypeCounts, base: str, key: str) -> bool:
    return base in types and majority_type(types[base]) == majority_type(types[key])


def _is_frequent_enough(types: TypeCounts, base: str, key: str) -> bool:
    """Whether a person may have a form of one word, which is often the name of somebody else: *Иванова*."""
    if " " in key or majority_type(types[key]) != PERSON:
        return True
    return count_documents(types, base) >= _RARE * count_documents(types, key)
