"""JSON Lines: a document a line, with the fields that `esr.documents.validate` describes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from esr.loaders.base import Format, Malformed, Record, Source, register
from esr.loaders.utf8 import lines


def read(source: Source) -> Iterator[Record | Malformed]:
    """A record of each line; blank lines are passed over. A line that is no JSON object is malformed."""
    for number, line in lines(source):
        if line.strip():
            where = f"{source.name}:{number}"
            try:
                yield Record(where, _object(line))
            except _NoObject as error:
                yield Malformed(where, str(error))


class _NoObject(Exception):
    """A line is no JSON object."""


def _object(line: str) -> dict[str, Any]:
    try:
        value = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        column = min(error.pos, len(line.rstrip())) + 1
        raise _NoObject(
            f"broken JSON at column {column}: {error.msg}; every line must be one whole JSON object",
        ) from None
    except RecursionError:
        raise _NoObject("the JSON is nested too deeply to be a document") from None
    except _Refused as error:
        raise _NoObject(f"broken JSON: {error} is not a number there, leave it out") from None
    except ValueError:  # Python's limit of 4,300
        raise _NoObject("broken JSON: a number has too many digits, shorten it") from None
    if not isinstance(value, dict):
        raise _NoObject('not a JSON object: every line must be one document, like {"id": "…", "text": "…"}')
    return value


class _Refused(ValueError):
    """NaN or an infinity: Python would take it, JSON does not know it."""


def _refuse(constant: str) -> NoReturn:
    raise _Refused(constant)


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_START = re.compile(rb'\{\s*["}]')

FORMAT = register(
    Format(
        name="jsonl",
        description="JSON Lines: a document a line, with id and text or sentences",
        suffixes=(".jsonl", ".ndjson"),
        sniff=lambda head: bool(_START.match(head)),
        read=read,
    )
)
