"""The limits of the page, in one table: name, default, help."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import NamedTuple


class Setting(NamedTuple):
    """One row of the table."""

    name: str
    default: int
    help: str


def _setting(default: int, help: str) -> int:
    made: int = field(default=default, metadata={"help": help})
    return made


@dataclass(frozen=True)
class Settings:
    """What the page allows. Each field is one setting; its help stands beside it."""

    default_k: int = _setting(10, "sentences shown when a request does not say how many")
    max_k: int = _setting(100, "sentences that one request may ask for")
    more_k: int = _setting(10, "sentences that 'Show more' adds")
    query_chars: int = _setting(2_000, "characters that a query may have")
    value_chars: int = _setting(300, "characters that any other argument may have")
    arguments: int = _setting(120, "arguments that an address may have")
    address_bytes: int = _setting(8_000, "bytes of an address behind the question mark")

    @classmethod
    def table(cls) -> list[Setting]:
        """All settings, for help texts and documents."""
        return [Setting(f.name, int(f.default), f.metadata["help"]) for f in fields(cls)]  # type: ignore[arg-type]
