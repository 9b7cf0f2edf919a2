"""Aliases of names: a user's table of names that are one, though no key could tell.

The table is a file with a line for each name: the form under which it is shown, then its aliases, separated
by tabs. Lines that begin with # are comments. An index stores the table, and searches group names by it.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from esr.engines.keys import name_key
from esr.errors import InputError

MAX_ALIASES = 20_000
"""Aliases in one table. Every index stores it, and Elasticsearch keeps it in the memory of all its nodes."""


class Aliases(Struct, frozen=True, dict=True):
    """The aliases of names, by the form under which a name is shown."""

    forms: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.forms)

    def group_key(self, key: str) -> str:
        """The key of the name that a key belongs to: most often itself."""
        return self._group_keys.get(key, key)

    def members(self, key: str) -> tuple[str, ...]:
        """All keys of the name that a key belongs to, its group key first."""
        group = self.group_key(key)
        return self.groups.get(group, (group,))

    def form(self, group_key: str) -> str | None:
        """The form under which a name is shown, None where the table does not have it."""
        return self._forms.get(group_key)

    def with_prefix(self, prefix: str) -> list[str]:
        """The group keys of the names of which a key begins so."""
        return [group for group, keys in self.groups.items() if any(k.startswith(prefix) for k in keys)]

    @property
    def keys(self) -> KeysView[str]:
        """The keys of all names and aliases in the table."""
        return self._group_keys.keys()

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The keys of each name by its group key, which comes first."""
        return {
            name_key(form): tuple(dict.fromkeys(map(name_key, (form, *aliases))))
            for form, aliases in self.forms.items()
        }

    @cached_property
    def _group_keys(self) -> dict[str, str]:
        return {key: group for group, keys in self.groups.items() for key in keys}

    @cached_property
    def _forms(self) -> dict[str, str]:
        return {name_key(form): form for form in self.forms}

    def as_dict(self) -> dict[str, Any]:
        """As it is stored."""
        return {form: list(aliases) for form, aliases in self.forms.items()}


NO_ALIASES = Aliases()


def read_aliases(path: Path) -> Aliases:
    """The table in a file. Raises InputError with the line of what is wrong."""
    forms: dict[str, list[str]] = {}
    lines_of: dict[str, int] = {}
    for number, line in _read_lines(path):
        names = [name.strip() for name in line.split("\t")]
        where = f"{path}:{number}"
        if len(names) < 2 or not all(names):
            raise InputError(where, "a line needs a name and at least one alias, separated by single tabs")
        for key, name in {name_key(name): name for name in reversed(names)}.items():
            if key in lines_of:
                raise InputError(where, f"{name!r} is on line {lines_of[key]} already: one name, one line")
            lines_of[key] = number
        forms[names[0]] = names[1:]
        if len(lines_of) > MAX_ALIASES:
            raise InputError(where, f"the table has more than {MAX_ALIASES:,} names")
    return Aliases(forms)


def _read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines with content, numbered from 1."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{number}", "is not UTF-8") from error
        if text.strip() and not text.startswith("#"):
            yield number, text
