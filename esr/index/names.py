"""Names as searches see them: all written forms with one key are one name, of one type.

Aliases of names: a user's table of names that are one, though no key could tell.

The table is a file with a line for each name: the form under which it is shown, then its aliases, separated
by tabs. Lines that begin with # are comments. An index stores the table, and searches group names by it.

The keys by which written names are compared: those with the same key count as the same.

How people write a word that is known as the analyzer `words` has it: Beyoncé for beyonce.

Named entities as the engines store them: the distinct names of a sentence, grouped by type.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from esr.errors import InputError
from esr.text.analyzer import WORDS_ANALYZER, get_analyzer
from esr.text.document import LOCATION, ORGANIZATION, PERSON, Entity, value_key
from esr.text.token_filters import CharacterTable

KEY_VERSION = 1
"""Raise it when `name_key` changes: stored keys of another version are computed again by `esr enrich`."""
MAX_KEY_CHARS = 200
"""A key ends here: what is longer is a table that was taken for a name."""

_ASCII = CharacterTable("ascii_folding", None)
# `re` compiles the patterns when the first name needs them, and keeps them: most searches read no name.
_MARKED = (
    "([a-z\u00df-\u02af\u1e00-\u1eff\u0370-\u03ff\u1f00-\u1fff])[\u0300-\u036f]+"  # Latin and Greek letters
)
_OTHER_SCRIPTS = str.maketrans({"ё": "е", "ʼ": "'", "\u00ad": None})
_LETTER = r"[^\W\d_]"
_SPACED_INITIAL = rf"(?<!\w)({_LETTER})\. (?={_LETTER}\.)"
_INITIAL = rf"(?<!\w)({_LETTER})\."
_LAST_PERIOD = r"(?<=\w)\.(?=\s|$)"
_ARTICLES = ("the ", "a ", "an ")
_ARTICLE = r"^(?:the|an?) (?=\w)"
_POSSESSIVE = r"(?<=\w)'s$|(?<=\ws)'$"


@lru_cache(1 << 16)
def name_key(name: str) -> str:
    """The key of a written name: "the U.S.'s" and "US" have the same.

    It has no English article at its beginning and no English possessive at its end, no periods of acronyms,
    initials and abbreviations, and single spaces. Case is folded. Accents are folded on Latin and Greek
    letters, which are often written without them; marks of other scripts make other letters, so they stay,
    except that Russian ё is often written е. The key of a key is the key itself.
    """
    key = name
    while (folded := _fold(key)) != key:
        key = folded
    return key


def fold_accents(text: str) -> str:
    """A text in lower case without the accents of Latin and Greek, and with straight apostrophes."""
    if text.isascii():
        return text
    bare = re.sub(_MARKED, r"\1", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_OTHER_SCRIPTS).translate(_ASCII)


def _fold(name: str) -> str:
    """The name with its case and accents folded, and with less of what is left out of keys."""
    folded = fold_accents(value_key(name))
    if "." not in folded and "'" not in folded and not folded.startswith(_ARTICLES):
        return folded[:MAX_KEY_CHARS].strip()
    key = re.sub(_INITIAL, r"\1", re.sub(_SPACED_INITIAL, r"\1.", folded))
    key = re.sub(_POSSESSIVE, "", re.sub(_LAST_PERIOD, "", key))
    return (re.sub(_ARTICLE, "", key) or folded)[:MAX_KEY_CHARS].strip()


ENTITY_TYPES = (PERSON, LOCATION, ORGANIZATION)
EntitiesByType = dict[str, tuple[str, ...]]
"""Names by type: types in the order of ENTITY_TYPES, names in the order of the sentence. A type without
names is left out."""


def group_entities(entities: Iterable[Entity]) -> EntitiesByType:
    """Group entities by type, each name once. Entities of other types are dropped."""
    names: dict[str, dict[str, None]] = {}
    for entity in entities:
        if entity.text:
            names.setdefault(entity.type, {})[entity.text] = None
    return {type: tuple(names[type]) for type in ENTITY_TYPES if type in names}


def entity_key(type: str, name: str) -> str:
    """An entity as one string: `type:name`."""
    return f"{type}:{name}"


def parse_entity_key(key: str) -> Entity:
    """The inverse of `entity_key`."""
    type, _, name = key.partition(":")
    return Entity(name, type)


FAIR_SHARE = 0.2
"""The share of a name's sentences that gives it a type beside that of the majority: taggers err."""


class Name(NamedTuple):
    """A name of the collection.

    `form` is the written form that most sentences have (of several the first by code points), or the one that
    a table of aliases gives; `type` the type that most sentences give it (of several the first of
    ENTITY_TYPES). `sentences` counts those that have any of its forms, under any type. `keys` are those of
    its forms: its own `key` alone, unless it has aliases. `other_types` are those that a fair share of its
    sentences give it too, in the order of ENTITY_TYPES.
    """

    key: str
    form: str
    type: str
    sentences: int
    keys: tuple[str, ...]
    other_types: tuple[str, ...] = ()

    def has_type(self, type: str | None) -> bool:
        """Does a filter of this type accept the name? That of any type (None) accepts all."""
        return type in (None, self.type, *self.other_types)


