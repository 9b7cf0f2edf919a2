"""The file that says what `esr sync` reads: TOML, whose keys are options of the command line."""

from __future__ import annotations

import glob
import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

import esr
from esr.cli.options import add_options
from esr.cli.source import Source
from esr.cli.source_options import DELIVERY_OPTIONS, SOURCE_OPTIONS
from esr.cli.writing_options import NEW_INDEX_OPTIONS, keep, lifts, merge, workers
from esr.errors import InputError, UsageError, unknown

GONE = {
    "keep": "what a source no longer has stays in the index",
    "remove": "documents that no file of any source has any more are removed",
}
_OWN_KEYS = ("state", "source")
_KEYS_OF_SOURCES = ("name", "paths", "gone")
_INDEX_OPTIONS = (*NEW_INDEX_OPTIONS, keep, lifts, merge, workers)
_DEFAULTS = {"same-id": "last"}
"""Feeds repeat and correct what they had before, so a schedule takes the last version."""


@dataclass(frozen=True)
class SyncedSource:
    """A source with its name, whether documents that it loses are removed, and its options as text."""

    name: str
    source: Source
    is_removing: bool
    options: str


@dataclass(frozen=True)
class SyncConfig:
    """`delivery` are the values of DELIVERY_OPTIONS, `index` those of the options of indexes."""

    sources: Sequence[SyncedSource]
    state: Path
    delivery: Mapping[str, Any]
    index: Mapping[str, Any]


def read_config(path: Path) -> SyncConfig:
    """Raises InputError for a file that cannot be read, UsageError that names a bad entry."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(str(path), "is not UTF-8, which TOML requires") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), f"is not TOML: {error}") from None
    return _Reader(path).read(table)


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.resolve().parent

    def read(self, table: Mapping[str, Any]) -> SyncConfig:
        general = {key: value for key, value in table.items() if key not in _OWN_KEYS}
        options = (*SOURCE_OPTIONS, *DELIVERY_OPTIONS, *_INDEX_OPTIONS)
        self._parse(general, options, str(self._path), _OWN_KEYS)
        defaults = {key: value for key, value in general.items() if key in _keys(SOURCE_OPTIONS)}
        of_index = {key: value for key, value in general.items() if key in _keys(_INDEX_OPTIONS)}
        of_delivery = {key: value for key, value in general.items() if key in _keys(DELIVERY_OPTIONS)}
        sources = list(self._sources(table.get("source"), defaults))
        names = [source.name for source in sources]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"{self._path}: two sources have the name {name!r}: give each its own")
        state = table.get("state", f"{self._path.name}.state")
        if not isinstance(state, str):
            raise UsageError(f'{self._path}: state must be the name of a file, such as "news.state"')
        return SyncConfig(
            sources,
            Path(self._resolve(state)),
            self._parse({**_DEFAULTS, **of_delivery}, DELIVERY_OPTIONS, str(self._path)),
            self._parse(of_index, _INDEX_OPTIONS, str(self._path)),
        )

    def _sources(self, tables: Any, defaults: Mapping[str, Any]) -> Iterator[SyncedSource]:
        if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
            raise UsageError(f'{self._path}: there is no source: add [[source]] with paths = ["FOLDER"]')
        for number, table in enumerate(tables, 1):
            yield self._source(table, defaults, f"{self._path}: source {table.get('name', number)}")

    def _source(self, table: Mapping[str, Any], defaults: Mapping[str, Any], where: str) -> SyncedSource:
        own = {key: value for key, value in table.items() if key not in _KEYS_OF_SOURCES}
        paths = table.get("paths")
        if isinstance(paths, str):
            paths = [paths]
        if not isinstance(paths, list) or not paths or not all(isinstance(p, str) and p for p in paths):
            raise UsageError(f'{where}: paths must name files, folders or patterns: paths = ["feeds/*.xml"]')
        if "-" in paths:
            raise UsageError(f"{where}: standard input cannot be a source: save it to a file first")
        name = table.get("name", ", ".join(paths))
        if not isinstance(name, str) or not name:
            raise UsageError(f"{where}: name must be a string")
        gone = table.get("gone", "keep")
        if gone not in GONE:
            raise UsageError(f"{where}: gone is one of {', '.join(GONE)}, not {gone!r}")
        options = self._parse(own, SOURCE_OPTIONS, where, _KEYS_OF_SOURCES, defaults)
        existing = list(self._expand(paths, where))
        try:
            source = Source(existing, **options)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        digest = json.dumps([esr.__version__, options], sort_keys=True, default=str)
        return SyncedSource(name, source, gone == "remove", digest)

    def _expand(self, paths: Sequence[str], where: str) -> Iterator[str]:
        """The paths that exist. A pattern may match nothing yet."""
        for path in paths:
            resolved = self._resolve(path)
            if os.path.exists(resolved):
                yield resolved
            elif glob.has_magic(path):
                yield from sorted(glob.glob(resolved, recursive=True))
            else:
                raise UsageError(f"{where}: paths: there is no file or folder {resolved}")

    def _resolve(self, path: str) -> str:
        """A path as seen from the folder of the file that names it."""
        return os.path.join(self._folder, os.path.expanduser(path))

    def _parse(
        self,
        table: Mapping[str, Any],
        options: Sequence[Callable[[Any], Any]],
        where: str,
        other_keys: Sequence[str] = (),
        defaults: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """The values that the command line would give for these entries. Raises UsageError."""
        known = _keys(options)
        for key in table:
            if key not in known:
                raise UsageError(f"{where}: {unknown('key', key, [*known, *other_keys])}")
        arguments: list[str] = []
        for key, value in {**defaults, **table}.items():
            arguments += self._arguments(known[key], key, value, where)
        try:
            with _command(options).make_context("sync", arguments) as context:
                return context.params
        except click.UsageError as error:
            raise UsageError(f"{where}: {error.format_message()}") from None

    def _arguments(self, option: click.Option, key: str, value: Any, where: str) -> Iterator[str]:
        """The option as the command line would have it."""
        if option.is_flag:
            if not isinstance(value, bool):
                raise UsageError(f"{where}: {key} must be true or false, not {value!r}")
            names = option.opts if f"--{key}" in option.opts else option.secondary_opts
            others = option.secondary_opts if names is option.opts else option.opts
            yield from (names if value else others)[:1]
            return
        if option.multiple and isinstance(value, dict):
            value = [f"{name}={text}" for name, text in value.items()]
        values = value if option.multiple and isinstance(value, list) else [value]
        for item in values:
            if isinstance(item, bool) or not isinstance(item, str | int | float):
                raise UsageError(f"{where}: {key} must be {_describe_value(option)}, not {item!r}")
            text = self._resolve(str(item)) if isinstance(option.type, click.Path) else str(item)
            yield f"--{key}={text}"


def _describe_value(option: click.Option) -> str:
    return "a list of strings" if option.multiple else "a string or a number"


def _command(options: Sequence[Callable[[Any], Any]]) -> click.Command:
    command: click.Command = add_options(options, click.Command("sync"))
    return command


def _keys(options: Sequence[Callable[[Any], Any]]) -> dict[str, click.Option]:
    """The options by the keys that they have in the file: their names without dashes."""
    return {
        name.removeprefix("--"): option
        for option in _command(options).params
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }
