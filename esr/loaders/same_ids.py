"""Makes one document of those in a delivery that share an id, as overlapping feeds and repeated exports do.

Every command that writes an index reads its documents through this, so both engines see each id once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from hashlib import blake2b
from tempfile import TemporaryFile

from msgspec.json import Encoder

from esr.documents import Document, Located
from esr.documents.serialisation import to_fields
from esr.documents.validate import build_document
from esr.loaders.key_store import KeyStore

POLICIES: dict[str, str] = {
    "refuse": "an error, or a line in the file of --bad-documents",
    "last": "load the last one, as when a publisher sends corrections",
}

_MANY_VERSIONS = 10
"""So many documents that were replaced by others with their id are reported with the id."""
_ENCODER = Encoder(order="deterministic")

Reject = Callable[[Located, str], None]
"""Called with a document that is refused, and the reason. It may raise InputError."""


class SameIdFilter:
    """Passes on one document for each id. Use one per load.

    A document that repeats an earlier one with the same id and content is left out. If the contents differ,
    the policy decides.
    """

    def __init__(self, policy: str, reject: Reject) -> None:
        self._policy = policy
        self._reject = reject
        self._repeated = self._superseded = 0
        self._first_repeated = self._first_superseded = ""
        self._most_superseded = (0, "")

    def filter(self, documents: Iterable[Located]) -> Iterator[Located]:
        """The documents, one for each id. `last` reads all of them before it yields the first."""
        select = self._keep_last if self._policy == "last" else self._refuse_later
        with closing(KeyStore()) as keys:
            yield from select(documents, keys)

    def notes(self) -> list[str]:
        """The lines about shared ids for the report of a load."""
        notes = []
        if self._repeated:
            notes.append(
                f"{self._repeated:,} documents repeat the id and the content of an earlier one and were left "
                f"out: the first is {self._first_repeated}"
            )
        if self._superseded:
            notes.append(
                f"{self._superseded:,} documents were replaced by a later one with the same id: "
                f"the first is {self._first_superseded}"
            )
        count, id = self._most_superseded
        if count >= _MANY_VERSIONS:
            notes.append(
                f"{count:,} of them have the id {id!r}: if these are different documents, load them again "
                "with --id content"
            )
        return notes

    def _refuse_later(self, documents: Iterable[Located], keys: KeyStore) -> Iterator[Located]:
        for located in documents:
            where, document = located
            content = _hash_content(document)
            existing = keys.insert(document.id.encode(), f"{content} {where}")
            if existing is None:
                yield located
                continue
            first_content, _, first = existing.partition(" ")
            if first_content == content:
                self._count_repeated(located)
            else:
                self._reject(
                    located,
                    f"document id {document.id!r} is duplicated: first used at {first} with other content "
                    "(--same-id last loads the last one; if these are different documents, --id content "
                    "makes other ids)",
                )

    def _keep_last(self, documents: Iterable[Located], keys: KeyStore) -> Iterator[Located]:
        # Only the end of a delivery tells which document is the last, so all of them go through a file.
        with TemporaryFile("w+", encoding="utf-8", prefix="esr-same-id-") as spool:
            lines = 0
            for located in documents:
                key, content = located.document.id.encode(), _hash_content(located.document)
                existing = keys.insert(key, f"{content} 0 {lines}")
                if existing is not None and existing.partition(" ")[0] == content:
                    self._count_repeated(located)
                    continue
                if existing is not None:
                    count = int(existing.split(" ")[1]) + 1
                    keys.replace(key, f"{content} {count} {lines}")
                    self._superseded += 1
                    self._most_superseded = max(self._most_superseded, (count, located.document.id))
                    self._first_superseded = self._first_superseded or _describe(located)
                spool.write(json.dumps([located.where, to_fields(located.document)]) + "\n")
                lines += 1
            spool.seek(0)
            for number, line in enumerate(spool):
                where, fields = json.loads(line)
                if (keys.find(fields["id"].encode()) or "").endswith(f" {number}"):
                    yield Located(where, build_document(fields))

    def _count_repeated(self, located: Located) -> None:
        self._repeated += 1
        self._first_repeated = self._first_repeated or _describe(located)


def _describe(located: Located) -> str:
    return f"{located.document.id} at {located.where}"


def _hash_content(document: Document) -> str:
    """Equal for equal documents, and three times as fast as a checksum, which is for what is stored."""
    return blake2b(_ENCODER.encode(document), digest_size=16).hexdigest()
