"""A document out of the fields that a source gave for it, checked: the same checks for every loader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from esr.documents.dates import instant, tidy
from esr.documents.document import Document, ParseWord, Sentence, default_sentence_id, default_start
from esr.documents.splitter import split

# Elasticsearch takes no longer `_id`.
MAX_ID_BYTES = 512
# What `.s<n>` adds to a document's id is never longer than this.
_SUFFIX_BYTES = 12

# Runs and judgements are lines of words, so an id with a blank in it would break them.
_UNFIT_FOR_ID = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_SENTENCE = ("id", "text", "features", "parse")
_FEATURE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_KINDS: dict[type, str] = {
    bool: "true or false",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
    type(None): "null",
}


class Invalid(ValueError):
    """These fields make no document. The message says which field is wrong and what it must be."""


def document(fields: Mapping[str, Any]) -> Document:
    """The document of these fields: `id, title, date, source, url, language` and `text` or `sentences`.

    The fields are named and shaped as in JSON Lines. A field that is None or missing is not known, as
    is a title, date, source, url or language of blanks only; other fields are passed over. `text` is
    split. Raises Invalid at the first field that is wrong.
    """
    if fields.get("id") is None:
        raise Invalid("the document has no id: give every document one, as a string")
    id = _id(fields["id"], "id")
    return Document(
        id=id,
        sentences=_sentences(id, fields.get("text"), fields.get("sentences")),
        title=_known(fields, "title"),
        date=_date(fields),
        source=_known(fields, "source"),
        url=_known(fields, "url"),
        language=_known(fields, "language"),
    )


def _sentences(id: str, text: Any, given: Any) -> tuple[Sentence, ...]:
    if text is not None and given is not None:
        raise Invalid("the document has both text and sentences: leave one of them out")
    if text is not None:
        texts = split(_string(text, "text"))
        sentences = tuple(Sentence(_default_id(id, n), text) for n, text in enumerate(texts))
    elif given is not None:
        start, is_long = default_start(id), _is_long(id)
        sentences = tuple(
            [
                _sentence(id, position, fields, None if is_long else f"{start}{position}")
                for position, fields in enumerate(_list(given, "sentences"))
            ]
        )
        _no_id_twice(sentences)
    else:
        sentences = ()
    return sentences


def _sentence(document_id: str, position: int, fields: Any, usual: str | None) -> Sentence:
    """`usual` is the default id, None where it may be too long."""
    if not isinstance(fields, dict):
        raise Invalid(f'sentences[{position}] must be an object like {{"text": "…"}}, not {_kind(fields)}')
    id, text, features, parse = map(fields.get, _SENTENCE)
    if text is None:
        raise Invalid(f'sentences[{position}] has no text: write "" for a sentence without words')
    # A load comes by here for each sentence: the usual one, with no more than a text, is made at once.
    if id is None:
        id = usual or _default_id(document_id, position)
    elif id != usual:
        id = _id(id, f"sentences[{position}].id")
    if type(text) is not str or not text.isascii():
        text = _string(text, f"sentences[{position}].text")
    if features is None and parse is None:
        return Sentence(id, text)
    return Sentence(
        id,
        text,
        features={} if features is None else _features(features, f"sentences[{position}].features"),
        parse=None if parse is None else _parse(parse, f"sentences[{position}].parse"),
    )


def _no_id_twice(sentences: Sequence[Sentence]) -> None:
    if len({sentence.id for sentence in sentences}) == len(sentences):
        return
    seen: set[str] = set()
    for sentence in sentences:
        if sentence.id in seen:
            raise Invalid(
                f"two sentences of the document have the id {_short(sentence.id)}: "
                "give each one its own, or leave the ids out"
            )
        seen.add(sentence.id)


def _features(value: Any, name: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise Invalid(f'{name} must be an object like {{"name": 1.5}}, not {_kind(value)}')
    features = {}
    for feature, number in value.items():
        if not _FEATURE_NAME.fullmatch(feature):
            raise Invalid(
                f"{name} has the name {_short(feature)}: "
                "a feature's name must be a letter, then letters, digits and underscores"
            )
        features[feature] = _number(number, f"{name}.{feature}")
    return features


def _parse(value: Any, name: str) -> tuple[ParseWord, ...]:
    words = []
    for position, entry in enumerate(_list(value, name)):
        if not isinstance(entry, dict):
            raise Invalid(
                f'{name}[{position}] must be an object like {{"word": "…", "head": 0}}, not {_kind(entry)}'
            )
        word, head = entry.get("word"), entry.get("head")
        if not isinstance(head, int) or isinstance(head, bool):
            raise Invalid(
                f"{name}[{position}].head must be a whole number: the position of another word, or -1"
            )
        words.append(ParseWord(_string(word, f"{name}[{position}].word"), head))
    _check_tree([word.head for word in words], name)
    return tuple(words)


def _check_tree(heads: Sequence[int], name: str) -> None:
    """Every head is a word or -1, and from every word the heads lead to a root."""
    for position, head in enumerate(heads):
        if not -1 <= head < len(heads):
            raise Invalid(
                f"{name}[{position}].head is {head}: it must be from 0 to {len(heads) - 1}, "
                "the position of another word, or -1 for a root"
            )
    leads_to_root = [False] * len(heads)
    for start in range(len(heads)):
        way: list[int] = []
        word = start
        while word != -1 and not leads_to_root[word]:
            # A way without a circle is no longer than the sentence.
            if len(way) == len(heads):
                raise Invalid(
                    f"the heads of {name}[{start}] go round in a circle: they must lead to a root, -1"
                )
            way.append(word)
            word = heads[word]
        for word in way:
            leads_to_root[word] = True


def _id(value: Any, name: str) -> str:
    id = _string(value, name)
    if not id:
        raise Invalid(f"{name} is empty: give it at least one character")
    if unfit := _UNFIT_FOR_ID.search(id):
        raise Invalid(
            f"{name} {_short(id)} has {_short(unfit[0])} in it: "
            "an id stands in run files as one word, so it must have no whitespace or control character"
        )
    if len(id.encode()) > MAX_ID_BYTES:
        raise Invalid(f"{name} {_short(id)} is longer than {MAX_ID_BYTES} bytes: shorten it")
    return id


def _default_id(document_id: str, position: int) -> str:
    id = default_sentence_id(document_id, position)
    if _is_long(document_id) and len(id.encode()) > MAX_ID_BYTES:
        raise Invalid(
            f"id {_short(document_id)} leaves no room for its sentences' ids, such as <id>.s{position}: "
            f"shorten it to {MAX_ID_BYTES - _SUFFIX_BYTES} bytes, or give the sentences ids"
        )
    return id


def _is_long(document_id: str) -> bool:
    """Whether its sentences' default ids may be too long. No character takes more than four bytes."""
    return 4 * len(document_id) + _SUFFIX_BYTES > MAX_ID_BYTES


def _known(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    text = _string(value, name)
    return text if text.strip() else None


def _date(fields: Mapping[str, Any]) -> str | None:
    date = _known(fields, "date")
    if date is None:
        return None
    date = tidy(date)
    try:
        instant(date)
    except ValueError as error:
        raise Invalid(f"date {error}") from None
    return date


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{name} must be a string, not {_kind(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = value[error.start]
            raise Invalid(
                f"{name} has {half!r} in it, half a character (a lone surrogate): it cannot be stored"
            ) from None
    return value


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Invalid(f"{name} must be a number, not {_kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise Invalid(f"{name} must be a finite number of at most 1.8e308")
    return number


def _list(value: Any, name: str) -> Iterable[Any]:
    if not isinstance(value, list):
        raise Invalid(f"{name} must be a list, not {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _short(text: str) -> str:
    """The text as a message shows it: quoted, strange characters escaped, not too long."""
    return repr(text if len(text) <= 60 else text[:59] + "…")
