"""Names of persons, places and organizations: keys that compare written forms, and tables of aliases.

All written forms with one key are one name, of one type. A table of aliases, stored in an index, joins names
with different keys; searches group names by it. The module also chooses the usual spelling of a word.

Short forms stand for full names: "Flynn" and "Mr Flynn" for the "Michael Flynn" of their document, "FBI" for
its "Federal Bureau of Investigation". `resolve_names` resolves those of a document from its names alone.
`join_short_forms` resolves those that their document leaves open, for the whole collection.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from esr.errors import InputError
from esr.stdlib import cached_property
from esr.text.analysis.token_filters import CharacterTable
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import WORDS_ANALYZER
from esr.text.attributes import value_key
from esr.text.sentence_enrichment import LOCATION, ORGANIZATION, PERSON, Entity

KEY_VERSION = 1
"""Increase when `name_key` changes: `esr enrich` then recomputes stored keys of other versions."""
MAX_KEY_CHARS = 200
"""The length at which keys are cut. Longer "names" are tables mistaken for a name."""

_ASCII = CharacterTable("ascii_folding", None)
# The patterns are strings: `re` compiles them when the first name needs them, and most searches read no name.
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
    """The key of a written name: "the U.S.'s" and "US" have the same key.

    A key has no English article at its beginning, no English possessive at its end, no periods of acronyms,
    initials and abbreviations, and single spaces. Case is folded. Accents are removed from Latin and Greek
    letters, which are often written without them. Marks of other scripts distinguish letters, so they stay,
    except that Russian ё, often written е, becomes е. The key of a key is the key itself.
    """
    key = name
    while (folded := _fold(key)) != key:
        key = folded
    return key


def fold_accents(text: str) -> str:
    """The text in lower case, without accents of Latin and Greek letters, with straight apostrophes."""
    if text.isascii():
        return text
    bare = re.sub(_MARKED, r"\1", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_OTHER_SCRIPTS).translate(_ASCII)


def _fold(name: str) -> str:
    """One pass of `name_key`, which may leave more to fold."""
    folded = fold_accents(value_key(name))
    if "." not in folded and "'" not in folded and not folded.startswith(_ARTICLES):
        return folded[:MAX_KEY_CHARS].strip()
    key = re.sub(_INITIAL, r"\1", re.sub(_SPACED_INITIAL, r"\1.", folded))
    key = re.sub(_POSSESSIVE, "", re.sub(_LAST_PERIOD, "", key))
    return (re.sub(_ARTICLE, "", key) or folded)[:MAX_KEY_CHARS].strip()


ENTITY_TYPES = (PERSON, LOCATION, ORGANIZATION)
EntitiesByType = dict[str, tuple[str, ...]]
"""Names by type: types in the order of ENTITY_TYPES, names in sentence order, no empty types."""


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
"""The share of a name's sentences from which another type than the majority's counts. Taggers make errors."""


class Name(NamedTuple):
    """A name of the collection.

    `form` is the written form of most sentences (ties by code point order), or the one that a table of
    aliases gives. `type` is the type in most sentences (ties in the order of ENTITY_TYPES), and `other_types`
    are those of a fair share of its sentences, in that order. `sentences` counts the sentences with any of
    its forms, under any type. `keys` are the keys of its forms: its own `key` alone, unless it has aliases
    or ids. `ids` are as they were given.
    """

    key: str
    form: str
    type: str
    sentences: int
    keys: tuple[str, ...]
    other_types: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    def has_type(self, type: str | None) -> bool:
        """Whether a filter of this type accepts the name. A filter of any type (None) accepts all names."""
        return type in (None, self.type, *self.other_types)


class NameFilter(NamedTuple):
    """A name as a filter asks for it: `person:Barack Obama`, or `Barack Obama` of any type (None)."""

    text: str
    type: str | None

    @property
    def key(self) -> str:
        return name_key(self.text)


class NameKey(str):
    """The key of one name, for filters by programs: it matches that name and no other meaning."""

    __slots__ = ()


def parse_name_filter(text: str) -> NameFilter:
    """The name that an entry of `Filters.entities` asks for."""
    type, colon, name = text.partition(":")
    if colon and type in ENTITY_TYPES:
        return NameFilter(name.strip(), type)
    return NameFilter(text, None)


def majority_type(sentences: Mapping[str, int]) -> str:
    """The type that most sentences give, ties in the order of ENTITY_TYPES."""
    return max(ENTITY_TYPES, key=lambda type: sentences.get(type, 0))


def other_types(sentences: Mapping[str, int], total: int) -> tuple[str, ...]:
    """The types other than the majority's that a fair share of `total` sentences give."""
    majority = majority_type(sentences)
    least = FAIR_SHARE * total
    return tuple(t for t in ENTITY_TYPES if t != majority and sentences.get(t, 0) >= max(least, 1))


