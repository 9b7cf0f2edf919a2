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
                minutes, seconds = divmod(int(monotonic() - begin), 60)
                print(f"{minutes:3}:{seconds:02}  {step}", file=sys.stderr, flush=True)

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


class _NoBar:
    """A bar that shows nothing."""

    total: int | None = None

    def update(self, count: int = 1) -> None: ...

    def close(self) -> None: ...

    def __enter__(self) -> _NoBar:
        return self

    def __exit__(self, *_: object) -> None: ...


def _open_bar(unit: str, **options: Any) -> Any:
    """A bar that is removed when it is closed."""
    if not sys.stderr.isatty():
        return _NoBar()
    return tqdm.tqdm(unit=unit, leave=False, **options)
