"""JSON Lines: one document per line, with the fields that `esr.documents.validate` describes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from esr.loaders.format import Format, Malformed, Record, Source, register
from esr.loaders.utf8 import read_lines


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record per line; blank lines are skipped. A line that is not a JSON object is malformed."""
    for number, line in read_lines(source):
        if line.strip():
            where = f"{source.name}:{number}"
            try:
                yield Record(where, _parse_object(line))
            except _NotAnObject as error:
                yield Malformed(where, str(error))


class _NotAnObject(Exception):
    """A line is not a JSON object."""


def _parse_object(line: str) -> dict[str, Any]:
    try:
        value = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        column = min(error.pos, len(line.rstrip())) + 1
        raise _NotAnObject(
            f"broken JSON at column {column}: {error.msg}; every line must be one complete JSON object",
        ) from None
    except RecursionError:
        raise _NotAnObject("the JSON is nested too deeply for a document: flatten it") from None
    except _InvalidConstant as error:
        raise _NotAnObject(f"broken JSON: {error} is not a JSON number, leave it out") from None
    except ValueError:  # Python's limit of 4,300 digits
        raise _NotAnObject("broken JSON: a number has too many digits, shorten it") from None
    if not isinstance(value, dict):
        raise _NotAnObject(
            'not a JSON object: every line must be one document, like {"id": "…", "text": "…"}'
        )
    return value


class _InvalidConstant(ValueError):
    """NaN or an infinity, which Python accepts and JSON does not have."""


def _reject_constant(constant: str) -> NoReturn:
    raise _InvalidConstant(constant)


_DECODER = json.JSONDecoder(parse_constant=_reject_constant)
_START = re.compile(rb'\{\s*["}]')

FORMAT = register(
    Format(
        name="jsonl",
        description="JSON Lines: one document per line, with id and text or sentences",
        suffixes=(".jsonl", ".ndjson"),
        sniff=lambda head: bool(_START.match(head)),
        read=read,
        any_names=True,
    )
)
