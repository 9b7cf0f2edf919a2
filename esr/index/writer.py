"""The interfaces for loads, deliveries and migrations, with their options and reports.

An index stores a `Description`, the settings that all its documents share; appends and deliveries keep to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import asdict, force_setattr, replace

from esr.errors import EsrError, InputError
from esr.index.generations import DEFAULT_KEEP
from esr.index.withdrawn import Withdrawn
from esr.plans.plan import Mixture
from esr.text.analysis.term_survey import TermSurvey
from esr.text.analyzer_definitions import BY_LANGUAGE, DEFAULT_ANALYZER, get_definition
from esr.text.document import Document, Located


class Description(Struct, frozen=True):
    """The settings that all documents loaded into an index share."""

    analyzer: str
    title: bool
    """Whether the terms of a title count once in the context of their document."""
    analyzer_version: int = 0
    """The version of the analyzer's definition that made the terms. 0 stands for the current version."""
    by: str | None = None
    """By what the index is divided, one of `esr.text.periods.PERIODS`; None if it is not divided."""

    def __post_init__(self) -> None:
        if self.analyzer_version == 0:
            force_setattr(self, "analyzer_version", get_definition(self.analyzer).version)

    @property
    def is_current(self) -> bool:
        """Whether this version of esr makes the same terms."""
        return self.analyzer_version == get_definition(self.analyzer).version

    @property
    def is_by_language(self) -> bool:
        """Whether each document is analysed by the analyzer of its language."""
        return self.analyzer == BY_LANGUAGE

    def renewed(self) -> Description:
        """The same description with the current version of the analyzer."""
        return replace(self, analyzer_version=0)

    def as_dict(self) -> dict[str, Any]:
        """The description as an index stores it. An index that is not divided stores no `by`."""
        stored = asdict(self)
        if self.by is None:
            del stored["by"]
        return stored

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Description:
        """Read a stored description, ignoring other keys. Before format 3, analyzers had no version."""
        return cls(data["analyzer"], data["title"], data.get("analyzer_version", 1), data.get("by"))


class LoadReport(Struct):
    """The outcome of a load."""

    documents: int = 0
    sentences: int = 0
    without_sentences: int = 0
    unchanged: int = 0
    set_aside: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    analyzer: str = ""
    terms: TermSurvey | None = None
    """Statistics of the terms of the loaded sentences, which show whether the analyzer fits."""


class IndexWriter(Protocol):
    """Loads documents into an index. A load becomes visible to searches when it has finished."""

    def load(self, documents: Iterable[Located]) -> LoadReport: ...


class Migration(Protocol):
    """Converts an index to the current format. Searches by the older esr continue meanwhile."""

    def run(self) -> LoadReport:
        """Convert the whole index, or change nothing visible. Continues a migration that was killed."""


def outdated_analyzer(where: str, description: Description) -> str:
    """The message about an index with terms by another version of its analyzer."""
    version = get_definition(description.analyzer).version
    return (
        f"{where} was loaded with version {description.analyzer_version} of the analyzer "
        f"{description.analyzer}, this esr has version {version}: run esr migrate"
    )


def content_conflict(where: str, document_id: str) -> InputError:
    """The error for a new document whose id the index has with other content."""
    return InputError(
        where,
        f"document {document_id!r} is in the index with other content: "
        "update it with esr append, or load everything again with --if-exists replace",
    )


def sentence_id_conflict(where: str, sentence_id: str, owner: str | None = None) -> InputError:
    """The error for a new sentence whose id another sentence has, in the document `owner` if known."""
    by = "" if owner is None else f" by document {owner!r}"
    return InputError(
        where, f"sentence id {sentence_id!r} is already used{by}: give every sentence a unique id"
    )


def require_documents(report: LoadReport) -> None:
    """Raise EsrError if every document was set aside."""
    if report.set_aside and not report.documents:
        raise EsrError("every document was set aside: nothing was committed")


