"""JSON Lines: a document a line, with the fields that `esr.documents.validate` describes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from esr.errors import InputError
from esr.loaders.base import Format, Record, Source, register
from esr.loaders.utf8 import lines


def read(source: Source) -> Iterator[Record]:
    """A record of each line; blank lines are passed over. Raises InputError at one that is no JSON object."""
    for number, line in lines(source):
        if line.strip():
            where = f"{source.name}:{number}"
            yield Record(where, _object(line, where))


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise InputError(
            where,
            f"broken JSON at column {error.colno}: {error.msg}; every line must be one whole JSON object",
        ) from None
    except RecursionError:
        raise InputError(where, "the JSON is nested too deeply to be a document") from None
    except ValueError as error:  # a number that JSON or Python does not take
        raise InputError(where, f"broken JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(
            where, 'not a JSON object: every line must be one document, like {"id": "…", "text": "…"}'
        )
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON, leave it out")


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
