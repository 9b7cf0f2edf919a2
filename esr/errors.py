"""Errors as messages for people: what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import difflib
else:
    difflib = import_lazily("difflib")


class EsrError(Exception):
    """An error that the user can understand and act on. The command line prints it as one line."""

    exit_code = 1


class UsageError(EsrError):
    """The call itself is wrong: an unknown model, a parameter out of range, an empty query."""

    exit_code = 2


class NotFound(UsageError):
    """What the call names is not in the index: a document, a sentence, a name, a generation, a hit."""


class InputError(EsrError):
    """A source file is wrong. The message names the place, so that it can be repaired."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all arguments: worker processes send the error, and its message cannot restore it."""
        return type(self), (self.where, self.problem)


class IndexMissing(EsrError):
    """There is no index at this location."""


class IndexUnusable(EsrError):
    """The location exists, but cannot be used as an index."""


class IndexClosed(IndexUnusable):
    """The index was used after being closed."""

    def __init__(self, where: str) -> None:
        super().__init__(f"the index {where} is closed: open it again with esr.open")
        self.where = where

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.where,)


class NotVisible(EsrError):
    """The answer would show more than the part of the index that may be seen."""


class EngineUnreachable(EsrError):
    """The engine did not answer, or not in time."""


def unknown(
    kind: str, name: str, known: Iterable[str], *, elsewhere: Mapping[str, str] = {}, similarity: float = 0.5
) -> UsageError:
    """The error for an unknown name, with the nearest known one.

    `elsewhere` maps names that other programs use to known ones, which take precedence over the nearest.
    """
    names = sorted(known)
    other = elsewhere.get(name)
    nearest = other if other in names else find_nearest(name, names, similarity)
    if nearest:
        return UsageError(f"unknown {kind} {name!r}: did you mean {nearest!r}?")
    return UsageError(f"unknown {kind} {name!r}: known: {', '.join(names) or 'none'}")


def find_nearest(name: str, known: Iterable[str], similarity: float = 0.5) -> str | None:
    """The known name most similar to this one, or None if all are less similar than `similarity`."""
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=similarity)), None)


def to_one_line(error: object) -> str:
    """A library's error message as a part of one line: printable, at most 300 characters."""
    text = " ".join(str(error).split())
    return "".join(c if c.isprintable() else "?" for c in text)[:300]


class AnotherRun(EsrError):
    """Another process has the state file of a command open."""

    exit_code = 75
    """EX_TEMPFAIL of sysexits.h: try again later."""
