"""What comes in with a load, so that it can be told from other loads, and compared with what is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from esr.documents import Document, Located
from esr.documents.serialisation import checksum
from esr.engines.elasticsearch.load.verifying import Contents
from esr.engines.options import SetAside


@dataclass(slots=True)
class Planned:
    """What comes in, as it comes in: a load that is taken up again must have the same, in the same order."""

    contents: Contents = field(default_factory=Contents)
    digest: Any = field(default_factory=lambda: blake2b(digest_size=16))

    def counted(self, documents: Iterable[Located]) -> Iterator[Located]:
        for located in documents:
            code = checksum(located.document)
            self.digest.update(code.encode())
            self.contents.add(located.document.id, code, len(located.document.sentences))
            yield located

    def leaving_out(self, set_aside: SetAside | None) -> SetAside | None:
        """What is set aside does not come in after all."""
        if set_aside is None:
            return None

        def told(document: Document, problem: str) -> None:
            self.contents.take_away(document.id, checksum(document), len(document.sentences))
            set_aside(document, problem)

        return told

    def as_dict(self) -> dict[str, Any]:
        return {**self.contents.as_dict(), "digest": self.digest.hexdigest()}


def content_of(entry: Mapping[str, Any]) -> tuple[str, list[str]]:
    """What tells a document's entry from one of other content, or enriched otherwise."""
    return entry["checksum"], sorted(entry.get("enriched", ()))
