"""Progress bars on standard error, shown only on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from tqdm import tqdm

Item = TypeVar("Item")


def track_documents(documents: Iterable[Item]) -> Iterator[Item]:
    """The documents, with a bar that counts them."""
    bar: Any = tqdm(documents, unit=" documents", disable=None, mininterval=0.5, leave=False)
    yield from bar


@contextmanager
def count_topics(total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar of topics, with the time that is left if their total is known; yields what advances it."""
    with tqdm(total=total, unit=" topics", disable=None, leave=False) as bar:

        def advance(topics: int) -> None:
            bar.update(topics)

        yield advance


class SendProgress:
    """A bar with the rate and the remaining time, for a known total."""

    def __init__(self, unit: str = " documents", description: str = "sent") -> None:
        self._unit, self._description = unit, description
        self._bar: Any = None

    def update(self, count: int, total: int) -> None:
        """Advance the bar by `count` of `total` items."""
        if self._bar is None:
            self._bar = tqdm(
                total=total,
                unit=self._unit,
                desc=self._description,
                disable=None,
                mininterval=0.5,
                leave=False,
            )
        self._bar.total = total
        self._bar.update(count)

    def __enter__(self) -> SendProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
