"""Errors in a request: what is wrong, and which argument is at fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from esr.errors import UsageError


class RequestError(UsageError):
    """An error in a request. `field`: the argument at fault, or None if it is not a single one."""

    status, code, title = 400, "bad_input", "This search cannot be run"

    def __init__(self, message: str, field: str | None) -> None:
        super().__init__(message)
        self.field = field


class UnknownId(RequestError):
    """An id of something that does not exist."""

    status, code, title = 404, "not_found", "Not found"


class Unauthorized(RequestError):
    """The sender of the request is unknown, and only known senders may search."""

    status, code, title = 401, "unauthorized", "Log in first"


class Forbidden(RequestError):
    """The sender of the request may not see what it asks for."""

    status, code, title = 403, "forbidden", "This is not for you"


class IndexChanged(RequestError):
    """The index has changed since the page that a request continues."""

    status, code = 409, "index_changed"


@contextmanager
def look_up(kind: str, id: str) -> Iterator[None]:
    """Convert a UsageError to an UnknownId. `kind` is the kind of thing: a sentence or a document."""
    try:
        yield
    except UsageError as error:
        raise UnknownId(f"there is no {kind} {id!r}", "id") from error


@contextmanager
def blame_argument(field: str | None) -> Iterator[None]:
    """Convert a UsageError to a RequestError of this argument, with options named as arguments."""
    try:
        yield
    except RequestError:
        raise
    except UsageError as error:
        message = re.sub(r"--(?=context|feature|boost|rerank)", "", str(error))
        raise RequestError(message, field) from error
