"""What people are told of an index by alerts, as docs/alerts.md promises it: a model of the desk.

A run of alerts takes the desk through states one after another: what is new is matched, digests are made of
what is due, and each delivery is taken, sent and ended. A process that is killed leaves one of these states,
and nothing else. After a run, only the last is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, combinations, groupby, pairwise
from typing import NamedTuple

from esr.following.alerts.atom import text_digest
from esr.text.document import Document
from tests.simulation.model import Documents
from tests.simulation.steps import ANN, BOB, Refusal


class Search(NamedTuple):
    """A saved search that can be an alert. `finds` says whether a sentence of these words is found."""

    name: str
    query: str
    finds: Callable[[list[str]], bool]
    is_hourly: bool
    targets: tuple[str, ...]

    def due(self, matched_at: datetime) -> datetime:
        """When a digest is due of what was matched at a moment."""
        if not self.is_hourly:
            return matched_at
        return matched_at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


def _banks(words: list[str]) -> bool:
    return ("river", "bank") in pairwise(words)


def _votes(words: list[str]) -> bool:
    return "vote" in words and "court" not in words


KEPT = timedelta(days=90)
"""How long deliveries that arrived stay in the record."""
SEARCHES = (
    Search("floods", "flood", lambda words: "flood" in words, False, (ANN,)),
    Search("weather", "storm OR river", lambda words: "storm" in words or "river" in words, True, (ANN, BOB)),
    Search(
        "banks",
        '"river bank" OR (vote -court)',
        lambda words: _banks(words) or _votes(words),
        False,
        (BOB,),
    ),
)


class Delivery(NamedTuple):
    """A digest on its way to a target. `texts` are sorted. `attempts` also counts one that was not ended."""

    search: str
    target: str
    texts: tuple[str, ...]
    made_at: datetime
    next_at: datetime
    state: str = "waiting"
    attempts: int = 0


class Waiting(NamedTuple):
    """A sentence that is in no digest."""

    search: str
    text: str
    matched_at: datetime


@dataclass(frozen=True)
class Told:
    """The state of a desk.

    `alerts` are the numbers of searches that are alerts, `paused` those that wait. `known` are the documents
    as they were matched, None before the first run. `told` are the sentences that searches have told, each
    with its document; a new wording of one that was told is among them.
    """

    alerts: tuple[int, ...] = ()
    paused: frozenset[int] = frozenset()
    known: tuple[Document, ...] | None = None
    told: frozenset[tuple[str, str, str]] = frozenset()
    waiting: tuple[Waiting, ...] = ()
    deliveries: tuple[Delivery, ...] = ()

    @property
    def searches(self) -> list[Search]:
        """Those that are alerts, by name."""
        return sorted((SEARCHES[number] for number in self.alerts), key=lambda search: search.name)


def run(state: Told, documents: Documents | None, now: datetime, refusal: Refusal) -> Iterator[Told]:
    """`esr alerts run --once` over an index with these documents; None: there is no index.

    Yields the states that may be seen one after another. The last is that after the run.
    """
    now = now.replace(microsecond=now.microsecond // 1000 * 1000)
    yield state
    if state.alerts and documents is not None:
        state = _match(state, documents, now)
        yield state
    for search in state.searches:
        if SEARCHES.index(search) not in state.paused:
            state = _make_digest(state, search, now)
            yield state
    kept = [each for each in state.deliveries if each.state != "sent" or each.next_at >= now - KEPT]
    state = replace(state, deliveries=tuple(kept))
    yield state
    state = _change(
        state,
        {
            n: each._replace(state="waiting")
            for n, each in enumerate(state.deliveries)
            if each.state == "sending"
        },
    )
    yield state
    yield from _deliver(state, now, refusal)


def _match(state: Told, documents: Sequence[Document], now: datetime) -> Told:
    """Tell what is new in new and changed documents. The first run tells nothing."""
    if state.known is None:
        return replace(state, known=_sorted(documents))
    known = {document.id: document for document in state.known}
    changed = [document for document in documents if known.get(document.id) != document]
    told, waiting = set(state.told), list(state.waiting)
    for search in state.searches:
        for document in changed:
            former = {text for name, id, text in state.told if (name, id) == (search.name, document.id)}
            present = list(dict.fromkeys(sentence.text for sentence in document.sentences))
            matching = [text for text in present if search.finds(text.split())]
            news, reworded = find_news(matching, former, present)
            told |= {(search.name, document.id, text) for text in (*news, *reworded)}
            waiting += [Waiting(search.name, text, now) for text in news]
    known |= {document.id: document for document in changed}
    return replace(state, known=_sorted(known.values()), told=frozenset(told), waiting=tuple(waiting))


def find_news(
    matching: Sequence[str], former: Collection[str], present: Collection[str]
) -> tuple[list[str], list[str]]:
    """Which different sentences of a document are news, and which are new wordings of those told before.

    Each told sentence that is gone gives its place to the sentence that shares most words with it, and at
    least half of those of both.
    """
    open_texts = [text for text in matching if text not in former]
    gone = [text for text in former if text not in present]
    pairs = sorted(
        (-_share(text, other), number, text_digest(other))
        for number, text in enumerate(open_texts)
        for other in gone
        if _share(text, other) >= 0.5
    )
    of_number: dict[int, str] = {}
    for _, number, other in pairs:
        if number not in of_number and other not in of_number.values():
            of_number[number] = other
    news = [text for number, text in enumerate(open_texts) if number not in of_number]
    return news, [text for text in open_texts if text not in news]


def _share(text: str, other: str) -> float:
    one, two = set(text.split()), set(other.split())
    return len(one & two) / len(one | two)


def _make_digest(state: Told, search: Search, now: datetime) -> Told:
    """One digest of all that waits, if the oldest of it is due, to each target."""
    mine = [each for each in state.waiting if each.search == search.name]
    if not mine or search.due(min(each.matched_at for each in mine)) > now:
        return state
    texts = tuple(sorted(each.text for each in mine))
    made = [Delivery(search.name, target, texts, now, now) for target in search.targets]
    others = tuple(each for each in state.waiting if each.search != search.name)
    return replace(state, waiting=others, deliveries=(*state.deliveries, *made))


def _deliver(state: Told, now: datetime, refusal: Refusal) -> Iterator[Told]:
    """Deliveries that are due, the longest due first. Of those that are due at once, any may be first."""
    paused = {SEARCHES[number].name for number in state.paused}
    waiting = [(n, each) for n, each in enumerate(state.deliveries) if each.state == "waiting"]
    due = [n for n, each in waiting if each.next_at <= now and each.search not in paused]
    moments = [each.next_at for each in state.deliveries]
    for _, group in groupby(sorted(due, key=moments.__getitem__), moments.__getitem__):
        numbers = list(group)
        for ended in chain.from_iterable(combinations(numbers, size) for size in range(len(numbers))):
            partly = _end(state, ended, now, refusal)
            for taken in set(numbers).difference(ended):
                each = partly.deliveries[taken]
                yield _change(partly, {taken: each._replace(state="sending", attempts=each.attempts + 1)})
        for ended in chain.from_iterable(combinations(numbers, size) for size in range(len(numbers) + 1)):
            last = _end(state, ended, now, refusal)
            yield last
        state = last


def _end(state: Told, numbers: Collection[int], now: datetime, refusal: Refusal) -> Told:
    """Deliveries that were sent, or that are tried again: after 1 minute, 2, 4 … 6 hours, for 3 days."""
    ended = {}
    for number in numbers:
        each = state.deliveries[number]
        attempts, next_at, outcome = each.attempts + 1, now, "sent"
        if each.target in refusal.targets:
            next_at = now + min(timedelta(minutes=2 ** min(attempts - 1, 20)), timedelta(hours=6))
            gives_up = refusal.is_final or next_at > each.made_at + timedelta(days=3)
            outcome = "failed" if gives_up else "waiting"
        ended[number] = each._replace(state=outcome, attempts=attempts, next_at=next_at)
    return _change(state, ended)


def _change(state: Told, changes: Mapping[int, Delivery]) -> Told:
    return replace(state, deliveries=tuple(changes.get(n, each) for n, each in enumerate(state.deliveries)))


def _sorted(documents: Collection[Document]) -> tuple[Document, ...]:
    return tuple(sorted(documents, key=lambda document: document.id))
