"""The life of an index, by a state machine: loads, deliveries, migrations, rollbacks and deletions in any
order, on both engines, beside a plain model of which generations there are and which of them is served.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from esr.elastic import meta
from esr.errors import IndexUnusable, UsageError
from esr.folder.format import manifest
from esr.index.contract import read_document
from esr.index.factory import open_delivery, open_generations, open_migration
from esr.index.writer import DeliveryReport, LoadOptions
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, fresh, load, located
from tests.support.runs import rounds

KEEP = st.integers(0, 3)
LocationFactory = Callable[[], AbstractContextManager[str]]


@dataclass
class ModelGeneration:
    """A generation of the model: its documents, its format, and whether a rollback went back past it."""

    name: str
    documents: frozenset[str]
    format: int
    rejected: bool = False


class IndexLife(RuleBasedStateMachine):
    """`create_location` makes an empty location, on the engine that is tested."""

    create_location: LocationFactory

    @initialize()
    def load_first(self) -> None:
        self._stack = self.create_location()
        self.where = self._stack.__enter__()
        self.next_id = 0
        self._patches = ExitStack()
        self._set_format(manifest.FORMAT)
        self.generations: list[ModelGeneration] = []
        self.serving = ""
        self.replace(0)

    def teardown(self) -> None:
        if hasattr(self, "_stack"):
            self._patches.close()
            self._stack.__exit__(None, None, None)

    @rule(keep=KEEP)
    def replace(self, keep: int) -> None:
        """`esr load --if-exists replace`"""
        id = self._create_id()
        load(self.where, [document(id, f"A flood in {id}.")], if_exists="replace", keep=keep)
        self._record_generation(frozenset([id]), keep)

    @precondition(lambda self: self._is_current())
    @rule(keep=KEEP)
    def append_by_load(self, keep: int) -> None:
        """`esr load --if-exists append`"""
        id = self._create_id()
        load(self.where, [document(id, f"A flood in {id}.")], if_exists="append", keep=keep)
        self._record_generation(self._served() | {id}, keep)

    @rule(keep=KEEP)
    def migrate(self, keep: int) -> None:
        """`esr migrate` of a newer esr, with another format, or after a rollback to an older format."""
        if self._is_current():
            self._set_format(self.format + 1)
        open_migration(self.where, LoadOptions(keep=keep)).run()
        self._record_generation(self._served(), keep)

    @precondition(lambda self: self._is_current())
    @rule(keep=KEEP)
    def append(self, keep: int) -> None:
        id = self._create_id()
        report = self._delivery(keep).append(located([document(id, f"A flood in {id}.")]))
        previous = self.serving
        self._record_generation(self._served() | {id}, keep)
        self._assert_note_names_kept_generation(report, previous)

    @precondition(lambda self: self._is_current())
    @rule(keep=KEEP)
    def append_existing(self, keep: int) -> None:
        with open_searcher(self.where) as searcher:
            stored = read_document(searcher.index, min(self._served()))
        assert not self._delivery(keep).append(located([stored])).has_changes

    @precondition(lambda self: self._is_current() and len(self._served()) > 1)
    @rule(keep=KEEP)
    def replace_and_remove(self, keep: int) -> None:
        """One step that adds, changes and removes, as `esr sync` does."""
        changed, removed = min(self._served()), max(self._served())
        added = self._create_id()
        texts = [document(changed, f"A storm since {added}."), document(added, f"A flood in {added}.")]
        report = self._delivery(keep).append(located(texts), lambda: [removed])
        assert (report.added, report.changed, report.removed) == (1, 1, 1)
        previous = self.serving
        self._record_generation(self._served() - {removed} | {added}, keep)
        self._assert_note_names_kept_generation(report, previous)

    @precondition(lambda self: self._is_current() and len(self._served()) > 1)
    @rule(keep=KEEP)
    def remove(self, keep: int) -> None:
        id = max(self._served())
        report = self._delivery(keep).remove([id])
        previous = self.serving
        self._record_generation(self._served() - {id}, keep)
        self._assert_note_names_kept_generation(report, previous)

    @rule()
    def rollback(self) -> None:
        older = [g for g in self.generations if g.name < self.serving and not g.rejected]
        with closing(open_generations(self.where)) as generations:
            if not older:
                with pytest.raises(UsageError):
                    generations.rollback()
                return
            generations.rollback()
        self._mark_as_serving(max(older, key=lambda g: g.name).name)

    @precondition(lambda self: len(self.generations) > 1)
    @rule(data=st.data())
    def rollback_to(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self._kept_names()))
        with closing(open_generations(self.where)) as generations:
            generations.rollback(name)
        self._mark_as_serving(name)

    @precondition(lambda self: len(self.generations) > 1)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self._kept_names()))
        with closing(open_generations(self.where)) as generations:
            generations.delete([name])
        self.generations = [g for g in self.generations if g.name != name]

    @invariant()
    def the_same_documents_are_served(self) -> None:
        if not hasattr(self, "where"):
            return
        if not self._is_current():
            with pytest.raises(IndexUnusable, match="run esr migrate"):
                open_searcher(self.where)
            return
        with open_searcher(self.where) as searcher:
            assert {stored.id for stored in searcher.index.documents()} == self._served()

    @invariant()
    def the_same_generations_are_kept(self) -> None:
        if not hasattr(self, "where"):
            return
        states = {g.name: "serving" if g.name == self.serving else "kept" for g in self.generations}
        assert {g.name: g.state for g in self._list_generations()} == states

    def _set_format(self, number: int) -> None:
        """Make this the esr that has this format."""
        self.format = number
        for module in (manifest, meta):
            self._patches.enter_context(patch.object(module, "FORMAT", number))

    def _is_current(self) -> bool:
        return next(g.format for g in self.generations if g.name == self.serving) == self.format

    def _delivery(self, keep: int) -> Any:
        return open_delivery(self.where, LoadOptions(keep=keep))

    def _create_id(self) -> str:
        self.next_id += 1
        return f"d{self.next_id:03}"

    def _served(self) -> frozenset[str]:
        return next(g.documents for g in self.generations if g.name == self.serving)

    def _kept_names(self) -> list[str]:
        return sorted(g.name for g in self.generations if g.name != self.serving)

    def _list_generations(self) -> list[Any]:
        with closing(open_generations(self.where)) as generations:
            return generations.all()

    def _record_generation(self, documents: frozenset[str], keep: int) -> None:
        """A new generation is served. What a rollback rejected is the first to go."""
        (name,) = [g.name for g in self._list_generations() if g.state == "serving"]
        for g in self.generations:
            g.rejected &= g.name != self.serving
        self.generations.sort(key=lambda g: g.name, reverse=True)
        self.generations.sort(key=lambda g: g.rejected)
        self.generations = [ModelGeneration(name, documents, self.format), *self.generations[:keep]]
        self.serving = name

    def _mark_as_serving(self, name: str) -> None:
        """Newer generations are those that the rollback rejected."""
        for g in self.generations:
            g.rejected = g.name > name or (g.rejected and g.name != name)
        self.serving = name

    def _assert_note_names_kept_generation(self, report: DeliveryReport, previous: str) -> None:
        is_noted = any(previous in note and "rollback" in note for note in report.notes)
        assert is_noted == (previous in self._kept_names()), report.notes


@contextmanager
def empty_folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / "index")


def run_life(create_location: LocationFactory, examples: int, steps: int) -> None:
    machine = type("IndexLifeHere", (IndexLife,), {"create_location": staticmethod(create_location)})
    profile = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=profile)  # type: ignore[arg-type]


@pytest.mark.slow
def test_any_life_of_a_folder_is_that_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda number: None)
    run_life(empty_folder, examples=15, steps=12)


@pytest.mark.endurance
def test_any_long_life_of_a_folder_is_that_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda number: None)
    run_life(empty_folder, examples=rounds(150), steps=40)


@pytest.mark.slow
def test_any_short_life_of_an_alias_is_that_of_the_model(elasticsearch_url: str) -> None:
    run_life(lambda: fresh(elasticsearch_url), examples=2, steps=6)


@pytest.mark.endurance
def test_any_life_of_an_alias_is_that_of_the_model(elasticsearch_url: str) -> None:
    run_life(lambda: fresh(elasticsearch_url), examples=rounds(8), steps=12)


def test_a_rollback_never_loses_the_collection_that_it_went_back_to(anywhere: str) -> None:
    def deliver(id: str) -> DeliveryReport:
        return open_delivery(anywhere, LoadOptions()).append(located([document(id, f"A flood in {id}.")]))

    def rollback() -> None:
        with closing(open_generations(anywhere)) as generations:
            generations.rollback()

    def served() -> set[str]:
        with open_searcher(anywhere) as searcher:
            return {stored.id for stored in searcher.index.documents()}

    load(anywhere, [document("a", "A flood in a.")])
    deliver("good")
    deliver("bad")
    rollback()
    report = deliver("wednesday")
    assert any("is kept: esr rollback goes back to it" in note for note in report.notes)
    assert served() == {"a", "good", "wednesday"}
    rollback()
    assert served() == {"a", "good"}