class NameFilter(NamedTuple):
    """A name as a filter asks for it: `person:Barack Obama`, or `Barack Obama` of any type (None)."""

    text: str
    type: str | None

    @property
    def key(self) -> str:
        return name_key(self.text)


def parse_name_filter(text: str) -> NameFilter:
    """The name that an entry of `Filters.entities` asks for."""
    type, colon, name = text.partition(":")
    if colon and type in ENTITY_TYPES:
        return NameFilter(name.strip(), type)
    return NameFilter(text, None)


def keys_by_type(entities: EntitiesByType) -> dict[str, list[str]]:
    """The keys of a sentence's names by type, each once."""
    return {type: list(dict.fromkeys(map(name_key, names))) for type, names in entities.items()}


def majority_type(sentences: Mapping[str, int]) -> str:
    """The type that most sentences give, of several the first of ENTITY_TYPES."""
    return max(ENTITY_TYPES, key=lambda type: sentences.get(type, 0))


def other_types(sentences: Mapping[str, int], total: int) -> tuple[str, ...]:
    """The types but that of the majority that a fair share of `total` sentences give."""
    majority = majority_type(sentences)
    least = FAIR_SHARE * total
    return tuple(t for t in ENTITY_TYPES if t != majority and sentences.get(t, 0) >= max(least, 1))


def majority_form(sentences: Iterable[tuple[str, int]]) -> str:
    """The form that most sentences have, of several the first by code points."""
    return min(sentences, key=lambda form: (-form[1], form[0]))[0]


MAX_ALIASES = 20_000
"""Aliases in one table. Every index stores it, and Elasticsearch keeps it in the memory of all its nodes."""


class Aliases(Struct, frozen=True, dict=True):
    """The aliases of names, by the form under which a name is shown."""

    forms: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.forms)

    def group_key(self, key: str) -> str:
        """The key of the name that a key belongs to: most often itself."""
        return self._group_keys.get(key, key)

    def members(self, key: str) -> tuple[str, ...]:
        """All keys of the name that a key belongs to, its group key first."""
        group = self.group_key(key)
        return self.groups.get(group, (group,))

    def form(self, group_key: str) -> str | None:
        """The form under which a name is shown, None where the table does not have it."""
        return self._forms.get(group_key)

    def with_prefix(self, prefix: str) -> list[str]:
        """The group keys of the names of which a key begins so."""
        return [group for group, keys in self.groups.items() if any(k.startswith(prefix) for k in keys)]

    @property
    def keys(self) -> KeysView[str]:
        """The keys of all names and aliases in the table."""
        return self._group_keys.keys()

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The keys of each name by its group key, which comes first."""
        return {
            name_key(form): tuple(dict.fromkeys(map(name_key, (form, *aliases))))
            for form, aliases in self.forms.items()
        }

    @cached_property
    def _group_keys(self) -> dict[str, str]:
        return {key: group for group, keys in self.groups.items() for key in keys}

    @cached_property
    def _forms(self) -> dict[str, str]:
        return {name_key(form): form for form in self.forms}

    def as_dict(self) -> dict[str, Any]:
        """As it is stored."""
        return {form: list(aliases) for form, aliases in self.forms.items()}


NO_ALIASES = Aliases()


def read_aliases(path: Path) -> Aliases:
    """The table in a file. Raises InputError with the line of what is wrong."""
    forms: dict[str, list[str]] = {}
    lines_of: dict[str, int] = {}
    for number, line in _read_lines(path):
        names = [name.strip() for name in line.split("\t")]
        where = f"{path}:{number}"
        if len(names) < 2 or not all(names):
            raise InputError(where, "a line needs a name and at least one alias, separated by single tabs")
        for key, name in {name_key(name): name for name in reversed(names)}.items():
            if key in lines_of:
                raise InputError(where, f"{name!r} is on line {lines_of[key]} already: one name, one line")
            lines_of[key] = number
        forms[names[0]] = names[1:]
        if len(lines_of) > MAX_ALIASES:
            raise InputError(where, f"the table has more than {MAX_ALIASES:,} names")
    return Aliases(forms)


def _read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines with content, numbered from 1."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{number}", "is not UTF-8") from error
        if text.strip() and not text.startswith("#"):
            yield number, text


SAMPLE = 10
"""Sentences from which is read how people write a word: the first of the collection that have it."""


def choose_written_form(word: str, texts: Iterable[str]) -> str:
    """The form in which a word stands most often in these texts; the word itself if none has it."""
    written: Counter[str] = Counter()
    tokens = get_analyzer(WORDS_ANALYZER).tokens
    for text in texts:
        written.update(text[token.start : token.end] for token in tokens(text) if token.term == word)
    return min(written, key=lambda form: (-written[form], form), default=word)
