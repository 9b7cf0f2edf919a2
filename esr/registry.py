"""Registries: items by name, such as models, priors and formats."""

from __future__ import annotations

from typing import Protocol, TypeVar

from esr.errors import unknown


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Registry(dict[str, T]):
    """Items by name, in the order of registration. Messages call an item by `kind`."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def register(self, item: T) -> T:
        self[item.name] = item
        return item

    def find(self, name: str) -> T:
        """Return the item of that name. Raises UsageError with the nearest name."""
        if name not in self:
            raise unknown(self._kind, name, self)
        return self[name]
