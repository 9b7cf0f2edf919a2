"""Reads rankings as JSON, and checks the types of their keys."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from esr.errors import InputError, UsageError, unknown

_OBJECTS = ("params", "priors")
_NAMES = ("model", "context", "candidates")
_LISTS = ("features", "rerank")


def read_json(path: str | Path) -> Any:
    """The contents of a JSON file. Raises InputError with the file's name."""
    try:
        return json.loads(Path(path).read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}", f"not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "not UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise InputError(str(path), "not JSON: nested too deeply, or a number is too long") from error
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error


def check_types(data: Any, keys: Collection[str]) -> Mapping[str, Any]:
    """The JSON of a ranking with these keys, each optional. Raises UsageError for another key or type."""
    if not isinstance(data, Mapping):
        raise UsageError(f"a ranking must be a JSON object, not {type(data).__name__}")
    for key in data:
        if key not in keys:
            raise unknown("ranking key", str(key), keys)
    for key in _OBJECTS:
        if not isinstance(data.get(key, {}), Mapping):
            raise UsageError(f"ranking key {key!r} must be a JSON object, not {data[key]!r}")
    for key in _NAMES:
        is_optional = key != "model"
        if not isinstance(data.get(key, ""), str) and not (is_optional and data[key] is None):
            raise UsageError(f"ranking key {key!r} must be a name, not {data[key]!r}")
    for key in _LISTS:
        value = data.get(key, ())
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            raise UsageError(f"ranking key {key!r} must be a list, not {value!r}")
    return data
