"""Errors in a request: what is wrong, and which argument is at fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from esr.errors import UsageError


class RequestError(UsageError):
    """An argument that cannot be used. `field` is its name, or None if no single argument is at fault."""

    status, code = 400, "bad_input"

    def __init__(self, message: str, field: str | None) -> None:
        super().__init__(message)
        self.field = field


class UnknownId(RequestError):
    """An argument that names something that does not exist."""

    status, code = 404, "not_found"


class IndexChanged(RequestError):
    """The next page was requested of a ranking that has changed since the page before."""

    status, code = 409, "index_changed"


@contextmanager
def blame_argument(field: str | None) -> Iterator[None]:
    """Turn a UsageError into a RequestError of this argument, in the words of an address."""
    try:
        yield
    except RequestError:
        raise
    except UsageError as error:
        message = re.sub(r"--(?=context|feature|boost|rerank)", "", str(error))
        raise RequestError(message, field) from error