IF_EXISTS = {
    "fail": "stop if the index already exists",
    "replace": "load a new generation, then switch to it in one step",
    "append": "add to the existing index",
}
"""What a load does with an existing index, the default first."""
DEFAULT_IF_EXISTS = next(iter(IF_EXISTS))

DEFAULT_WORKERS = 2
SetAside = Callable[[Document, str], None]
"""Called with a document that is set aside, and the reason."""


PROFILES: Mapping[str, str] = {
    "balanced": "fast searches by the default model, compressed texts",
    "lean": "the fewest bytes: no stored bounds of sentences, as with --no-impacts, and the sentences of a "
    "document side by side",
    "fast": "texts that are compressed less and read faster",
}
"""What a new index in Elasticsearch is optimized for, the default first. All give the same answers."""
DEFAULT_PROFILE = next(iter(PROFILES))


class LoadOptions(Struct, frozen=True):
    """The options of a load.

    `analyzer`, `title` and `by`, one of `esr.text.periods.PERIODS`, default to those of the index when
    appending. Otherwise `choose_analyzer` gives the analyzer, before the first document is read, and the
    index is not divided without `by`. `keep` is the number of previously served generations to keep. `resume`
    continues an interrupted load, if there is one. `set_aside` is called with each document that the engine
    rejects, and the reason; without it, such a document stops the load.

    The other options are for Elasticsearch. `source_bytes` is the size of the JSON Lines and plain text to
    load, 0 if unknown: a load without room for them does not begin. `slice` (i, n) sends the i-th of n slices
    of the documents; the slice that finishes last switches to the new generation. `on_progress` is called
    with the number of documents sent since its last call, and the number of all. `precomputed_mixture` is the
    mixture whose impacts are stored, which makes its searches faster. `profile` is one of PROFILES, by
    default the first, or for a migration that of the index. With `merge`, the segments of the new indices are
    merged before these are served.
    """

    if_exists: str = DEFAULT_IF_EXISTS
    analyzer: str | None = None
    title: bool | None = None
    by: str | None = None
    shards: int | None = None
    keep: int = DEFAULT_KEEP
    resume: bool = False
    slice: tuple[int, int] | None = None
    workers: int = DEFAULT_WORKERS
    set_aside: SetAside | None = None
    replicas: int | None = None
    on_progress: Callable[[int, int], None] = lambda sent, total: None
    precomputed_mixture: Mixture | None = None
    profile: str | None = None
    source_bytes: int = 0
    merge: bool = False
    choose_analyzer: Callable[[], str] = lambda: DEFAULT_ANALYZER


class DeliveryReport(Struct):
    """The outcome of a delivery. `missing` are the ids to remove that the index does not have."""

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

    @property
    def counts(self) -> str:
        """The nonzero numbers of documents as a text."""
        names = ("added", "changed", "removed", "unchanged")
        return ", ".join(f"{getattr(self, name):,} {name}" for name in names if getattr(self, name))


FindIds = Callable[[], Iterable[str]]


def no_ids() -> Iterable[str]:
    """No documents to remove."""
    return ()


class Delivery(Protocol):
    """Applies a delivery to an index in one step, or not at all. Methods raise EsrError only."""

    def append(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        """Add documents, and replace documents that the index has with other content.

        Unchanged documents are skipped, so a delivery may be repeated. New and changed documents follow the
        remaining ones, in the order of the delivery. `esr.loaders.document_ids` lets each id come once.

        `find_removed` is called when all documents have been read. The documents with the ids that it
        returns, none of which is in the delivery, are removed in the same step.
        """

    def compare(self, documents: Iterable[Located], find_removed: FindIds = no_ids) -> DeliveryReport:
        """Report the counts that `append` would, without writing."""

    def remove(self, ids: Iterable[str], before: int | None = None) -> DeliveryReport:
        """Remove the documents with these ids for good: they are added to the list of `withdrawn`.

        Unknown ids are no error. With `before`, the ids are those of all documents dated before this moment,
        in milliseconds since the epoch: the list gets the moment in place of the ids.
        """

    def withdrawn(self) -> Withdrawn:
        """The documents that were removed for good. `append` takes those that it adds off the list."""
