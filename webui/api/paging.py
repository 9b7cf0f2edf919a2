"""Pages of a ranking that fit together: the next begins where the last one ended, or there is an error."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

from esr.plans.statistics import CollectionStatistics
from esr.ranking.searcher import Searcher
from webui.api.operation import Call
from webui.arguments.query_string import parse_count
from webui.running.request_errors import IndexChanged, RequestError

_NUMBERS = sorted({*CollectionStatistics.__struct_fields__} - {"bounds"})
_TOKEN = re.compile(r"([0-9]{1,6})\.([0-9a-f]{16})")


@dataclass(frozen=True)
class Page:
    """The page of a request, from `offset` on. `state`: that of the index, if it continues another page."""

    offset: int
    k: int
    state: str | None


def read_page(call: Call, k: int) -> Page:
    """The page that a request asks for. Raises RequestError."""
    maximum = call.settings.max_depth
    after, offset = call.first("after"), call.first("offset")
    if after is None:
        page = Page(parse_count("offset", offset, 0, maximum - 1, minimum=0), k, None)
    elif offset is not None:
        raise RequestError("give offset or after, not both", "after")
    else:
        begin, state = _parse_token(after)
        page = Page(begin, k, state)
    if page.offset + k > maximum:
        field = "offset" if after is None else "after"
        raise RequestError(
            f"offset + k is {page.offset + k:,}: at most {maximum:,} is allowed, so narrow the search", field
        )
    return page


def page_token(offset: int, state: str) -> str:
    """What requests the page from `offset` on, as long as the index is in this state."""
    return base64.urlsafe_b64encode(f"{offset}.{state}".encode()).decode().rstrip("=")


def index_state(searcher: Searcher) -> str:
    """A digest of what the index holds. Another load changes it."""
    collection = searcher.index.statistics([]).collection
    return _digest(tuple(getattr(collection, name) for name in _NUMBERS))


@lru_cache
def _digest(values: tuple[int, ...]) -> str:
    numbers = list(zip(_NUMBERS, values, strict=True))
    return hashlib.sha256(repr(numbers).encode()).hexdigest()[:16]


def check_state(page: Page, state: str) -> None:
    """Raises IndexChanged if the page continues one of another state."""
    if page.state not in (None, state):
        raise IndexChanged(
            "the index has changed since the page before: request the first page again", "after"
        )


def _parse_token(token: str) -> tuple[int, str]:
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    except (ValueError, binascii.Error):
        text = ""
    match = _TOKEN.fullmatch(text)
    if match is None:
        raise RequestError("argument 'after' must be the 'next' of the page before, unchanged", "after")
    return int(match[1]), match[2]
