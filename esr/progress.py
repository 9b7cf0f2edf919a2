"""Progress on standard error: bars on a terminal, and for work of many minutes lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from esr.stdlib import import_lazily

if TYPE_CHECKING:
    import tqdm
else:
    tqdm = import_lazily("tqdm")

Item = TypeVar("Item")
LINE_SECONDS = 10.0
"""The least time between two lines of `StepProgress`."""
LEAST_SHARE = 0.05
"""The share of a step's items that must be done to say how long the others take: many come at once."""


def track_documents(documents: Iterable[Item]) -> Iterator[Item]:
    """The documents, with a bar that counts them."""
    with _open_bar(" documents", mininterval=0.5) as bar:
        for located in documents:
            yield located
            bar.update()


@contextmanager
def count_topics(total: int | None = None, unit: str = "topics") -> Iterator[Callable[[int], None]]:
    """A bar of topics or other units, with the time left for a known total. Yields its update function."""
    with _open_bar(f" {unit}", total=total) as bar:

        def advance(number: int) -> None:
            bar.update(number)

        yield advance


@contextmanager
def show_steps() -> Iterator[Callable[[str], None]]:
    """Show each step that begins: in a bar on a terminal, elsewhere on a line with the time so far.

    Yields the function to call with the name of each step.
    """
    begin = monotonic()
    with _open_bar(" steps") as bar:
        is_terminal = not isinstance(bar, _NoBar)

        def show(step: str) -> None:
            if is_terminal:
                bar.set_description_str(step)
                bar.update(1)
            else:
                print(f"{_minutes(monotonic() - begin)}  {step}", file=sys.stderr, flush=True)

        yield show


class SendProgress:
    """A bar with the rate and the remaining time, for a known total."""

    def __init__(self, unit: str = " documents", description: str = "sent") -> None:
        self._unit, self._description = unit, description
        self._bar: Any = None

    def update(self, count: int, total: int) -> None:
        """Advance the bar by `count` of `total` items."""
        if self._bar is None:
            self._bar = _open_bar(self._unit, total=total, desc=self._description, mininterval=0.5)
        self._bar.total = total
        self._bar.update(count)

    def __enter__(self) -> SendProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


class StepProgress:
    """Steps with known numbers of items: a bar on a terminal; elsewhere a line in each LINE_SECONDS seconds.

    A line says the step and how long it still takes.
    """

    def __init__(self) -> None:
        self._bar = _open_bar(" items", total=0, mininterval=0.5)
        self._begin = self._said = self._began_step = monotonic()
        self._step, self._total, self._done = "", 0, 0

    def start(self, step: str, total: int) -> None:
        """Begin a step with so many items; 0 if it has none to count."""
        self._step, self._total, self._done, self._began_step = step, total, 0, monotonic()
        self._bar.reset(total)
        self._bar.set_description(step)
        self._say()

    def update(self, count: int) -> None:
        """Advance by so many items."""
        self._done += count
        self._bar.update(count)
        self._say()

    def _say(self) -> None:
        now = monotonic()
        if now - self._said < LINE_SECONDS or not isinstance(self._bar, _NoBar):
            return
        self._said = now
        line = f"{_minutes(now - self._begin)}  {self._step}"
        if self._done and self._total:
            line += f": {self._done:,} of {self._total:,}"
            if self._done >= LEAST_SHARE * self._total:
                left = (now - self._began_step) / self._done * (self._total - self._done)
                line += f", {_minutes(left).strip()} left"
        print(line, file=sys.stderr, flush=True)

    def __enter__(self) -> StepProgress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def _minutes(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes:3}:{seconds:02}"


class _NoBar:
    """A bar that shows nothing."""

    total: int | None = None

    def update(self, count: int = 1) -> None: ...

    def reset(self, total: int) -> None: ...

    def set_description(self, description: str) -> None: ...

    def close(self) -> None: ...

    def __enter__(self) -> _NoBar:
        return self

    def __exit__(self, *_: object) -> None: ...


def _open_bar(unit: str, **options: Any) -> Any:
    """A bar that is removed when it is closed."""
    if not sys.stderr.isatty():
        return _NoBar()
    return tqdm.tqdm(unit=unit, leave=False, **options)
