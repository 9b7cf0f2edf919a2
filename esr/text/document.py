"""Documents and sentences, as loaders create them and indexes store them.

The module also has the attributes of documents (short values that searches filter by and count), the
direction of a language's script, the enrichment of sentences, and places: the page of a file, or the second
of a recording. Places are features of sentences, so both engines store them and boosts can use them.

Attributes have the names of the query language: `author`, `section`, `keyword`, and `meta.desk` for the
metadata key "desk". Keys of nested objects are joined: `meta.desk.city`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from esr.stdlib import compile_lazily


class ParseWord(NamedTuple):
    """A word of a dependency parse, and the position of its head; -1 for a root."""

    word: str
    head: int


class Quote(NamedTuple):
    """Direct speech in a sentence: its characters `start` to `end`, marks included, and who said it.

    `speaker` is the speaker as written, `name` the name that it certainly stands for, and `cue` the verb;
    each None if unknown. A quotation of several sentences is one quote in each.
    """

    start: int
    end: int
    speaker: str | None = None
    name: str | None = None
    cue: str | None = None


class Sentence(Struct, frozen=True):
    """A sentence. `id` is unique in its index; features, parse and quotes are stored unchanged.

    `paragraph` is the zero-based index of its paragraph in the source text; None if unknown. If `quotes` is
    empty, the document does not say whether there are any.
    """

    id: str
    text: str
    features: Mapping[str, float] = field(default_factory=dict)
    parse: tuple[ParseWord, ...] | None = None
    paragraph: int | None = None
    quotes: tuple[Quote, ...] = ()


class Document(Struct, frozen=True):
    """A document. `date` is valid ISO 8601, as the source wrote it. Unknown fields are None or empty.

    `section` is the part of the newspaper or site. `metadata` is anything else that the source gives, as
    JSON.
    """

    id: str
    sentences: tuple[Sentence, ...]
    title: str | None = None
    date: str | None = None
    source: str | None = None
    url: str | None = None
    language: str | None = None
    authors: tuple[str, ...] = ()
    section: str | None = None
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Located(NamedTuple):
    """A document and where it was read from, for messages: `news.jsonl:12`."""

    where: str
    document: Document


def default_sentence_id(document_id: str, position: int) -> str:
    """The id of a sentence without an id in the source: `<document id>.s<n>`, n from 0."""
    return f"{default_id_prefix(document_id)}{position}"


def default_id_prefix(document_id: str) -> str:
    """The common beginning of the default sentence ids of a document; the position follows it."""
    return f"{document_id}.s"


def custom_id_positions(document: Document) -> list[int]:
    """The positions of sentences whose ids differ from the default ones."""
    prefix = default_id_prefix(document.id)
    return [n for n, sentence in enumerate(document.sentences) if sentence.id != f"{prefix}{n}"]


TEXT_FIELDS = ("title", "date", "source", "url", "language", "section")
LIST_FIELDS = ("authors", "keywords")
METADATA = "metadata"
DESCRIPTIVE_FIELDS = (
    "title",
    "date",
    "source",
    "url",
    "language",
    "authors",
    "section",
    "keywords",
    METADATA,
)
"""All descriptive fields, in the order in which they are written."""


def encode_fields(document: Document) -> dict[str, Any]:
    """The fields with a value, as JSON."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name in DESCRIPTIVE_FIELDS
        if (value := getattr(document, name)) is not None and value != () and value != {}
    }


def decode_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """All fields, as `Document` takes them, from the result of `encode_fields`."""
    return {
        **{name: data.get(name) for name in TEXT_FIELDS},
        **{name: tuple(data.get(name, ())) for name in LIST_FIELDS},
        METADATA: data.get(METADATA, {}),
    }


# Directions of scripts

