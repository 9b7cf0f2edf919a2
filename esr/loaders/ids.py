"""Ids of documents, from what a source offers as one."""

from __future__ import annotations

import os
import re
from pathlib import PurePath, PurePosixPath

from esr.errors import InputError
from esr.loaders.format import Source
from esr.loaders.paths import display_name

_WHITESPACE = re.compile(r"\s+")


def make_id(text: str) -> str:
    """The text as an id. Ids are single words in run files, so blanks become "_"."""
    return _WHITESPACE.sub("_", text.strip())


def make_id_from_path(source: Source) -> str:
    """The id of a file's only document: its `id_path` without the extension."""
    return make_id(str(PurePosixPath(source.id_path).with_suffix("")))


def make_id_path(path: str, base: str | None = None) -> str:
    """The path of a file that its id is made of: the same, whatever folder was named to find the file.

    It begins at the root of the file system, or at the folder `base`, so that it stays the same when that
    folder is moved. Links to folders are resolved; a link to a file is a file of its own. Raises InputError
    if the file is not below `base`.
    """
    folder, name = os.path.split(path)
    if base is None:
        return PurePath(os.path.realpath(folder), name).as_posix().lstrip("/")
    # A link in the base may lead out of it: then the path through that link counts.
    for resolve in (os.path.realpath, os.path.abspath):
        below = PurePath(os.path.relpath(os.path.join(resolve(folder), name), resolve(base)))
        if below.parts[0] != os.pardir:
            return below.as_posix()
    raise InputError(display_name(path), f"is not in the folder of --base, {display_name(base)}")
