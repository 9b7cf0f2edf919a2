"""What an index holds, and what each operation does to it.

The model is immutable: an operation maps the state of an index to the states that are on disk one after
another, the first being the one before it, the last the one after it. A crash may leave any of them and
nothing else. An operation that esr must refuse raises `Refused`.

Words are those of docs/design.md: an index has generations, of which one is serving and others are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from esr.text.document import Document

Documents = tuple[Document, ...]
Enriched = frozenset[tuple[str, str]]
"""The ids of enriched documents, each with the version of the enricher."""


class Refused(Exception):
    """The operation must fail with a message, and change nothing."""


class Wrong(AssertionError):
    """The index or the desk is not what the model says, or an error has no message of its own."""


@dataclass(frozen=True)
class Generation:
    """A whole collection. `age` grows with each generation of an index: the greatest is the newest.

    `withdrawn` are the ids of documents that were removed for good.
    """

    documents: Documents
    age: int
    enriched: Enriched = frozenset()
    withdrawn: frozenset[str] = frozenset()
    is_rejected: bool = False

    @property
    def by_id(self) -> dict[str, Document]:
        return {document.id: document for document in self.documents}


@dataclass(frozen=True)
class State:
    """An index. `kept` are newest first, rejected ones last. Without `serving` there is no index."""

    serving: Generation | None = None
    kept: tuple[Generation, ...] = field(default=())

    @property
    def generations(self) -> list[Generation]:
        """All generations, newest first."""
        own = [] if self.serving is None else [self.serving]
        return sorted((*own, *self.kept), key=lambda generation: -generation.age)

    @property
    def serves(self) -> Generation:
        if self.serving is None:
            raise Refused("there is no index")
        return self.serving

    def next(
        self, documents: Iterable[Document], enriched: Enriched, withdrawn: frozenset[str], keep: int
    ) -> State:
        """A new generation serves. Of the others, `keep` stay: the newest, and rejected ones last."""
        others = sorted(self.generations, key=lambda generation: generation.is_rejected)
        age = max((generation.age for generation in others), default=0) + 1
        return State(Generation(tuple(documents), age, enriched, withdrawn), tuple(others[:keep]))


NO_INDEX = State()
Path = tuple[State, ...]
"""The states that are on disk one after another."""


# Loads


def load(state: State, documents: Sequence[Document], keep: int) -> Path:
    """`esr load --if-exists replace`: the collection is replaced as a whole."""
    _refuse_duplicates(documents)
    withdrawn = state.serving.withdrawn if state.serving else frozenset[str]()
    return state, state.next(documents, frozenset(), withdrawn, keep)


def append_by_load(state: State, documents: Sequence[Document], keep: int) -> Path:
    """`esr load --if-exists append`: documents are added, and none of those that are there may differ."""
    if state.serving is None:
        return load(state, documents, keep)
    known = state.serves.by_id
    new = [document for document in documents if document.id not in known]
    if any(known.get(document.id, document) != document for document in documents):
        raise Refused("a document is in the index with other content")
    _refuse_duplicates(new)
    if not new:
        return (state,)
    serving = state.serves
    return state, state.next((*serving.documents, *new), serving.enriched, serving.withdrawn, keep)


# Deliveries


def deliver(state: State, documents: Sequence[Document], removed: Sequence[str], keep: int) -> Path:
    """`esr append` and `esr sync`: adds, corrects and removes documents in one step.

    New and corrected documents follow the others. A corrected document is enriched anew. What is delivered
    again after it was removed for good is not removed for good any more.
    """
    serving = state.serves
    known = serving.by_id
    changes = [document for document in documents if known.get(document.id) != document]
    _refuse_duplicates(changes)
    gone = {document.id for document in changes} | set(removed)
    if not gone & known.keys() and not changes:
        return (state,)
    remaining = [document for document in serving.documents if document.id not in gone]
    withdrawn = serving.withdrawn - {document.id for document in changes}
    return state, state.next((*remaining, *changes), _without(serving.enriched, gone), withdrawn, keep)


def remove(state: State, ids: Sequence[str], keep: int) -> Path:
    """`esr remove`: documents leave for good; unknown ids are remembered too."""
    serving = state.serves
    gone, withdrawn = set(ids), serving.withdrawn | set(ids)
    remaining = [document for document in serving.documents if document.id not in gone]
    if len(remaining) == len(serving.documents):
        after = replace(state, serving=replace(serving, withdrawn=withdrawn))
        return (state,) if after == state else (state, after)
    return state, state.next(remaining, _without(serving.enriched, gone), withdrawn, keep)


def sync(state: State, documents: Sequence[Document], keep: int) -> Path:
    """`esr sync`: the documents of the sources are delivered, unless they were removed for good."""
    if state.serving is None:
        return load(state, documents, keep)
    return deliver(state, [each for each in documents if each.id not in state.serves.withdrawn], [], keep)


# Enrichment


def enrich(state: State, version: str) -> Path:
    """`esr enrich`: batches of documents are enriched in the order of the index, each batch in one step."""
    serving = state.serves
    pending = [
        document.id for document in serving.documents if (document.id, version) not in serving.enriched
    ]

    def add(enriched: Enriched, id: str) -> Enriched:
        return _without(enriched, {id}) | {(id, version)}

    steps = accumulate(pending, add, initial=serving.enriched)
    return tuple(replace(state, serving=replace(serving, enriched=enriched)) for enriched in steps)


# Generations


def roll_back(state: State, number: int | None) -> Path:
    """`esr rollback`: to the kept generation of this number, or the newest older one that was not rejected.

    All generations newer than it are rejected.
    """
    serving = state.serves
    older = [g for g in state.kept if g.age < serving.age and not g.is_rejected]
    candidates = older[:1] if number is None else [_choose(state.kept, number)]
    if not candidates:
        raise Refused("no generation is kept before the serving one")
    (target,) = candidates
    others = [
        replace(g, is_rejected=g.is_rejected or g.age > target.age)
        for g in state.generations
        if g.age != target.age
    ]
    kept = sorted(others, key=lambda generation: generation.is_rejected)
    return state, State(replace(target, is_rejected=False), tuple(kept))


def delete(state: State, number: int) -> Path:
    """`esr delete INDEX NAME`: a kept generation goes."""
    doomed = _choose(state.kept, number)
    return state, replace(state, kept=tuple(g for g in state.kept if g.age != doomed.age))


def delete_all(state: State) -> Path:
    """`esr delete INDEX`: the index goes."""
    _ = state.serves
    return state, NO_INDEX


# Copies


def copy(source: State, target: State) -> Path:
    """`esr backup` and `esr restore`: the target becomes what the source is."""
    _ = source.serves
    return target, source


def _choose(kept: Sequence[Generation], number: int) -> Generation:
    """A kept generation by its number in order of age, the newest first."""
    if not kept:
        raise Refused("no generation is kept")
    return sorted(kept, key=lambda generation: -generation.age)[number % len(kept)]


def _refuse_duplicates(documents: Sequence[Document]) -> None:
    if len({document.id for document in documents}) < len(documents):
        raise Refused("an id is duplicated")


def _without(enriched: Enriched, ids: set[str]) -> Enriched:
    return frozenset((id, version) for id, version in enriched if id not in ids)