DIRECTIONS = AUTO, LEFT_TO_RIGHT, RIGHT_TO_LEFT = ("auto", "ltr", "rtl")
"""The values of the HTML attribute `dir`."""
_TAG = compile_lazily(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")
_SCRIPT = compile_lazily(r"-([A-Za-z]{4})(?![A-Za-z0-9])")
_UNKNOWN = frozenset(("mis", "mul", "und", "zxx"))
_RTL_LANGUAGES = (
    "acm aeb apc apd ar ara arb arc ary arz azb bal bgn bqi ckb div dv fa fas glk he heb iw ji kas ks lrc "
    "luz mzn nqo pbu per pes pnb prs ps pus sd skr snd syc syr ug uig ur urd yi yid"
)
"""Languages usually written in Arabic, Hebrew, Syriac, Thaana or N'Ko script, by CLDR."""
_RTL_SCRIPTS = "adlm arab aran hebr mand mend nkoo rohg samr syrc thaa"
_RTL = {"language": frozenset(_RTL_LANGUAGES.split()), "script": frozenset(_RTL_SCRIPTS.split())}


def is_language_tag(tag: str | None) -> bool:
    """Whether this is a well-formed language tag, such as pt-BR."""
    return bool(tag and _TAG.fullmatch(tag))


def text_direction(language: str | None) -> str:
    """One of DIRECTIONS, AUTO for an unknown language. A script in the tag overrides its language."""
    if not is_language_tag(language) or (code := str(language).lower().split("-")[0]) in _UNKNOWN:
        return AUTO
    script = _SCRIPT.search(str(language))
    is_rtl = script[1].lower() in _RTL["script"] if script else code in _RTL["language"]
    return RIGHT_TO_LEFT if is_rtl else LEFT_TO_RIGHT


# Attributes

ATTRIBUTES = {"author": "authors", "section": "section", "keyword": "keywords"}
"""The document's field for each attribute."""
META = "meta"
"""The attribute whose values are the metadata keys. With a period, the prefix of a key's attribute."""
META_PREFIX = f"{META}."
MAX_ATTRIBUTE_CHARS = 1000
"""Longer values and keys are ignored. Characters beyond U+FFFF count twice, as in Elasticsearch."""


def value_key(value: str) -> str:
    """The key of a value. Values with the same key, which differ only in case or spaces, count as equal."""
    return " ".join(normalize("NFKC", value).casefold().split())


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """The first form of each distinct value, in order."""
    forms: dict[str, str] = {}
    for value in values:
        forms.setdefault(value_key(value), value)
    return tuple(forms.values())


def is_attribute(name: str) -> bool:
    """Whether an attribute may have this name."""
    return name in ATTRIBUTES or (name.startswith(META_PREFIX) and len(name) > len(META_PREFIX))


def has_attributes(document: Document) -> bool:
    """Whether a document may have attributes. Fast, since most have none."""
    return bool(document.authors or document.section or document.keywords or document.metadata)


def attributes(document: Document) -> dict[str, tuple[str, ...]]:
    """The distinct values of each attribute that the document has, in order."""
    values: dict[str, tuple[str, ...]] = {}
    for name, source in ATTRIBUTES.items():
        if given := getattr(document, source):
            values[name] = (given,) if isinstance(given, str) else distinct(given)
    for key, of_key in metadata_values(document.metadata).items():
        values[META_PREFIX + key] = of_key
    short = {name: tuple(filter(_is_short, of_name)) for name, of_name in values.items()}
    return {name: of_name for name, of_name in short.items() if of_name}


def metadata_values(metadata: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The values of each metadata key that can be attributes.

    Values that differ only in case count once, even under keys that differ only in case: the first one is
    kept, under its key.
    """
    forms: dict[tuple[str, str], tuple[str, str]] = {}
    for key, values in flat_metadata(metadata).items() if metadata else ():
        if key and _is_short(key):
            for value in filter(_is_short, values):
                forms.setdefault((value_key(key), value_key(value)), (key, value))
    attributes: dict[str, tuple[str, ...]] = {}
    for key, of_key in groupby(forms.values(), itemgetter(0)):
        attributes[key] = tuple(value for _, value in of_key)
    return attributes


def flat_metadata(metadata: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The distinct values of each metadata key, as texts with single spaces."""
    values: dict[str, dict[str, None]] = {}
    for key, value in _flatten(metadata, ""):
        if value:
            values.setdefault(key, {})[value] = None
    return {key: tuple(of_key) for key, of_key in values.items()}


def _flatten(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the values in JSON as texts, each with its path of keys."""
    match value:
        case dict():
            for key, inner in value.items():
                name = _to_line(key)
                yield from _flatten(inner, f"{path}.{name}" if path else name)
        case list():
            for inner in value:
                yield from _flatten(inner, path)
        case None:
            pass
        case str():
            yield path, _to_line(value)
        case _:
            yield path, json.dumps(value)


def _to_line(text: str) -> str:
    return " ".join(normalize("NFC", text.replace("\0", " ")).split())


def _is_short(text: str) -> bool:
    return len(text) <= MAX_ATTRIBUTE_CHARS and (
        text.isascii() or len(text) + sum(c > "\uffff" for c in text) <= MAX_ATTRIBUTE_CHARS
    )


# Enrichment

PERSON, LOCATION, ORGANIZATION = "person", "location", "organization"


class Entity(NamedTuple):
    """A named entity. `type` is PERSON, LOCATION or ORGANIZATION; entities of other types are dropped."""

    text: str
    type: str


class Token(NamedTuple):
    """A word or punctuation mark.

    `tag` is its Penn Treebank tag, "" if the sentence was not tagged. `head` is the position of its head in
    the sentence, -1 for a root and in a sentence that was not parsed. `space_after`: a space follows it.
    """

    text: str
    tag: str
    head: int
    space_after: bool


class Annotation(Struct, frozen=True):
    """A sentence's tokens in order, and its entities, None if the model was not run for entities."""

    tokens: tuple[Token, ...]
    entities: tuple[Entity, ...] | None
    is_tagged: bool
    is_parsed: bool


class QuantizedVector(NamedTuple):
    """A vector as `scale` times integers from -127 to 127, one byte each.

    That is a quarter of the bytes of floats, and products are exact in any order.
    """

    values: bytes
    scale: float
    """A 32-bit float."""

    @property
    def array(self) -> npt.NDArray[np.int8]:
        return np.frombuffer(self.values, np.int8)


PARSE, VECTORS, QUOTES = "parse", "vectors", "quotes"
DEFAULT_PARTS = ("features", "entities", PARSE)
"""The parts computed by default."""
PARTS = (*DEFAULT_PARTS, VECTORS, QUOTES)
TABLE = "table"
"""Key of the digest, in a recipe, of the table that made vectors in place of the encoder that it imitates."""


class SentenceEnrichment(Struct, frozen=True):
    """What enrichment stores with a sentence. A feature without a value is left out."""

    features: Mapping[str, float]
    entities: tuple[Entity, ...] | None  # None: not searched for entities
    parse: tuple[ParseWord, ...] | None  # None: not parsed
    vector: QuantizedVector | None = None  # None: not encoded
    quotes: tuple[Quote, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle flat lists: a quarter of the bytes, and of the time to send from a worker process."""
        entities = None if self.entities is None else [*map(tuple, self.entities)]
        parse = None if self.parse is None else ([w.word for w in self.parse], [w.head for w in self.parse])
        return _unpickle, (dict(self.features), entities, parse, self.vector, [*map(tuple, self.quotes)])


def _unpickle(
    features: dict[str, float],
    entities: Sequence[tuple[str, str]] | None,
    parse: tuple[list[str], list[int]] | None,
    vector: QuantizedVector | None,
    quotes: Sequence[tuple[Any, ...]],
) -> SentenceEnrichment:
    return SentenceEnrichment(
        features,
        None if entities is None else tuple(Entity(*entity) for entity in entities),
        None if parse is None else tuple(map(ParseWord, *parse)),
        vector,
        tuple(Quote(*quote) for quote in quotes),
    )


# Places: texts that know where their sentences are


PAGE = "page"
"""The number of a page in its file, from 1."""
SECOND = "second"
"""Seconds from the beginning of a recording."""
CONFIDENCE = "confidence"
"""The confidence of text recognition in its letters, from 0 to 1."""

Places = Mapping[str, float]


class PlacedText(str):
    """A text in NFC with the places of its sentences.

    `places` are pairs of a number of characters, not counting white space, and the features of a sentence
    that begins after that many.
    """

    places: tuple[tuple[int, Places], ...] = ()


def join_pieces(pieces: Iterable[tuple[str, Places]], separator: str = "\n\n") -> PlacedText:
    """Join pieces, each given with the places of the sentences that begin in it."""
    texts: list[str] = []
    places: list[tuple[int, Places]] = []
    count = 0
    for piece, features in pieces:
        text = normalize("NFC", piece)
        if not text.strip():
            continue
        if not places or places[-1][1] != features:
            places.append((count, features))
        count += _count_characters(text)
        texts.append(text)
    joined = PlacedText(separator.join(texts))
    joined.places = tuple(places)
    return joined


def find_places(text: str, sentences: Iterable[str]) -> Iterator[Places]:
    """The features of each sentence of a text, which must be all of its sentences, in order."""
    places = text.places if isinstance(text, PlacedText) else ()
    count = n = 0
    for sentence in sentences:
        while n + 1 < len(places) and places[n + 1][0] <= count:
            n += 1
        yield places[n][1] if places else {}
        count += _count_characters(sentence) if places else 0


def _count_characters(text: str) -> int:
    return sum(map(len, text.split()))


def describe_place(features: Places) -> str | None:
    """Where a sentence is, for readers: "page 3", or the time "1:02:45"; None if its features do not say."""
    if (second := features.get(SECOND)) is not None and second >= 0:
        minutes, seconds = divmod(int(second), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    page = features.get(PAGE)
    return None if page is None else f"page {page:g}"
