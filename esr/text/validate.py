"""Builds documents from the fields of a source and validates them: every loader uses these checks.

Messages name the field and say what it must be. `to_fields` is the inverse, for JSON Lines: `parse_document`
makes an equal document from its result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any
from unicodedata import is_normalized, normalize

from esr.stdlib import blake2b, compile_lazily
from esr.text.attributes import distinct
from esr.text.dates import normalise_date, parse_date_start
from esr.text.document import (
    CERTAIN,
    METADATA,
    PROBABLE,
    Document,
    ParseWord,
    Quote,
    Sentence,
    default_id_prefix,
    default_sentence_id,
    encode_fields,
)
from esr.text.languages import standardise_language
from esr.text.placed_text import find_places
from esr.text.sentences import split_numbered_sentences

_TYPE_NAMES: dict[type, str] = {
    bool: "true or false",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
    type(None): "null",
}


class InvalidDocument(ValueError):
    """The fields are not a valid document. The message names the field and says what it must be."""

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else "?" for c in message))  # names come from files


def require_string(value: Any, name: str) -> str:
    """Return the value if it is a string that UTF-8 can encode. Raises InvalidDocument."""
    if not isinstance(value, str):
        raise InvalidDocument(f"{name} must be a string, not {type_name(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            surrogate = value[error.start]
            raise InvalidDocument(
                f"{name} contains {surrogate!r}, half a character (a lone surrogate): "
                "remove it, it cannot be stored"
            ) from None
    return value


def require_number(value: Any, name: str) -> float:
    """Return the value as a finite float. Raises InvalidDocument."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidDocument(f"{name} must be a number, not {type_name(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise InvalidDocument(f"{name} must be a finite number of at most 1.8e308")
    return number


def require_list(value: Any, name: str) -> list[Any]:
    """Return the value if it is a list. Raises InvalidDocument."""
    if not isinstance(value, list):
        raise InvalidDocument(f"{name} must be a list, not {type_name(value)}")
    return value


def type_name(value: Any) -> str:
    """The JSON type of a value, with its article: "a string"."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def quote(text: str) -> str:
    """Quote a text for messages: escaped where not printable, and shortened."""
    return repr(text if len(text) <= 60 else text[:59] + "…")


# The limit of Elasticsearch's `_id`.
MAX_ID_BYTES = 512
# `.s<n>` never adds more than this to a document's id.
_SUFFIX_BYTES = 12

# Columns of runs and judgements are separated by blanks, so ids must not contain any.
_INVALID_IN_ID = compile_lazily(r"[\s\x00-\x1f\x7f-\x9f]")
MAX_SENTENCES = 200_000
"""Maximum number of sentences of a document, which is in memory as a whole: about 2 kB for each."""
MAX_PARAGRAPH = 2**31 - 1
"""The greatest integer of Elasticsearch's type `integer`."""
SENTENCE_FIELDS = ("id", "text", "features", "parse", "paragraph", "quotes")
_MAX_METADATA_DEPTH = 50
_FEATURE_NAME = compile_lazily(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def build_document(fields: Mapping[str, Any]) -> Document:
    """Build a document from `id`, the descriptive fields, and `text` or `sentences`.

    Fields have the names and types of JSON Lines. None and blank text count as missing. `authors` and
    `keywords` are lists of strings, or one string. Other fields are ignored. Texts are normalized to NFC.
    `text` is split into sentences by the rules of the language. Raises InvalidDocument at the first invalid
    field.
    """
    if fields.get("id") is None:
        raise InvalidDocument(_describe_missing_id(fields))
    id = _check_id(fields["id"], "id")
    language = _optional_language(fields)
    return Document(
        id=id,
        sentences=_build_sentences(id, fields.get("text"), fields.get("sentences"), language),
        title=_optional_text(fields, "title"),
        date=_optional_date(fields),
        source=_optional_text(fields, "source"),
        url=_optional_word(fields, "url"),
        language=language,
        authors=_optional_texts(fields, "authors"),
        section=_optional_line(fields, "section"),
        keywords=_optional_texts(fields, "keywords"),
        metadata=_build_metadata(fields.get(METADATA)),
    )


def _describe_missing_id(fields: Mapping[str, Any]) -> str:
    """Why a document without an id is refused. Loaders make one of an address, a title or a text."""
    if any(fields.get(name) for name in ("url", "title", "text", "sentences")):
        return "the document has no id: every document needs one, as a string (or see --id)"
    is_blank = any(fields.get(name) is not None for name in ("text", "sentences"))
    text = "its text is empty" if is_blank else "it has no text"
    return (
        f"the document has no id, title or address, and {text}: --mapping text=COLUMN names its text; "
        "--exclude leaves out files of a folder that are no news"
    )


def _build_sentences(id: str, text: Any, entries: Any, language: str | None) -> tuple[Sentence, ...]:
    if text is not None and entries is not None:
        raise InvalidDocument("the document has both text and sentences: leave one of them out")
    if text is not None:
        split = split_numbered_sentences(normalize("NFC", require_string(text, "text")), language)
        _check_length(len(split))
        places = find_places(text, (sentence.text for sentence in split))
        return tuple(
            Sentence(_default_id(id, n), sentence.text, features=features, paragraph=sentence.paragraph)
            for n, (sentence, features) in enumerate(zip(split, places, strict=True))
        )
    if entries is None:
        return ()
    _check_length(len(require_list(entries, "sentences")))
    prefix, is_long = default_id_prefix(id), _is_long(id)
    sentences = tuple(
        [
            _build_sentence(id, position, fields, None if is_long else f"{prefix}{position}")
            for position, fields in enumerate(require_list(entries, "sentences"))
        ]
    )
    _check_unique_ids(sentences)
    return sentences


def _check_length(sentences: int) -> None:
    if sentences > MAX_SENTENCES:
        raise InvalidDocument(
            f"the document has {sentences:,} sentences: split it into documents of at most {MAX_SENTENCES:,}"
        )


def _build_sentence(document_id: str, position: int, fields: Any, default_id: str | None) -> Sentence:
    """Build a sentence. `default_id` is None if it may be too long."""
    if not isinstance(fields, dict):
        raise InvalidDocument(
            f'sentences[{position}] must be an object like {{"text": "…"}}, not {type_name(fields)}'
        )
    id, text, features, parse, paragraph, quotes = map(fields.get, SENTENCE_FIELDS)
    if text is None:
        raise InvalidDocument(f'sentences[{position}] has no text: write "" for an empty sentence')
    # Runs for every sentence of a load: the common case, a text and nothing else, returns early.
    if id is None:
        id = default_id or _default_id(document_id, position)
    elif id != default_id:
        id = _check_id(id, f"sentences[{position}].id")
    source = text
    if type(text) is not str or not text.isascii():
        text = normalize("NFC", require_string(text, f"sentences[{position}].text"))
    if paragraph is not None:
        _check_paragraph(paragraph, f"sentences[{position}].paragraph")
    if features is None and parse is None and quotes is None:
        return Sentence(id, text, paragraph=paragraph)
    return Sentence(
        id,
        text,
        features={} if features is None else _build_features(features, f"sentences[{position}].features"),
        parse=None if parse is None else _build_parse(parse, f"sentences[{position}].parse"),
        paragraph=paragraph,
        quotes=() if quotes is None else _build_quotes(quotes, f"sentences[{position}].quotes", source),
    )


_QUOTE_TEXTS = ("speaker", "name", "cue")


def _build_quotes(entries: Any, name: str, text: str) -> tuple[Quote, ...]:
    """The quotations of a sentence. Their places are those in `text`, the sentence before normalization."""
    is_normal = is_normalized("NFC", text)
    return tuple(
        _build_quote(entry, f"{name}[{n}]", text, is_normal)
        for n, entry in enumerate(require_list(entries, name))
    )


def _build_quote(entry: Any, name: str, text: str, is_normal: bool) -> Quote:
    if not isinstance(entry, dict):
        raise InvalidDocument(
            f'{name} must be an object like {{"start": 0, "end": 9}}, not {type_name(entry)}'
        )
    places: tuple[Any, Any] = entry.get("start"), entry.get("end")
    is_inside = all(type(place) is int and 0 <= place <= len(text) for place in places)
    start, end = places if is_inside else (0, 0)
    if not is_normal:
        start, end = (len(normalize("NFC", text[:place])) for place in (start, end))
    if start >= end:
        raise InvalidDocument(
            f"{name} must have a start and a later end within the {len(text)} characters of the text"
        )
    for field in _QUOTE_TEXTS:
        if entry.get(field) is not None:
            require_string(entry[field], f"{name}.{field}")
    certainty = entry.get("certainty")
    if certainty not in (None, CERTAIN, PROBABLE):
        raise InvalidDocument(f"{name}.certainty must be {CERTAIN!r} or {PROBABLE!r}, not {certainty!r}")
    speaker, said_by, cue = (
        " ".join(normalize("NFC", entry.get(field) or "").split()) or None for field in _QUOTE_TEXTS
    )
    return Quote(start, end, speaker, said_by, cue, certainty)


def _check_paragraph(value: Any, name: str) -> None:
    if type(value) is not int or not 0 <= value <= MAX_PARAGRAPH:
        raise InvalidDocument(
            f"{name} must be an integer from 0 to {MAX_PARAGRAPH}: the number of the sentence's paragraph"
        )


def _check_unique_ids(sentences: Sequence[Sentence]) -> None:
    if len({sentence.id for sentence in sentences}) == len(sentences):
        return
    ids: set[str] = set()
    for sentence in sentences:
        if sentence.id in ids:
            raise InvalidDocument(
                f"sentence id {quote(sentence.id)} is duplicated in the document: "
                "give each sentence its own, or leave the ids out"
            )
        ids.add(sentence.id)


def _build_features(value: Any, name: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise InvalidDocument(f'{name} must be an object like {{"name": 1.5}}, not {type_name(value)}')
    features = {}
    for feature, number in value.items():
        if not _FEATURE_NAME.fullmatch(feature):
            raise InvalidDocument(
                f"{name} has the invalid name {quote(feature)}: "
                "a feature's name must be a letter, then letters, digits and underscores"
            )
        features[feature] = require_number(number, f"{name}.{feature}")
    return features


def _build_parse(value: Any, name: str) -> tuple[ParseWord, ...]:
    words = []
    for position, entry in enumerate(require_list(value, name)):
        if not isinstance(entry, dict):
            raise InvalidDocument(
                f'{name}[{position}] must be an object like {{"word": "…", "head": 0}}, '
                f"not {type_name(entry)}"
            )
        word, head = entry.get("word"), entry.get("head")
        if not isinstance(head, int) or isinstance(head, bool):
            raise InvalidDocument(
                f"{name}[{position}].head must be an integer: the position of another word, or -1 for a root"
            )
        words.append(ParseWord(normalize("NFC", require_string(word, f"{name}[{position}].word")), head))
    _check_tree([word.head for word in words], name)
    return tuple(words)


def _check_tree(heads: Sequence[int], name: str) -> None:
    """Check that every head is a position or -1, and that heads lead from every word to a root."""
    for position, head in enumerate(heads):
        if not -1 <= head < len(heads):
            raise InvalidDocument(
                f"{name}[{position}].head is {head}: it must be from 0 to {len(heads) - 1}, "
                "the position of another word, or -1 for a root"
            )
    leads_to_root = [False] * len(heads)
    for start in range(len(heads)):
        path: list[int] = []
        word = start
        while word != -1 and not leads_to_root[word]:
            # A path without a cycle is no longer than the sentence.
            if len(path) == len(heads):
                raise InvalidDocument(
                    f"the heads of {name}[{start}] form a cycle: they must lead to a root, -1"
                )
            path.append(word)
            word = heads[word]
        for word in path:
            leads_to_root[word] = True


def _check_id(value: Any, name: str) -> str:
    id = require_string(value, name)
    if not id:
        raise InvalidDocument(f"{name} is empty: it needs at least one character")
    if invalid := _INVALID_IN_ID.search(id):
        raise InvalidDocument(
            f"{name} {quote(id)} contains {quote(invalid[0])}: "
            "remove whitespace and control characters from ids, which are single words in run files"
        )
    if len(id.encode()) > MAX_ID_BYTES:
        raise InvalidDocument(f"{name} {quote(id)} is longer than {MAX_ID_BYTES} bytes: shorten it")
    return id


def _default_id(document_id: str, position: int) -> str:
    id = default_sentence_id(document_id, position)
    if _is_long(document_id) and len(id.encode()) > MAX_ID_BYTES:
        raise InvalidDocument(
            f"id {quote(document_id)} is too long for default sentence ids such as <id>.s{position}: "
            f"shorten it to {MAX_ID_BYTES - _SUFFIX_BYTES} bytes, or give the sentences ids"
        )
    return id


def _is_long(document_id: str) -> bool:
    """Whether default sentence ids may be too long. A character takes at most four bytes."""
    return 4 * len(document_id) + _SUFFIX_BYTES > MAX_ID_BYTES


def _optional_string(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    text = require_string(value, name)
    return text if text.strip() else None


def _optional_word(fields: Mapping[str, Any], name: str) -> str | None:
    """A text without blanks around it: with some, an address is no link, and no filter finds a language."""
    text = _optional_string(fields, name)
    return text and text.strip()


def _optional_language(fields: Mapping[str, Any]) -> str | None:
    """The tag of the language, as filters compare it: pt-BR, also for pt_BR, and en for eng."""
    language = _optional_word(fields, "language")
    return language and standardise_language(language)


def _optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    text = _optional_string(fields, name)
    return text and normalize("NFC", text)


def _optional_line(fields: Mapping[str, Any], name: str) -> str | None:
    """A text with single spaces."""
    text = _optional_text(fields, name)
    return text and " ".join(text.split())


def _optional_texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Distinct texts, ignoring case, with single spaces, in order and without blank ones."""
    values = fields.get(name)
    if values is None:
        return ()
    if isinstance(values, str):
        values = [values]
    texts = (
        " ".join(normalize("NFC", require_string(value, f"{name}[{n}]")).split())
        for n, value in enumerate(require_list(values, name))
    )
    return distinct(filter(None, texts))


def _build_metadata(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidDocument(f'metadata must be an object like {{"desk": "Berlin"}}, not {type_name(value)}')
    _check_metadata(value, METADATA, 0)
    return value


def _check_metadata(value: Any, name: str, depth: int) -> None:
    """Raise InvalidDocument for a string that cannot be stored, and for JSON that is nested too deeply."""
    if depth > _MAX_METADATA_DEPTH:
        raise InvalidDocument(f"{METADATA} is nested more than {_MAX_METADATA_DEPTH} deep: flatten it")
    match value:
        case str():
            require_string(value, name)
        case dict():
            for key, inner in value.items():
                require_string(key, f"a key of {name}")
                _check_metadata(inner, f"{name}.{key[:40]}", depth + 1)
        case list():
            for inner in value:
                _check_metadata(inner, name, depth + 1)
        case None | bool():
            pass
        case _:
            require_number(value, name)


def _optional_date(fields: Mapping[str, Any]) -> str | None:
    date = _optional_string(fields, "date")
    if date is None:
        return None
    date = normalise_date(date)
    try:
        parse_date_start(date)
    except ValueError as error:
        raise InvalidDocument(f"date {error}") from None
    return date


def to_fields(document: Document) -> dict[str, Any]:
    """The fields with a value, without default sentence ids."""
    fields: dict[str, Any] = {"id": document.id, **encode_fields(document)}
    fields["sentences"] = [
        _sentence_fields(sentence, default_sentence_id(document.id, n))
        for n, sentence in enumerate(document.sentences)
    ]
    return fields


def to_json_line(document: Document) -> str:
    """The document as a line of JSON Lines, without the line end."""
    return write_json_line(to_fields(document))


def write_json_line(fields: Mapping[str, Any]) -> str:
    """Fields of a document as a line of JSON Lines, without the line end."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def checksum(document: Document) -> str:
    """A digest of 32 hex digits, equal for equal documents on any machine and for any order of features."""
    code = json.dumps(to_fields(document), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return blake2b(code.encode(), digest_size=16).hexdigest()


def _sentence_fields(sentence: Sentence, default_id: str) -> dict[str, Any]:
    fields: dict[str, Any] = {} if sentence.id == default_id else {"id": sentence.id}
    fields["text"] = sentence.text
    if sentence.paragraph is not None:
        fields["paragraph"] = sentence.paragraph
    if sentence.features:
        fields["features"] = dict(sentence.features)
    if sentence.parse is not None:
        fields["parse"] = [{"word": word.word, "head": word.head} for word in sentence.parse]
    if sentence.quotes:
        fields["quotes"] = list(map(quote_fields, sentence.quotes))
    return fields


def quote_fields(quote: Quote) -> dict[str, Any]:
    """A quotation as JSON, without unknown values."""
    return {field: value for field, value in quote._asdict().items() if value is not None}
