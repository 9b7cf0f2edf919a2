"""Variants of names across a collection: other spellings, other scripts, short names of countries.

*Kim Jong-un* and *Kim Jong Un* differ by a hyphen. *Владимир Путин* and *فلاديمير بوتين* are
*Vladimir Putin*: in Latin letters, the same consonants are in the same order. Arabic and Hebrew write few
vowels, and scripts write sounds that they lack with others, so vowels are left out and similar consonants
count as one. So only persons with two names or more are joined, and only if they have five consonants.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from esr.index.names import majority_type, read_tables
from esr.stdlib import import_lazily
from esr.text.sentence_enrichment import PERSON

if TYPE_CHECKING:
    import anyascii
else:
    anyascii = import_lazily("anyascii")

TypeCounts = Mapping[str, Mapping[str, int]]
"""The number of documents with each type, by key."""
_CONSONANTS = 5
"""The least number of consonants of a name that is joined across scripts."""
_SIMILAR = 0.65
"""The least similarity of transliterations of scripts with vowels."""
_ABJAD = re.compile("[\u0590-\u05ff\u0600-\u06ff\u0750-\u077f]")
_DIGRAPHS = (
    ("shch", "s"), ("sch", "s"), ("tch", "c"), ("ch", "c"), ("sh", "s"), ("zh", "j"), ("kh", "h"),
    ("gh", "g"), ("ph", "f"), ("th", "t"), ("ts", "s"), ("tz", "s"), ("cz", "c"), ("ck", "k"), ("x", "ks"),
)  # fmt: skip
_CLASSES, _VOWELS = str.maketrans("pvwzqjc", "bffskgk"), str.maketrans("", "", "aeiouyh")
"""Consonants that scripts write with others. Vowels and h are left out."""


def find_variants(types: TypeCounts) -> dict[str, list[str]]:
    """The variants of names, by the name that they are joined to: the one of most documents."""
    variants: dict[str, list[str]] = {}
    used: set[str] = set()
    for main, others in (*_countries(types), *_hyphens(types), *_scripts(types)):
        new = [key for key in others if key not in used and key not in variants]
        if main not in used and new:
            variants.setdefault(main, []).extend(new)
            used.update(new)
    return variants


def add_variants(
    joined: Mapping[str, Sequence[str]], variants: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Add variants to the short forms of names. Those of a variant or a short form become its name's.

    A name that is a variant of another has none of its own in the result, whatever the order of `variants`.
    """
    merged = {full: list(short_forms) for full, short_forms in joined.items()}
    full_of = {key: full for full, short_forms in joined.items() for key in short_forms}
    for variant, others in variants.items():
        main = full_of.get(variant, variant)
        for other in others:
            if other not in full_of and other != main:
                added = (other, *merged.pop(other, ()))
                merged.setdefault(main, []).extend(added)
                full_of.update(dict.fromkeys(added, main))
    return merged


def count_documents(types: TypeCounts, key: str) -> int:
    """The number of documents with a name, those of all types together."""
    return sum(types[key].values())


def _by_documents(types: TypeCounts, keys: Sequence[str]) -> list[str]:
    return sorted(keys, key=lambda key: (-count_documents(types, key), key))


def _countries(types: TypeCounts) -> Iterator[tuple[str, list[str]]]:
    for full, short in read_tables()["countries"].items():
        forms = [short] if short in types else []
        forms += [form for form in (*short.split(), " ".join(short.split()[1:])) if form in types]
        same = [form for form in dict.fromkeys(forms) if form != full and _is_like(types, form, full)]
        if full in types and same:
            yield full, same


def _is_like(types: TypeCounts, key: str, other: str) -> bool:
    return majority_type(types[key]) == majority_type(types.get(other, {}))


def _hyphens(types: TypeCounts) -> Iterator[tuple[str, list[str]]]:
    spelled: defaultdict[str, list[str]] = defaultdict(list)
    for key in types:
        if " " in key:
            spelled[key.replace("-", " ")].append(key)
    for keys in spelled.values():
        main, *others = _by_documents(types, keys)
        if same := [key for key in others if _is_like(types, key, main)]:
            yield main, same


def _scripts(types: TypeCounts) -> Iterator[tuple[str, list[str]]]:
    foreign = [key for key in types if not key.isascii() and " " in key and not _is_latin(key)]
    if not foreign or find_spec("anyascii") is None:  # of the extra `enrich`
        return
    by_sound: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    wanted = {sounds for key in foreign if (sounds := _sounds(key))}
    for key, counts in types.items():
        if " " in key and majority_type(counts) == PERSON and (sounds := _sounds(key)) in wanted:
            by_sound[sounds].append(key)
    for keys in by_sound.values():
        latin = _by_documents(types, [key for key in keys if _is_latin(key)])
        others = [key for key in keys if not _is_latin(key)]
        main = latin[0] if latin else _by_documents(types, others)[0]
        # Several names in Latin letters are spellings of one, or nothing is certain.
        if all(_is_similar(main, key) for key in latin):
            yield main, [key for key in others if key != main and _is_similar(main, key)]


def _is_latin(key: str) -> bool:
    return all(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in key if letter.isalpha())


@cache
def _transliterate(key: str) -> str:
    return key if key.isascii() else str(anyascii.anyascii(key)).lower()


@cache
def _sounds(key: str) -> tuple[str, ...]:
    """The consonants of each word in Latin letters; empty for a name with too few."""
    is_abjad = bool(_ABJAD.search(key))
    sounds = []
    for word in re.split(r"[\s-]+", key):
        letters = _transliterate(word)
        for group, sound in _DIGRAPHS:
            letters = letters.replace(group, sound)
        letters = letters.replace("w", "") if is_abjad else letters
        # Double letters are one, but not those that a vowel divides.
        letters = re.sub(r"(.)\1+", r"\1", re.sub(r"[^a-z]", "", letters).translate(_CLASSES))
        sounds.append(letters.translate(_VOWELS))
    return tuple(sounds) if sum(map(len, sounds)) >= _CONSONANTS and len(sounds) > 1 and all(sounds) else ()


def _is_similar(main: str, key: str) -> bool:
    if _ABJAD.search(key) or _ABJAD.search(main):
        return True
    return SequenceMatcher(None, _transliterate(main), _transliterate(key)).ratio() >= _SIMILAR
