"""JSON Lines: one document per line, with the fields that `esr.documents.validate` describes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from esr.loaders import json_layout, json_stream
from esr.loaders.format import Format, Malformed, ReadResult, Remark, Source, register
from esr.loaders.json_decoder import DECODER, describe_invalid_value
from esr.loaders.utf8 import read_lines


def read(source: Source) -> Iterator[ReadResult | Remark]:
    """A record per line, or more in an envelope; blank lines are skipped.

    A line that is not a JSON object is malformed.
    """
    for number, line in read_lines(source):
        if line.strip():
            where = f"{source.name}:{number}"
            try:
                value = _parse_object(line)
            except _NotAnObject as error:
                yield Malformed(where, str(error))
            else:
                yield from json_stream.read_value(where, value)


class _NotAnObject(Exception):
    """A line is not a JSON object."""


def _parse_object(line: str) -> dict[str, Any]:
    try:
        value = DECODER.decode(line)
    except json.JSONDecodeError as error:
        column = min(error.pos, len(line.rstrip())) + 1
        raise _NotAnObject(
            f"broken JSON at column {column}: {error.msg}; every line must be one complete JSON object",
        ) from None
    except (RecursionError, ValueError) as error:
        raise _NotAnObject(describe_invalid_value(error)) from None
    if not isinstance(value, dict):
        raise _NotAnObject(
            'not a JSON object: every line must be one document, like {"id": "…", "text": "…"}'
        )
    return value


FORMAT = register(
    Format(
        name="jsonl",
        description="JSON Lines: one document per line, with id and text or sentences",
        suffixes=(".jsonl", ".ndjson", ".json"),
        sniff=lambda head: json_layout.is_json(head) and json_layout.is_one_per_line(head),
        read=read,
        is_text=True,
        any_names=True,
    )
)
