"""Generations: the whole collections that stand at one place, of which one is served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from esr.errors import UsageError

SERVING = "serving"
KEPT = "kept"
LOADING = "loading"
BROKEN = "broken"
STATES = {
    SERVING: "what searches see",
    KEPT: "whole and verified: esr rollback can make it the serving one",
    LOADING: "a load is writing it",
    BROKEN: "its load was cut off: take it up with esr load --resume, or delete it",
}
KEEP = 1
"""Generations that a load keeps beside its own, if nothing else is said."""
_STAMP = "%Y%m%dt%H%M%S%f"


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation. Its name is when it was begun, so that names sort by age.

    Generations may share files: what two hold is counted in the size of both. Counts are None where
    nobody knows them, as of a load that is under way.
    """

    name: str
    state: str
    documents: int | None
    sentences: int | None
    size_bytes: int
    by: str = ""
    """The machine that writes it, where that is another: nobody here knows whether it still does."""

    @property
    def made(self) -> str:
        """When it was begun, in ISO 8601, or "" for one that was made before generations had names."""
        try:
            return datetime.strptime(self.name, _STAMP).strftime("%Y-%m-%dT%H:%M:%SZ")
        except ValueError:
            return ""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "made": self.made}


class Generations(Protocol):
    """What stands at a place, to be looked at and to be moved between. Methods raise EsrError only."""

    def all(self) -> list[Generation]:
        """The newest first. Empty where there is nothing."""

    def rollback(self, to: str | None = None) -> Generation:
        """Serve another generation that is kept, in one step: the one before the serving one, or `to`.

        Raises UsageError where there is none.
        """

    def delete(self, names: Sequence[str]) -> None:
        """Remove generations that are not served. Raises UsageError before anything is removed."""

    def delete_all(self) -> None:
        """Remove every generation, and the place itself."""

    def close(self) -> None: ...


def stamp() -> str:
    """A name for a generation that begins now."""
    return datetime.now(UTC).strftime(_STAMP)


def target(found: Sequence[Generation], to: str | None, where: str) -> Generation:
    """The generation that a rollback goes to. Raises UsageError where there is none."""
    serving = next((each for each in found if each.state == SERVING), None)
    kept = [each for each in found if each.state == KEPT]
    if to is not None:
        named = _named(found, to, where)
        if named.state != KEPT:
            raise UsageError(f"generation {to} is {named.state}: only a kept one can be served")
        return named
    older = [each for each in kept if serving is None or each.name < serving.name]
    if not older:
        hint = f"; newer ones are there: name one with --to {kept[0].name}" if kept else ""
        raise UsageError(f"{where} keeps no generation before the serving one{hint}")
    return older[0]


def deletable(found: Sequence[Generation], names: Sequence[str], where: str) -> list[Generation]:
    """The generations of these names. Raises UsageError if one is served, being written, or not there."""
    wanted = [_named(found, name, where) for name in dict.fromkeys(names)]
    for each in wanted:
        if each.state == SERVING:
            raise UsageError(f"generation {each.name} is serving: roll back first, or delete all of {where}")
        if each.state == LOADING and not each.by:
            raise UsageError(f"a load is writing generation {each.name}: wait until it has ended, or stop it")
    return wanted


def _named(found: Sequence[Generation], name: str, where: str) -> Generation:
    for each in found:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in found) or "none"
    raise UsageError(f"there is no generation {name!r} at {where}: there are {known}")
