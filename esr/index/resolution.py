"""Short forms of names: which full name of the same document each stands for, and which of the collection.

"Flynn" and "Mr Flynn" stand for the "Michael Flynn" of their document, "FBI" for its "Federal Bureau of
Investigation". `resolve_names` decides for a document from its names alone. `join_short_forms` decides for
the collection what becomes of a short form whose document leaves it open.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from esr.index.names import ID_PREFIX, MAX_ALIASES, EntitiesByType, majority_type, name_key
from esr.text.document import ORGANIZATION, PERSON

RESOLUTION_VERSION = 1
"""To be raised when `resolve_names` changes: `esr enrich` then resolves stored names again."""

_POLITE = frozenset(
    (
        "mr",
        "mrs",
        "ms",
        "miss",
        "mx",
        "herr",
        "frau",
        "monsieur",
        "madame",
        "mme",
        "señor",
        "señora",
        "signor",
    )
)
_TITLES = _POLITE | {
    *("dr", "sir", "dame", "lord", "lady", "prof", "professor", "rev", "reverend", "judge", "justice"),
    *("president", "senator", "sen", "representative", "rep", "congressman", "congresswoman", "governor"),
    *("gov", "mayor", "chancellor", "minister", "secretary", "ambassador", "king", "queen", "prince"),
    *("princess", "pope", "general", "gen", "lt", "col", "colonel", "maj", "major", "capt", "captain", "sgt"),
}
_SMALL_WORDS = frozenset(
    ("of", "the", "and", "for", "in", "on", "to", "&", "de", "la", "le", "des", "du", "et", "y", "e")
) | {"und", "der", "die", "das", "für"}
_COMPANY = frozenset(
    ("inc", "corp", "corporation", "ltd", "limited", "plc", "llc", "company", "ag", "se", "sa", "nv", "gmbh")
)


class ResolvedName(NamedTuple):
    """The key of the name that a written form stands for. `type` is that of the name, None for the form's."""

    key: str
    type: str | None = None


Resolved = Mapping[str, ResolvedName]
"""By written form of a document, the name that it stands for; without forms that stand for themselves."""
NOTHING_RESOLVED: Resolved = {}


def keys_of_forms(entities: EntitiesByType, resolved: Resolved) -> Iterator[tuple[str, str, str]]:
    """Each name of a sentence as (type, key, written form), where `resolved` is that of its document."""
    for type, forms in entities.items():
        for form in forms:
            name = resolved.get(form)
            yield (type, name_key(form), form) if name is None else (name.type or type, name.key, form)


def short_key(key: str) -> str:
    """The key of a short form without Mr, Ms and the like, as which it is counted and looked up."""
    words = key.split()
    while len(words) > 1 and words[0] in _POLITE:
        del words[0]
    return " ".join(words)


class _Mention(NamedTuple):
    """A name of a document as written: its words, its type there, and its first sentence."""

    key: str
    words: tuple[str, ...]
    type: str
    sentences: int
    first: int
    is_upper: bool


def resolve_names(sentences: Iterable[EntitiesByType | None]) -> dict[str, ResolvedName]:
    """What the written forms of a document stand for. `sentences` are the names of all of its sentences.

    A person's last words stand for the one full name that ends with them, and so does the first word if no
    name ends with it; the full name comes before them or in the same sentence. An acronym stands for the one
    name of its type with these initials, an organization for the one that has "Inc" or the like behind it.
    Where several persons fit, a form stands for itself, and so does a form without capital letters.
    """
    keys: dict[str, str] = {}
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    first: dict[str, int] = {}
    for number, by_type in enumerate(sentences):
        for type, names in (by_type or {}).items():
            for form in names:
                key = keys.setdefault(form, name_key(form))
                types[key][type] += 1
                first.setdefault(key, number)
    upper = {key for form, key in keys.items() if form.isupper()}
    lower = {key for form, key in keys.items() if form.islower()}
    mentions = [
        _Mention(key, _words(key), majority_type(counts), counts.total(), first[key], key in upper)
        for key, counts in types.items()
        if key not in lower
    ]
    full = _full_names(mentions)
    found = {mention.key: name for mention in mentions if (name := _resolve(mention, full)) is not None}
    return {form: found[key] for form, key in keys.items() if key in found}


_FullNames = Mapping[tuple[str, ...], Sequence[_Mention]]
"""The full names of a document by the words of their short forms, behind a mark of the kind of these."""


def _full_names(mentions: Iterable[_Mention]) -> _FullNames:
    full: defaultdict[tuple[str, ...], list[_Mention]] = defaultdict(list)
    for mention in mentions:
        words = mention.words
        if len(words) < 2:
            continue
        if mention.type == PERSON:
            for start in range(1, len(words)):
                full["last", *words[start:]].append(mention)
            full["first", words[0]].append(mention)
        else:
            initials = "".join(word[0] for word in words if word not in _SMALL_WORDS)
            if len(initials) > 1 and initials not in words and all(map(str.isalnum, words)):
                full[mention.type, initials].append(mention)
            if words[-1] in _COMPANY:
                full["company", *words[:-1]].append(mention)
    return full


