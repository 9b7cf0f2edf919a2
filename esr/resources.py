"""The files of `index_templates/`, which are sent to Elasticsearch or shared by both engines."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent.with_name("index_templates")  # importlib.resources takes 6 ms to import


def read_text(path: str) -> str:
    """Read a text file, by its path below `index_templates/`."""
    return (_FOLDER / path).read_text("utf-8")


@cache
def load_json(path: str) -> Any:
    """Read a JSON file. The result is shared: do not change it."""
    return json.loads(read_text(path))


def list_names(folder: str, suffix: str) -> list[str]:
    """The names of a folder's files with this suffix, without it, sorted."""
    names = (file.name for file in (_FOLDER / folder).iterdir())
    return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))
