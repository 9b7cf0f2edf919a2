"""What writes an index: the interfaces, what a load reports, and how the index was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import asdict, force_setattr, replace

from esr.analysis import definitions
from esr.analysis.survey import TermSurvey
from esr.documents import Located
from esr.errors import EsrError, InputError


class Description(Struct, frozen=True):
    """How an index was made: the settings that all documents loaded into it share."""

    analyzer: str
    title: bool
    """Whether the terms of a title count once in the context of their document."""
    analyzer_version: int = 0
    """The version of the analyzer's definition that made the terms. 0 becomes that of this esr."""

    def __post_init__(self) -> None:
        if self.analyzer_version == 0:
            force_setattr(self, "analyzer_version", definitions.get(self.analyzer).version)

    @property
    def is_current(self) -> bool:
        """Whether this esr makes the same terms."""
        return self.analyzer_version == definitions.get(self.analyzer).version

    def renewed(self) -> Description:
        """The same with the analyzer's version of this esr."""
        return replace(self, analyzer_version=0)

    def as_dict(self) -> dict[str, Any]:
        """As an index stores it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Description:
        """From what an index stores, which may have more keys. Before format 3 analyzers had no version."""
        return cls(data["analyzer"], data["title"], data.get("analyzer_version", 1))


class LoadReport(Struct):
    """What a load did."""

    documents: int = 0
    sentences: int = 0
    without_sentences: int = 0
    unchanged: int = 0
    set_aside: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    analyzer: str = ""
    terms: TermSurvey | None = None
    """What the terms of the loaded sentences tell about the analyzer."""


class IndexWriter(Protocol):
    """Loads documents into an index. Searches see nothing of a load until it has finished."""

    def load(self, documents: Iterable[Located]) -> LoadReport: ...


class Migration(Protocol):
    """Converts an index to the format of this esr. Searches by the older esr continue meanwhile."""

    def run(self) -> LoadReport:
        """Convert all of it, or nothing that searches see. Continues a migration that was killed."""


def outdated_analyzer(where: str, description: Description) -> str:
    """The message about an index whose terms another version of its analyzer made."""
    version = definitions.get(description.analyzer).version
    return (
        f"{where} was loaded with version {description.analyzer_version} of the analyzer "
        f"{description.analyzer}, this esr has version {version}: run esr migrate"
    )


def content_conflict(where: str, document_id: str) -> InputError:
    """The error for a document to append that the index has with other content."""
    return InputError(
        where,
        f"document {document_id!r} is in the index with other content: "
        "update it with esr append, or load everything again with --if-exists replace",
    )


def sentence_id_conflict(where: str, sentence_id: str, owner: str | None = None) -> InputError:
    """The error for a new sentence with the id of another one, which is of the document `owner` if known."""
    by = "" if owner is None else f" by document {owner!r}"
    return InputError(
        where, f"sentence id {sentence_id!r} is already used{by}: give every sentence a unique id"
    )


def require_documents(report: LoadReport) -> None:
    """Raises EsrError if every document was set aside."""
    if report.set_aside and not report.documents:
        raise EsrError("every document was set aside: nothing was committed")