def majority_form(key: str, sentences: Iterable[tuple[str, int]]) -> str:
    """The most frequent form, ties by code point order; a short form only if there is no other."""
    return min(sentences, key=lambda form: (name_key(form[0]) != key, -form[1], form[0]))[0]


MAX_ALIASES = 20_000
"""Maximum number of aliases in a table. Indices store it, and each Elasticsearch node keeps it in memory."""


ID_PREFIX = "id:"
"""Prefix of an alias that is an id of the name, such as `id:Q22686`. No written form has such a key."""


class Aliases(Struct, frozen=True, dict=True):
    """A table of aliases by the displayed form of a name, and the short forms of other names.

    `short_forms` are keys by the key of their name (`join_short_forms`), with the ids that documents give
    (`add_ids`). The table takes precedence for short forms and ids that it contains.
    """

    forms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    short_forms: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.forms or self.short_forms)

    def group_key(self, key: str) -> str:
        """The key of the name that a key belongs to: usually the key itself."""
        return self._group_keys.get(key, key)

    def members(self, key: str) -> tuple[str, ...]:
        """All keys of the name that a key belongs to, its group key first."""
        group = self.group_key(key)
        return self.groups.get(group, (group,))

    def form(self, group_key: str) -> str | None:
        """The displayed form of a name, None if the table does not have the name."""
        return self._forms.get(group_key)

    def with_prefix(self, prefix: str) -> list[str]:
        """The group keys of the names that have a key or an id with this prefix."""
        return [
            group
            for group, keys in self.groups.items()
            if any(key.removeprefix(ID_PREFIX).startswith(prefix) for key in keys)
        ]

    @property
    def keys(self) -> KeysView[str]:
        """The keys of all names and aliases in the table."""
        return self._group_keys.keys()

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The keys of each name by its group key, which comes first."""
        groups = {
            name_key(form): tuple(dict.fromkeys(map(name_key, (form, *aliases))))
            for form, aliases in self.forms.items()
        }
        by_key = {key: group for group, keys in groups.items() for key in keys}
        for full, short_forms in self.short_forms.items():
            group, keys = by_key.get(full, full), map(name_key, short_forms)
            groups[group] = (*groups.get(group, (full,)), *(key for key in keys if key not in by_key))
        return {group: keys for group, keys in groups.items() if len(keys) > 1 or group in by_key}

    @cached_property
    def joined(self) -> frozenset[str]:
        """The short forms among the keys. They do not count for the type of their name."""
        aliased = {name_key(name) for form, aliases in self.forms.items() for name in (form, *aliases)}
        return frozenset(s for short_forms in self.short_forms.values() for s in short_forms) - aliased

    def ids(self, group_key: str) -> tuple[str, ...]:
        """The ids of a name as given, those of the table first."""
        return tuple(self._ids.get(group_key, ()))

    @cached_property
    def _ids(self) -> dict[str, dict[str, None]]:
        ids: dict[str, dict[str, None]] = {}
        for aliases in (*self.forms.values(), *self.short_forms.values()):
            for alias in aliases:
                if alias.startswith(ID_PREFIX):
                    ids.setdefault(self.group_key(name_key(alias)), {})[alias[len(ID_PREFIX) :]] = None
        return ids

    @cached_property
    def _group_keys(self) -> dict[str, str]:
        return {key: group for group, keys in self.groups.items() for key in keys}

    @cached_property
    def _forms(self) -> dict[str, str]:
        return {name_key(form): form for form in self.forms}

    def as_dict(self) -> dict[str, Any]:
        """The table as an index stores it, without short forms."""
        return {form: list(aliases) for form, aliases in self.forms.items()}


NO_ALIASES = Aliases()


IDS_KEY = "names.id"
"""The key of metadata in which documents give ids of names, as `flat_metadata` has it."""


def read_ids(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys of names and their ids in metadata: `{"names": [{"name": "Angela Merkel", "id": "Q567"}]}`.

    An id may be a list of ids. Values of other forms are ignored.
    """
    entries = metadata.get("names")
    for entry in entries if isinstance(entries, list) else [entries]:
        name, ids = (entry.get("name"), entry.get("id")) if isinstance(entry, dict) else (None, None)
        for id in ids if isinstance(ids, list) else [ids]:
            if isinstance(name, str) and isinstance(id, str) and name_key(name) and id.strip():
                yield name_key(name), " ".join(id.split())


