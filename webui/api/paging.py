"""Pages of a ranking that fit together: the next begins where the last ended, or there is an error."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, fields

from esr.plans.statistics import CollectionStatistics
from esr.ranking.searcher import Searcher
from webui.api.operation import Call
from webui.arguments.search_request import BadArgument, IndexChanged, count

_NUMBERS = sorted(field.name for field in fields(CollectionStatistics) if field.name != "bounds")
_TOKEN = re.compile(r"([0-9]{1,6})\.([0-9a-f]{16})")


@dataclass(frozen=True)
class Page:
    """`offset` sentences are left out. `state` is that of the index if the page goes on from another."""

    offset: int
    k: int
    state: str | None


def asked(call: Call, k: int) -> Page:
    """The page that a request asks for. Raises BadArgument."""
    most = call.settings.max_depth
    after, offset = call.one("after"), call.one("offset")
    if after is None:
        page = Page(count("offset", offset, 0, most - 1, least=0), k, None)
    elif offset is not None:
        raise BadArgument("give offset or after, not both", "after")
    else:
        begin, known = _read(after)
        page = Page(begin, k, known)
    if page.offset + k > most:
        field = "offset" if after is None else "after"
        raise BadArgument(f"offset and k are at most {most:,} together: narrow the search", field)
    return page


def token(offset: int, state: str) -> str:
    """What asks for the page from there, as long as the index is in this state."""
    return base64.urlsafe_b64encode(f"{offset}.{state}".encode()).decode().rstrip("=")


def state(searcher: Searcher) -> str:
    """A short name of what the index holds. Another load changes it."""
    collection = searcher.index.statistics([]).collection
    known = [(name, getattr(collection, name)) for name in _NUMBERS]
    return hashlib.sha256(repr(known).encode()).hexdigest()[:16]


def check(page: Page, now: str) -> None:
    """Raises IndexChanged if the page goes on from one of another state."""
    if page.state not in (None, now):
        raise IndexChanged("the index has changed since that page: ask for the first one again", "after")


def _read(text: str) -> tuple[int, str]:
    try:
        plain = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (ValueError, binascii.Error):
        plain = ""
    match = _TOKEN.fullmatch(plain)
    if match is None:
        raise BadArgument("argument 'after' is the 'next' of the page before, as it stands", "after")
    return int(match[1]), match[2]
