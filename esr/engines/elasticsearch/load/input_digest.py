"""What comes in with a load: it tells the load from others, and what the indices must contain in the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from esr.documents import Document, Located
from esr.documents.serialisation import checksum
from esr.engines.elasticsearch.load.verification import IndexContents
from esr.engines.options import SetAside


@dataclass(slots=True)
class InputDigest:
    """Contents and digest of the documents that come in.

    Only a load with the same digest can be resumed: the same documents in the same order.
    """

    contents: IndexContents = field(default_factory=IndexContents)
    digest: Any = field(default_factory=lambda: blake2b(digest_size=16))

    def count(self, documents: Iterable[Located]) -> Iterator[Located]:
        """Passes documents on, and counts them."""
        for located in documents:
            code = checksum(located.document)
            self.digest.update(code.encode())
            self.contents.add(located.document.id, code, len(located.document.sentences))
            yield located

    def discount(self, set_aside: SetAside | None) -> SetAside | None:
        """Makes `set_aside` also take the document out of the contents."""
        if set_aside is None:
            return None

        def set_aside_and_discount(document: Document, problem: str) -> None:
            self.contents.remove(document.id, checksum(document), len(document.sentences))
            set_aside(document, problem)

        return set_aside_and_discount

    def as_dict(self) -> dict[str, Any]:
        return {**self.contents.as_dict(), "digest": self.digest.hexdigest()}


def entry_version(entry: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Differs for document entries of different content or enrichment."""
    return entry["checksum"], sorted(entry.get("enriched", ()))