def read_aliases(path: Path) -> Aliases:
    """The table of aliases in a file. Raises InputError with the line of an error.

    Each line has the displayed form of a name, then its aliases and ids, separated by tabs. An id begins with
    ID_PREFIX. Lines that begin with # are comments.
    """
    forms: dict[str, list[str]] = {}
    lines_of: dict[str, int] = {}
    for number, line in _read_lines(path):
        names = [re.sub(rf"^{ID_PREFIX}\s*", ID_PREFIX, name.strip()) for name in line.split("\t")]
        where = f"{path}:{number}"
        if len(names) < 2 or not {"", ID_PREFIX}.isdisjoint(names) or names[0].startswith(ID_PREFIX):
            raise InputError(
                where, "a line needs a name and at least one alias or id, separated by single tabs"
            )
        for key, name in {name_key(name): name for name in reversed(names)}.items():
            if key in lines_of:
                raise InputError(where, f"{name!r} is on line {lines_of[key]} already: one name, one line")
            lines_of[key] = number
        forms[names[0]] = names[1:]
        if len(lines_of) > MAX_ALIASES:
            raise InputError(where, f"the table has more than {MAX_ALIASES:,} names")
    return Aliases(forms)


def _read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines with content, with line numbers from 1."""
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
"""The number of sentences, the first with the word, from which its spelling is read."""


def choose_written_form(word: str, texts: Iterable[str]) -> str:
    """The most frequent form of a word in these texts; the word itself if none contains it.

    `word` is a term of the analyzer `words`: beyonce for Beyoncé.
    """
    written: Counter[str] = Counter()
    tokens = get_analyzer(WORDS_ANALYZER).tokens
    for text in texts:
        written.update(text[token.start : token.end] for token in tokens(text) if token.term == word)
    return min(written, key=lambda form: (-written[form], form), default=word)


# Short forms


RESOLUTION_VERSION = 3
"""Increase when `resolve_names` changes: `esr enrich` then resolves stored names again."""

_SMALL_WORDS = frozenset(
    ("of", "the", "and", "for", "in", "on", "to", "&", "de", "la", "le", "des", "du", "et", "y", "e")
) | {"und", "der", "die", "das", "für"}
_COMPANY = frozenset(
    ("inc", "corp", "corporation", "ltd", "limited", "plc", "llc", "company", "ag", "se", "sa", "nv", "gmbh")
)


@cache
def read_tables() -> Mapping[str, Any]:
    """The tables: short names of countries, types of names, and by language titles and endings."""
    tables: Mapping[str, Any] = json.loads(Path(__file__).with_name("name_tables.json").read_text("utf-8"))
    return tables


def _read_words(table: str) -> Iterator[str]:
    """The words of a table in all languages, without accents, as keys of names have them."""
    return map(fold_accents, " ".join(read_tables()[table].values()).split())


@cache
def _polite() -> frozenset[str]:
    """Forms of address before a name, in all languages, as keys of names have them."""
    return frozenset(_read_words("polite"))


@cache
def _titles() -> frozenset[str]:
    """The same with titles and offices."""
    return _polite() | frozenset(_read_words("titles"))


class ResolvedName(NamedTuple):
    """The key of the name that a written form stands for. `type` is that of the name, None for the form's."""

    key: str
    type: str | None = None


Resolved = Mapping[str, ResolvedName]
"""The name that each short form of a document stands for, by written form."""
NOTHING_RESOLVED: Resolved = {}


def keys_of_forms(entities: EntitiesByType, resolved: Resolved) -> Iterator[tuple[str, str, str]]:
    """Yield each name of a sentence as (type, key, written form). `resolved` is that of its document."""
    for type, forms in entities.items():
        for form in forms:
            name = resolved.get(form)
            yield (type, name_key(form), form) if name is None else (name.type or type, name.key, form)


def short_key(key: str) -> str:
    """The key of a short form without Mr, Ms and the like, under which it is counted and looked up."""
    words = key.split()
    while len(words) > 1 and words[0] in _polite():
        del words[0]
    return " ".join(words)


class _Mention(NamedTuple):
    """A written name of a document: its words, its type there, and its first sentence."""

    key: str
    words: tuple[str, ...]
    type: str
    sentences: int
    first: int
    is_upper: bool


