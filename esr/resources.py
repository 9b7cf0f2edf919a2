"""The files of `index_templates/`: what is sent to Elasticsearch, and what both engines share."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


def read_text(path: str) -> str:
    """A file's text, by its path below `index_templates/`."""
    return files("index_templates").joinpath(path).read_text("utf-8")


@cache
def load_json(path: str) -> Any:
    """A JSON file's content. Shared: do not change it."""
    return json.loads(read_text(path))


def list_names(folder: str, suffix: str) -> list[str]:
    """The files of a folder, without their suffix, sorted."""
    entries = files("index_templates").joinpath(folder).iterdir()
    return sorted(f.name.removesuffix(suffix) for f in entries if f.name.endswith(suffix))
