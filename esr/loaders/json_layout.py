"""Tells by its first bytes whether JSON has one object a line, which is JSON Lines, or another layout."""

from __future__ import annotations

import json
import re

from esr.loaders.envelopes import is_envelope_name

_OBJECT = re.compile(rb'\{\s*["}]')
_ARRAY = re.compile(rb'\[\s*(?:\{\s*["}]|\]\s*$)')
_SHORT = rb'(?:"[^"\\]*"|[\w.+-]+|\{[^{}\[\]]*\})'
# An object in which only short values precede what may be its documents.
_ENVELOPE = re.compile(rb'\{\s*(?:"\w*"\s*:\s*%b\s*,\s*)*"([\w@]+)"\s*:\s*[\[{]' % _SHORT)
# The first line of an object that a program has laid out over several lines.
_OPEN_LINE = re.compile(rb"\{(?:.*[\[{,:])?\s*$")


def is_json(head: bytes) -> bool:
    """Whether these bytes begin an object or an array of objects."""
    return bool(_OBJECT.match(head) or _ARRAY.match(head))


def is_one_per_line(head: bytes) -> bool:
    """Whether these bytes of JSON begin one object a line. The first line may be longer than they are."""
    if head.startswith(b"["):
        return False
    line, end, _ = head.partition(b"\n")
    if end and not _is_complete(line):
        return not _OPEN_LINE.match(line)
    envelope = _ENVELOPE.match(head)
    return envelope is None or not is_envelope_name(envelope[1].decode("utf-8", "replace"))


def _is_complete(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
