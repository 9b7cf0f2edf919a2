"""The JSON of requests and answers."""

from __future__ import annotations

from typing import Any

import msgspec
from elasticsearch.serializer import JsonSerializer

from esr.engines.json_reader import read_json


class FastJsonSerializer(JsonSerializer):
    """Writes requests in a fifth of the time of Python's own encoder, parses answers in less than half."""

    def json_dumps(self, data: Any) -> bytes:
        try:
            return msgspec.json.encode(data)
        except (TypeError, UnicodeEncodeError):  # what only Python writes, such as half a surrogate pair
            return super().json_dumps(data)

    def json_loads(self, data: bytes) -> Any:
        return read_json(data)
