"""Things that know their own name, found by it: models, priors, formats."""

from __future__ import annotations

from typing import Protocol, TypeVar

from esr.errors import unknown


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Registry(dict[str, T]):
    """By name, in the order of registration. `kind` is what messages call one of them."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def register(self, item: T) -> T:
        self[item.name] = item
        return item

    def find(self, name: str) -> T:
        """The one of that name. Raises UsageError with the nearest name."""
        if name not in self:
            raise unknown(self._kind, name, self)
        return self[name]
