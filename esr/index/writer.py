"""What writes an index: the interfaces, what a load reports, and how the index was made.

The options of a load.

A delivery: documents added to an index after its load, or removed from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import asdict, force_setattr, replace

from esr.errors import EsrError, InputError
from esr.index.generations import DEFAULT_KEEP
from esr.plans.plan import Mixture
from esr.text.analyzer import DEFAULT_ANALYZER, TermSurvey, get_definition
from esr.text.document import Document, Located


class Description(Struct, frozen=True):
    """How an index was made: the settings that all documents loaded into it share."""

    analyzer: str
    title: bool
    """Whether the terms of a title count once in the context of their document."""
    analyzer_version: int = 0
    """The version of the analyzer's definition that made the terms. 0 becomes that of this esr."""

    def __post_init__(self) -> None:
        if self.analyzer_version == 0:
            force_setattr(self, "analyzer_version", get_definition(self.analyzer).version)

    @property
    def is_current(self) -> bool:
        """Whether this esr makes the same terms."""
        return self.analyzer_version == get_definition(self.analyzer).version

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
    version = get_definition(description.analyzer).version
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


IF_EXISTS = {
    "fail": "stop if the index already exists",
    "replace": "load a new generation, then switch to it in one step",
    "append": "add to the existing index",
}

DEFAULT_WORKERS = 2
SetAside = Callable[[Document, str], None]
"""Called with a document that is set aside, and the reason."""


class LoadOptions(Struct, frozen=True):
    """How to load.

    `analyzer` and `title` default to those of the index when appending. Else `choose_analyzer` is asked for
    the analyzer, before the first document is read. `keep` is how many generations that were served before
    are kept. `resume` continues an interrupted load, if there is one. `set_aside` is
    called with each document that the engine cannot take, and the reason; without it, such a document
    stops the load.

    The rest is for Elasticsearch alone. `source_bytes` of JSON Lines and plain text are to come, 0 if that is
    not known: a load that has no room for them does not begin. `slice` (i, n) sends the i-th of n slices of
    the documents; the slice that finishes last switches to the new generation. `on_progress` is called with
    how many more documents have been sent, and the number of all. Searches by `precomputed_mixture` are
    faster. With `merge`, the segments of the new indices are merged before these are served.
    """

    if_exists: str = "fail"
    analyzer: str | None = None
    title: bool | None = None
    shards: int | None = None
    keep: int = DEFAULT_KEEP
    resume: bool = False
    slice: tuple[int, int] | None = None
    workers: int = DEFAULT_WORKERS
    set_aside: SetAside | None = None
    replicas: int | None = None
    on_progress: Callable[[int, int], None] = lambda sent, total: None
    precomputed_mixture: Mixture | None = None
    source_bytes: int = 0
    merge: bool = False
    choose_analyzer: Callable[[], str] = lambda: DEFAULT_ANALYZER


class DeliveryReport(Struct):
    """What a delivery did. `missing` are the ids to remove that the index does not have."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    missing: list[str] = field(default_factory=list)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def has_changes(self) -> bool:
        """Whether the delivery changes the index."""
        return bool(self.added or self.changed or self.removed)


FindIds = Callable[[], Iterable[str]]


def no_ids() -> Iterable[str]:
    """Nothing to remove."""
    return ()


class Delivery(Protocol):
    """Applies a delivery to an index in one step, or not at all. Methods raise EsrError only."""

    def append(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        """Add documents, and replace those that the index has with other content.

        Documents that the index already has unchanged are skipped, so a delivery may be repeated. New and
        changed documents follow those that stay, in the order of the delivery. Each id comes once:
        `esr.loaders.ids` sees to it.

        `find_removed` is called when all documents have been read. The documents with the ids that it gives,
        of which none is in the delivery, are removed in the same step.
        """

    def compare(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        """The counts that `append` would report; nothing is written."""

    def remove(self, ids: Iterable[str]) -> DeliveryReport:
        """Remove the documents with these ids. An id that the index does not have is not an error."""