def resolve_names(sentences: Iterable[EntitiesByType | None]) -> dict[str, ResolvedName]:
    """Resolve the short forms of a document. `sentences` are the names of all of its sentences.

    The last words of a person's name stand for the one full name that ends with them, and so does the first
    word if no name ends with it; the full name must come before or in the same sentence. An acronym stands
    for the one name of its type with these initials, an organization for the one followed by "Inc" or the
    like. A name of the table of types gets its type. A form stands for itself if several persons fit, or if
    it has no capital letters.
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
    resolved = {
        mention.key: name
        for mention in mentions
        if (name := _resolve(mention, full) or _correct_type(mention)) is not None
    }
    return {form: resolved[key] for form, key in keys.items() if key in resolved}


def _correct_type(mention: _Mention) -> ResolvedName | None:
    """The same name with the type that the table gives it, if models found another one."""
    type = _known_types().get(mention.key, mention.type)
    return ResolvedName(mention.key, type) if type != mention.type else None


@cache
def _known_types() -> Mapping[str, str]:
    """The types of names that models often take for another type, by key."""
    return {name_key(key): type for type, keys in read_tables()["types"].items() for key in keys.split()}


_FullNames = Mapping[tuple[str, ...], Sequence[_Mention]]
"""The full names of a document by the words of their short forms, after a mark of the kind of short form."""


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
        candidates = full.get(("last", *words), ())
        if candidates:
            return _choose_person(mention, candidates)
        candidates = full.get(("first", *words), ())
        if mention.type == PERSON and len(candidates) == 1:
            return _choose_person(mention, candidates)
    if mention.type == PERSON:
        core = " ".join(words)
        return None if core == mention.key or (is_word and not _is_polite(mention)) else ResolvedName(core)
    kind = mention.type if is_acronym else "company"
    candidates = full.get((kind, *words), ())
    return ResolvedName(candidates[0].key, candidates[0].type) if len(candidates) == 1 else None


def _choose_person(mention: _Mention, full: Sequence[_Mention]) -> ResolvedName | None:
    """The longest of these names, if all may be one person and it came first.

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
    """The words of a name, without preceding titles."""
    words = key.split()
    while len(words) > 1 and words[0] in _titles():
        del words[0]
    return tuple(words)


def _is_polite(mention: _Mention) -> bool:
    return mention.key.split()[0] in _polite()


CERTAINTY, FIT = 0.9, 0.7
"""Thresholds for joining a short form to a name in the whole collection.

CERTAINTY is the share of the documents resolving it that must agree, by the rule of succession: (n + 1) / (N
+ 2) if n of N agree. So 8 of 8 are enough, or 17 of 18. FIT is the share of all documents with it that must
give it the type of the name.
"""


class ShortForm(NamedTuple):
    """The number of documents in which a short form stands for a name. Both are keys."""

    short: str
    full: str
    documents: int


TypeCounts = Mapping[str, Mapping[str, int]]
"""The number of documents with each type, by key. Short forms count only where they are unresolved."""


def join_short_forms(short_forms: Iterable[ShortForm], types: TypeCounts) -> dict[str, list[str]]:
    """The short forms that stand for a name wherever their document does not resolve them, by name.

    Nearly all documents that resolve a form must agree (CERTAINTY), and most documents must give it the type
    of the name (FIT): "Washington" alone is the city. At most MAX_ALIASES are joined, those of most documents
    first.
    """
    by_short: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for short, full, documents in short_forms:
        by_short[short][full] += documents
    certain: dict[str, str] = {}
    for short, names in sorted(by_short.items(), key=lambda item: (-item[1].total(), item[0])):
        best = min(names, key=lambda name: (-names[name], name))
        agreeing = sum(count for name, count in names.items() if _is_variant(short, name, best))
        type, alone = majority_type(types.get(best, {})), types.get(short, {})
        like = alone.get(type, 0)
        if type == PERSON and alone.get(ORGANIZATION, 0) <= names.total():
            like += alone.get(ORGANIZATION, 0)  # models often take a surname for an organization
        fitting, all = names.total() + like, names.total() + sum(alone.values())
        if (agreeing + 1) / (names.total() + 2) >= CERTAINTY and fitting / all >= FIT:
            certain[short] = best
    joined: dict[str, list[str]] = {}
    for short, full in list(certain.items())[:MAX_ALIASES]:
        if full not in certain:
            joined.setdefault(full, []).append(short)
    return joined


def add_ids(
    short_forms: Mapping[str, Sequence[str]], existing: Mapping[tuple[str, str], int]
) -> dict[str, list[str]]:
    """Add the ids of names to `short_forms`, each after ID_PREFIX.

    `existing` has the number of documents that give a name an id, by (key, id). An id belongs to the name to
    which most documents give it, ties by key. At most MAX_ALIASES are added, those of most documents first.
    """
    full_of = {short: full for full, of_name in short_forms.items() for short in of_name}
    by_id: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (key, id), documents in existing.items():
        by_id[id][full_of.get(key, key)] += documents
    joined = {full: list(of_name) for full, of_name in short_forms.items()}
    for id, names in sorted(by_id.items(), key=lambda item: (-item[1].total(), item[0]))[:MAX_ALIASES]:
        joined.setdefault(min(names, key=lambda name: (-names[name], name)), []).append(ID_PREFIX + id)
    return joined


def _is_variant(short: str, name: str, best: str) -> bool:
    """Whether two names with a short form are spellings of one name: "Mike Flynn" and "Michael Flynn"."""
    if name.replace("-", " ") == best.replace("-", " "):
        return True
    first, _, rest = name.partition(" ")
    best_first, _, best_rest = best.partition(" ")
    return rest == best_rest and rest.endswith(short) and first[:2] == best_first[:2]
