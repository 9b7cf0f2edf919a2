"""Authors and keywords as sources write them: lists of texts or objects, or one text with several in it."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

_NAMES = ("value", "name", "term", "label", "title", "tag", "@value", "text")
"""The keys of objects in lists that have what the object is called; the first one wins."""
_PARAGRAPHS = ("text", "paragraph", "content")
"""The keys of objects in lists that have a paragraph; the first one wins."""
_MAX_LITERAL_CHARS = 100_000
_BY = re.compile(r"^(?:by|von|par|por|di|door)\s+(?=\S)", re.I)
_BETWEEN_AUTHORS = re.compile(r"\s*[;|\n]\s*|\s+(?:and|und|et|y|&)\s+|\s*,\s+(?:and|und)\s+")
_BETWEEN_KEYWORDS = (";", "|", "\n", ",")


def read_list(field: str, value: Any) -> list[str] | None:
    """The texts in a value of `authors` or `keywords`; None if it is neither a text nor a list of texts."""
    if isinstance(value, str):
        inner = _read_literal(value)
        return _split(field, value) if inner is None else read_list(field, inner)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return None
    texts = [_to_text(element) for element in value]
    if any(text is None for text in texts):
        return None
    return [text for text in texts if text]


def read_paragraphs(value: Any) -> str | None:
    """The paragraphs in a list of texts, or of objects with one, as one text; None for any other value."""
    paragraphs = list(map(_to_paragraph, value)) if isinstance(value, list) else []
    return None if not paragraphs or None in paragraphs else "\n\n".join(filter(None, paragraphs))


def is_lossless(value: Any) -> bool:
    """Whether `read_list` leaves nothing out: not so for objects with more than what they are called."""
    elements = value if isinstance(value, list) else [value]
    return not any(isinstance(element, dict) and len(element) > 1 for element in elements)


def _to_text(element: Any) -> str | None:
    if isinstance(element, dict):
        element = next((element[name] for name in _NAMES if isinstance(element.get(name), str)), None)
    return element.strip() if isinstance(element, str) else None


def _to_paragraph(element: Any) -> str | None:
    if isinstance(element, dict):
        element = next((element[name] for name in _PARAGRAPHS if isinstance(element.get(name), str)), None)
    return element.strip() if isinstance(element, str) else None


def _read_literal(text: str) -> list[Any] | None:
    """The list in a cell such as `['a', 'b']`, as pandas writes lists, or in JSON."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > _MAX_LITERAL_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            # Python warns of backslashes in texts that are not its own code.
            warnings.simplefilter("ignore", SyntaxWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _split(field: str, text: str) -> list[str]:
    parts = _split_authors(text) if field == "authors" else _split_keywords(text)
    return [part for part in (part.strip() for part in parts) if part]


def _split_authors(text: str) -> list[str]:
    """`By Jane Doe and John Roe`. A comma separates names only if each part has several words."""
    names = _BETWEEN_AUTHORS.split(_BY.sub("", text.strip()))
    return [part for name in names for part in _split_at_commas(name)]


def _split_at_commas(name: str) -> list[str]:
    parts = [part.strip() for part in name.split(",")]
    return parts if all(len(part.split()) > 1 for part in parts) else [name]


def _split_keywords(text: str) -> list[str]:
    """At the first separator that the text has, of those that are the least likely in a keyword first."""
    separator = next((separator for separator in _BETWEEN_KEYWORDS if separator in text), None)
    return [text] if separator is None else text.split(separator)
