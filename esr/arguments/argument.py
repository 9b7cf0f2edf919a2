"""A row of the tables of arguments."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from esr.arguments.types import Choice, Day, Limits, Schema, Text, Type
from esr.deprecation import deprecation

COMMAND, PYTHON, WATCH, ASSISTANT = "command", "python", "watch", "assistant"
"""Doors that arguments may be for, beside pages and operations of the API: the options of commands, the
keywords of Python, the keys of files of searches, and the tools of assistants."""
SEARCHES = f"{COMMAND} {PYTHON} {WATCH}"
"""The doors that have every filter."""

Group = Literal["reading", "ranking", "filter", "condition", "arrangement", ""]
_AS_NOW: Mapping[str, str] = MappingProxyType({})


class Alias(Struct, frozen=True):
    """A former name of an argument. `since`: the version of esr that replaced it.

    `type`: that of its values, if they mean something else there; `note` then says what is different now.
    `values`: the values of today by those that it has. `applies_to`: the doors and operations that know it,
    by default all that take the argument. `fits`: whether a value is for it, where another argument has the
    name now.
    """

    name: str
    since: str
    type: Day | None = None
    values: Mapping[str, str] = _AS_NOW
    applies_to: str = ""
    fits: Callable[[str], bool] | None = None
    note: str = ""

    def schema(self, type: Type, limits: Limits) -> Schema:
        """The JSON Schema of its values, where the type of the argument is `type`. It has no default."""
        schema = self.type_for(type).schema(limits)
        return {**{key: value for key, value in schema.items() if key != "default"}, "deprecated": True}

    def type_for(self, type: Type) -> Type:
        """The type of its values, where that of the argument is `type`."""
        return self.type or (Choice(labels=dict.fromkeys(self.values, "")) if self.values else type)


class Argument(Struct, frozen=True):
    """An argument: its name, its meaning as a noun phrase, and the type of its values.

    `applies_to`: what takes it: doors such as COMMAND, operations of the API, and "page" for all pages.
    `aliases`: its former names. `foreign_names`: its names in other programs, for hints. `sets`: for a
    filter, the field of `Filters` or the attribute that it sets, otherwise the parameter of the function that
    takes it, if this has another name. `spelled`: its names at doors that have another one.

    On the command line, `letter` is its short option, such as o, and `metavar` stands for its value in help.
    One that `is_positional` is no option.

    In the form, `label` is the label of its field; without one, it has no field. `empty`: the meaning of an
    empty field. `phrase`: the setting in the line above the closed form, with {} for its value. `unchecked`:
    the value that an unchecked box submits, if a ticked one submits none.
    """

    name: str
    help: str
    type: Type = Text()
    applies_to: str = ""
    group: Group = ""
    is_required: bool = False
    is_repeatable: bool = False
    label: str = ""
    empty: str = ""
    phrase: str = ""
    unchecked: str = ""
    foreign_names: tuple[str, ...] = ()
    aliases: tuple[Alias, ...] = ()
    sets: str = ""
    spelled: Mapping[str, str] = _AS_NOW
    letter: str = ""
    metavar: str = ""
    is_positional: bool = False

    def read(self, text: str, limits: Limits) -> Any:
        """The value in an address. Raises UsageError."""
        return self.type.read(self.name, text, limits)

    def is_for(self, taker: str) -> bool:
        """Whether a door or an operation takes it."""
        return taker in self.applies_to.split()

    def names(self, taker: str) -> Iterator[tuple[str, Type]]:
        """Its name and the former ones that a door or an operation takes, with the types of their values."""
        yield self.name_at(taker), self.type
        for alias in self.aliases:
            if not alias.applies_to or taker in alias.applies_to.split():
                yield alias.name, alias.type_for(self.type)

    def deprecations(
        self, names: Container[str], taker: str, write: Callable[[str], str] = "{}".format
    ) -> Iterator[str]:
        """What is said of its former names among those that are given to a door. `write` writes a name."""
        for alias in self.aliases:
            if alias.name in names and (not alias.applies_to or taker in alias.applies_to.split()):
                yield deprecation(write(alias.name), write(self.name_at(taker)), alias.since, alias.note)

    def name_at(self, taker: str) -> str:
        """Its name at a door or in an operation."""
        return self.spelled.get(taker, self.name)

    def sentence(self) -> str:
        """Its meaning as a sentence."""
        return f"{self.help[:1].upper()}{self.help[1:]}."


def hints(rows: Iterable[Argument]) -> dict[str, str]:
    """Arguments by their names in other programs."""
    return {other: row.name for row in rows for other in row.foreign_names}
