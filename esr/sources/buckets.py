"""S3 buckets: a file for each object. An object has changed if its ETag or its size has changed.

Files of deleted objects are deleted.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from esr.plugin import (
    SETTLED_SECONDS,
    EsrError,
    FetchReport,
    UsageError,
    read_state,
    to_one_line,
    write_file,
    write_state,
)
from esr.plugin.provisional import FileFilter, hash64, import_lazily, is_hidden, require

if TYPE_CHECKING:
    import boto3
    from botocore import config as botocore_config
    from botocore import exceptions as botocore_errors
else:
    boto3 = import_lazily("boto3")
    botocore_config = import_lazily("botocore.config")
    botocore_errors = import_lazily("botocore.exceptions")

_URL = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")
_CHUNK_BYTES = 2**20
_BOTH_FILE_AND_FOLDER = (FileExistsError, NotADirectoryError, IsADirectoryError)
"""The errors for a key that is also the folder of another key."""


@dataclass(frozen=True)
class BucketOptions:
    """`max_files` is a limit per run. Only files that the filter accepts are fetched."""

    files: FileFilter
    max_files: int = 1000
    max_seconds: float = 30.0


class _KnownObjects(Struct):
    """The ETag and the size in bytes of each object in the folder, by bucket and key.

    `failed` are those of objects that could not be fetched. Later runs begin with the others: a thousand
    archived objects would otherwise be all that a run asks for.
    """

    objects: dict[str, tuple[str, int]] = {}
    failed: dict[str, tuple[str, int]] = {}


class Buckets:
    """The buckets of one source, or parts of them, with the folder of their objects."""

    def __init__(self, urls: Sequence[str], folder: Path, options: BucketOptions) -> None:
        """Raises UsageError."""
        self.folder = folder
        self._options = options
        self._places = {url: _parse_url(url) for url in urls}

    def fetch(self, target: Path | None = None) -> FetchReport:
        """Fetch new and changed objects, as `Fetcher` says. A dry run only counts them."""
        require("a bucket of S3", "boto3")
        state = read_state(self.folder, _KnownObjects)
        report = FetchReport(len(self._places))
        client = self._connect()
        listed, silent = self._list(client, report)
        for name in [*state.objects]:
            if name not in listed and not name.startswith(silent):
                del state.objects[name]
                if target is None:
                    (self.folder / name).unlink(missing_ok=True)
        due = {
            name: listed_object
            for name, listed_object in listed.items()
            if listed_object.version != state.objects.get(name)
        }
        state.failed = {name: v for name, v in state.failed.items() if name in due and due[name].version == v}
        oldest_first = sorted(due, key=lambda name: (name in state.failed, due[name].modified))
        report.unchanged += len(listed) - len(due)
        report.left += max(0, len(due) - self._options.max_files)
        chosen = {name: due[name] for name in oldest_first[: self._options.max_files]}
        if target is not None:
            report.changed += sum(name in state.objects for name in chosen)
            report.new += sum(name not in state.objects for name in chosen)
            return report
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._download(client, chosen, state, report)
            finally:  # what a stopped run has fetched is kept
                write_state(self.folder, state, time.time())
        except OSError as error:
            raise EsrError(f"cannot write to {self.folder}: {error.strerror or error}") from None
        return report

    def _list(self, client: Any, report: FetchReport) -> tuple[dict[str, _Object], tuple[str, ...]]:
        """The objects by bucket and key, and the prefixes that could not be listed."""
        listed: dict[str, _Object] = {}
        silent = []
        for url, (bucket, prefix) in self._places.items():
            try:
                pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
                for entry in (entry for page in pages for entry in page.get("Contents", ())):
                    entry_object = _Object(
                        bucket, entry["Key"], entry["ETag"], entry["Size"], entry["LastModified"]
                    )
                    if not entry_object.is_below(prefix) or not self._options.files.accepts(entry_object.key):
                        continue
                    if entry_object.is_file_name():
                        listed[entry_object.name] = entry_object
                    else:
                        key = to_one_line(entry_object.key)
                        report.problems.append(f"s3://{bucket}/{key}: is no name of a file")
            except (botocore_errors.BotoCoreError, botocore_errors.ClientError) as error:
                report.failed.append(f"{url}: {to_one_line(error)}")
                silent.append(f"{bucket}/{prefix}")
        return listed, tuple(silent)

    def _download(
        self, client: Any, chosen: Mapping[str, _Object], state: _KnownObjects, report: FetchReport
    ) -> None:
        for name, listed in chosen.items():
            path = self.folder / name
            try:
                answer = client.get_object(Bucket=listed.bucket, Key=listed.key, IfMatch=listed.etag)
                with closing(answer["Body"]) as body:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_file(path, _read(body), listed.modified)
            except (
                botocore_errors.BotoCoreError,
                botocore_errors.ClientError,
                *_BOTH_FILE_AND_FOLDER,
            ) as error:
                report.problems.append(f"s3://{name}: {to_one_line(error)}")
                state.failed[name] = listed.version
                continue
            if name in state.objects:
                report.changed += 1
            else:
                report.new += 1
            state.objects[name] = listed.version
            state.failed.pop(name, None)

    def _connect(self) -> Any:
        """A client with the credentials, region and endpoint that boto3 finds. Raises UsageError."""
        seconds = self._options.max_seconds
        try:
            return boto3.client(
                "s3",
                config=botocore_config.Config(
                    connect_timeout=seconds, read_timeout=seconds, retries={"mode": "standard"}
                ),
            )
        except (botocore_errors.BotoCoreError, ValueError) as error:
            raise UsageError(f"the settings of AWS are wrong: {to_one_line(error)}") from None


@dataclass(frozen=True)
class _Object:
    bucket: str
    key: str
    etag: str
    size: int
    last_modified: Any

    @property
    def name(self) -> str:
        """Its path in the folder."""
        return f"{self.bucket}/{self.key}"

    @property
    def version(self) -> tuple[str, int]:
        return self.etag, self.size

    @property
    def modified(self) -> float:
        """The modification time of its file. S3 gives seconds; the ETag separates versions of one second."""
        part = hash64(self.etag) % 10**6 / 10**6
        return min(float(self.last_modified.timestamp()), time.time() - SETTLED_SECONDS - 1) + part

    def is_below(self, prefix: str) -> bool:
        """Whether it is in this folder of the bucket, and neither hidden nor a folder."""
        inside = not prefix or self.key == prefix or self.key.startswith(f"{prefix.rstrip('/')}/")
        return inside and not self.key.endswith("/") and not any(map(is_hidden, self.key.split("/")))

    def is_file_name(self) -> bool:
        """Whether the key is a path inside the folder: one with `..` is not."""
        parts = self.key.split("/")
        return not any(part in ("", ".", "..") or len(part.encode()) > 200 for part in parts) and (
            "\\" not in self.key and "\0" not in self.key
        )


def _parse_url(url: str) -> tuple[str, str]:
    """Bucket and prefix. Raises UsageError."""
    match = _URL.fullmatch(url)
    if not match:
        raise UsageError(f"{url!r} is no bucket: write s3://bucket/prefix")
    return match[1], match[2] or ""


def _read(body: Any) -> Iterator[bytes]:
    while chunk := body.read(_CHUNK_BYTES):
        yield chunk