def _resolve(mention: _Mention, full: _FullNames) -> ResolvedName | None:
    words, is_word = mention.words, len(mention.words) == 1
    is_acronym = mention.is_upper and is_word
    if mention.type == PERSON or (mention.type == ORGANIZATION and is_word and not is_acronym):
        found = full.get(("last", *words), ())
        if found:
            return _choose_person(mention, found)
        found = full.get(("first", *words), ())
        if mention.type == PERSON and len(found) == 1:
            return _choose_person(mention, found)
    if mention.type == PERSON:
        core = " ".join(words)
        return None if core == mention.key or (is_word and not _is_polite(mention)) else ResolvedName(core)
    kind = mention.type if is_acronym else "company"
    found = full.get((kind, *words), ())
    return ResolvedName(found[0].key, found[0].type) if len(found) == 1 else None


def _choose_person(mention: _Mention, full: Sequence[_Mention]) -> ResolvedName | None:
    """The longest of these names, if they may be one person and it came first.

    A name without a middle initial is preferred to the same name with one.
    """
    longest = max(full, key=lambda name: (len(name.words), name.sentences, name.key))
    if not all(_is_part(name.words, longest.words) for name in full):
        return None
    plain = [name for name in full if name.words == _without_initials(longest.words)]
    best = (plain or [longest])[0]
    return ResolvedName(" ".join(best.words), PERSON) if best.first <= mention.first else None


def _is_part(words: Sequence[str], longest: Sequence[str]) -> bool:
    """Whether the longest name has these words in their order: "Michael Flynn" in "Michael T. Flynn"."""
    rest = iter(longest)
    return all(word in rest for word in words)


def _without_initials(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for n, word in enumerate(words) if len(word) > 1 or n in (0, len(words) - 1))


def _words(key: str) -> tuple[str, ...]:
    """The words of a name, without the titles before it."""
    words = key.split()
    while len(words) > 1 and words[0] in _TITLES:
        del words[0]
    return tuple(words)


def _is_polite(mention: _Mention) -> bool:
    return mention.key.split()[0] in _POLITE


CERTAINTY, FIT = 0.9, 0.7
"""How nearly certain a short form must be to be joined to a name in the whole collection.

CERTAINTY is the share of the documents deciding on it that must agree, by the rule of succession:
(n + 1) / (N + 2) if n of N agree. So 8 of 8 are enough, or 17 of 18. FIT is the share of all documents
with it that must give it the type of the name.
"""


class ShortForm(NamedTuple):
    """The number of documents in which a short form stands for a name. Both are keys."""

    short: str
    full: str
    documents: int


TypeCounts = Mapping[str, Mapping[str, int]]
"""By key, the number of documents that have it with each type. Short forms count where they stand alone."""


def join_short_forms(found: Iterable[ShortForm], types: TypeCounts) -> dict[str, list[str]]:
    """By name, the short forms that stand for it wherever no document says otherwise.

    Nearly all documents that decide on a form agree (CERTAINTY), and it has the type of the name in most of
    all (FIT): "Washington" alone is the city. At most MAX_ALIASES are joined, those of most documents first.
    """
    by_short: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for short, full, documents in found:
        by_short[short][full] += documents
    certain: dict[str, str] = {}
    for short, names in sorted(by_short.items(), key=lambda item: (-item[1].total(), item[0])):
        best = min(names, key=lambda name: (-names[name], name))
        agreeing = sum(count for name, count in names.items() if _is_variant(short, name, best))
        type, alone = majority_type(types.get(best, {})), types.get(short, {})
        fitting, all = names.total() + alone.get(type, 0), names.total() + sum(alone.values())
        if (agreeing + 1) / (names.total() + 2) >= CERTAINTY and fitting / all >= FIT:
            certain[short] = best
    joined: dict[str, list[str]] = {}
    for short, full in list(certain.items())[:MAX_ALIASES]:
        if full not in certain:
            joined.setdefault(full, []).append(short)
    return joined


def add_ids(
    short_forms: Mapping[str, Sequence[str]], given: Mapping[tuple[str, str], int]
) -> dict[str, list[str]]:
    """`short_forms` with the ids of names, each behind ID_PREFIX.

    `given` has the number of documents that give a name, by its key, an id. An id is that of the name to
    which most documents give it, ties by key. At most MAX_ALIASES are taken, those of most documents first.
    """
    full_of = {short: full for full, of_name in short_forms.items() for short in of_name}
    by_id: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (key, id), documents in given.items():
        by_id[id][full_of.get(key, key)] += documents
    joined = {full: list(of_name) for full, of_name in short_forms.items()}
    for id, names in sorted(by_id.items(), key=lambda item: (-item[1].total(), item[0]))[:MAX_ALIASES]:
        joined.setdefault(min(names, key=lambda name: (-names[name], name)), []).append(ID_PREFIX + id)
    return joined


def _is_variant(short: str, name: str, best: str) -> bool:
    """Whether two names with a short form are one in two spellings: "Mike Flynn" and "Michael Flynn"."""
    if name.replace("-", " ") == best.replace("-", " "):
        return True
    first, _, rest = name.partition(" ")
    best_first, _, best_rest = best.partition(" ")
    return rest == best_rest and rest.endswith(short) and first[:2] == best_first[:2]
