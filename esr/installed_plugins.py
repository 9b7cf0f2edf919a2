"""The plug-ins of this process: those that come with esr, installed ones, and those that programs register.

An installed package announces a plug-in by an entry point of the group `esr.plugins`. Reading entry points
takes 50 to 200 ms, longer than a search, so they are read when they are first needed: for a name that esr
does not have, and for lists. Those that come with esr are in a list, and are imported as late.

A plug-in that cannot be used is left out and reported once. It raises PluginError only for those who ask for
what it declares.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from esr.errors import EsrError, UsageError, to_one_line
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from importlib import metadata
else:
    metadata = import_lazily("importlib.metadata")

GROUP = "esr.plugins"
"""The group of the entry points."""
VARIABLE = "ESR_PLUGINS"
NONE = "none"
PLUGIN_VARIABLES = {
    VARIABLE: f"installed plug-ins to use: their names, separated by commas, or `{NONE}`; by default, all",
}
SHIPPED: Mapping[str, str] = {
    "esr.alerts:plugin": "commands",
    "esr.bridges:plugin": "commands",
    "esr.corpus:plugin": "commands",
    "esr.dossiers:plugin": "commands",
    "esr.evidence:plugin": "commands",
    "esr.lab:plugin": "commands",
    "esr.loaders.office:plugin": "formats",
    "esr.loaders.press:plugin": "formats refinements",
    "esr.loaders.archives:plugin": "formats",
    "esr.sources:plugin": "sources",
}
"""The plug-ins that come with esr, as module:attribute, each with the fields that it fills."""


class PluginWarning(UserWarning):
    """A plug-in, or something that it declares, is left out."""


class PluginError(EsrError):
    """What was asked for is declared by a plug-in that cannot be used, or by two."""


class Declarations(Struct, frozen=True, kw_only=True):
    """The base of `esr.plugin.Plugin`, which has a mapping for each kind of item.

    A mapping has items by name. An item is the object itself, or "module:attribute", which is imported when
    the item is needed.
    """

    name: str


class _Plugin(NamedTuple):
    """A usable plug-in. `label` names it in messages."""

    label: str
    declarations: Declarations


class Kind(NamedTuple):
    """A kind of items: the field of `Plugin` that declares them, the word for one, and their class."""

    field: str
    word: str
    type: type[Any]


def _warn(message: str) -> None:
    warnings.warn(message, PluginWarning, stacklevel=2)


class Plugins:
    """The plug-ins of a process, and what they declare."""

    def __init__(self) -> None:
        self._report: Callable[[str], None] = _warn
        self._registered: list[_Plugin] = []
        self._installed: list[_Plugin] | None = None
        self._shipped: dict[str, _Plugin] = {}
        self._shipped_items: dict[Kind, Mapping[str, Any]] = {}
        self._items: dict[tuple[str, str, str], Any] = {}
        self._reported: set[str] = set()

    @contextmanager
    def reporting(self, report: Callable[[str], None]) -> Iterator[None]:
        """Call `report` with each new problem inside the block, instead of warning of it."""
        before, self._report = self._report, report
        try:
            yield
        finally:
            self._report = before

    # Which plug-ins there are

    def register(self, plugin: Declarations) -> None:
        """Use a plug-in in this process, without an entry point. Raises UsageError for anything else."""
        if not isinstance(plugin, Declarations):
            raise UsageError(f"a plug-in is an esr.plugin.Plugin, not {plugin!r}")
        self._registered.append(_Plugin(f"{plugin.name!r}", plugin))

    def unregister(self, plugin: Declarations) -> None:
        """Stop using a plug-in that was registered by `register`."""
        self._registered = [known for known in self._registered if known.declarations is not plugin]

    def _shipped_with(self, kind: Kind) -> list[_Plugin]:
        """The plug-ins that come with esr and declare items of a kind."""
        references = [reference for reference, fields in SHIPPED.items() if kind.field in fields.split()]
        for reference in references:
            if reference not in self._shipped:
                self._shipped[reference] = _Plugin(OWN, _import(reference))
        return [self._shipped[reference] for reference in references]

    @property
    def _others(self) -> list[_Plugin]:
        """Installed and registered plug-ins. The first use reads the entry points."""
        if self._installed is None:
            self._installed = list(self._load_installed())
        return [*self._installed, *self._registered]

    def _load_installed(self) -> Iterator[_Plugin]:
        chosen = [name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()]
        if chosen == [NONE]:
            return

        points = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))
        for name in chosen:
            if name not in {point.name for point in points}:
                self._report_once(f"{VARIABLE} names the plug-in {name!r}, which is not installed")
        for point in points:
            if chosen and point.name not in chosen:
                continue
            label = f"{point.name!r}"
            if point.dist is not None:
                label += f" ({point.dist.name} {point.dist.version})"
            try:
                declarations = point.load()
                if not isinstance(declarations, Declarations):
                    raise TypeError(f"{point.value} is no esr.plugin.Plugin, but {declarations!r}")
            except (Exception, SystemExit) as error:
                self._report_once(
                    f"the plug-in {label} is left out: {_describe(error)}; update or uninstall it, or choose "
                    f"others by {VARIABLE}"
                )
            else:
                yield _Plugin(label, declarations)

    def describe(self) -> list[dict[str, Any]]:
        """The installed and registered plug-ins, with the names that they declare, for lists."""
        return [
            {"name": plugin.declarations.name, "from": plugin.label, **_describe_items(plugin.declarations)}
            for plugin in self._others
        ]

    # What they declare

    def find(self, kind: Kind, name: str) -> Any:
        """The item of that name; None if no plug-in declares it. Raises PluginError."""
        for plugin in self._shipped_with(kind):
            if name in _items(plugin, kind):
                return self._resolve(plugin, kind, name)
        declaring = [plugin for plugin in self._others if name in _items(plugin, kind)]
        if len(declaring) > 1:
            raise PluginError(_describe_clash(kind, name, declaring))
        return self._resolve(declaring[0], kind, name) if declaring else None

    def list_shipped(self, kind: Kind) -> list[str]:
        """The names of the items of plug-ins that come with esr."""
        return [name for plugin in self._shipped_with(kind) for name in _items(plugin, kind)]

    def find_shipped(self, kind: Kind) -> Mapping[str, Any]:
        """The items of plug-ins that come with esr."""
        if kind not in self._shipped_items:
            self._shipped_items[kind] = {name: self.find(kind, name) for name in self.list_shipped(kind)}
        return self._shipped_items[kind]

    def find_all(self, kind: Kind, reserved: Iterable[str] = ()) -> dict[str, Any]:
        """The items of installed and registered plug-ins, without those that cannot be used.

        Names in `reserved` are those of esr.
        """
        reserved_names = {*reserved, *self.list_shipped(kind)}
        declaring: dict[str, list[_Plugin]] = {}
        for plugin in self._others:
            for name in _items(plugin, kind):
                declaring.setdefault(name, []).append(plugin)
        items = {}
        for name, plugins in declaring.items():
            if name in reserved_names:
                self._report_once(
                    f"the {kind.word} {name!r} of the plug-in {plugins[0].label} is left out: esr itself has "
                    "one of that name"
                )
            elif len(plugins) > 1:
                self._report_once(_describe_clash(kind, name, plugins))
            else:
                try:
                    items[name] = self._resolve(plugins[0], kind, name)
                except PluginError as error:
                    self._report_once(str(error))
        return items

    def report_failure(self, kind: Kind, name: str, error: Exception) -> None:
        """Report that an item of a plug-in raised an error where another can be used instead of it."""
        labels = ", ".join(plugin.label for plugin in self._others if name in _items(plugin, kind))
        self._report_once(f"the {kind.word} {name!r} of the plug-in {labels} failed: {_describe(error)}")

    def _resolve(self, plugin: _Plugin, kind: Kind, name: str) -> Any:
        key = plugin.label, kind.field, name
        item = _items(plugin, kind)[name]
        if not isinstance(item, str):
            self._check(plugin, kind, name, item)
            return item
        if key not in self._items:
            try:
                imported = _import(item)
            except (Exception, SystemExit) as error:
                if plugin.label == OWN:  # such as an extra that is not installed
                    raise
                message = f"the {kind.word} {name!r} of the plug-in {plugin.label} cannot be used: "
                raise PluginError(message + _describe(error)) from error
            self._check(plugin, kind, name, imported)
            self._items[key] = imported
        return self._items[key]

    def _check(self, plugin: _Plugin, kind: Kind, name: str, item: Any) -> None:
        """Raise PluginError unless the item is of its kind and has its name."""
        if not isinstance(item, kind.type):
            problem = f"it is no {kind.type.__name__}, but {to_one_line(repr(item))}"
        elif item.name != name:
            problem = f"its own name is {item.name!r}"
        else:
            return
        raise PluginError(f"the {kind.word} {name!r} of the plug-in {plugin.label} cannot be used: {problem}")

    def _report_once(self, message: str) -> None:
        if message not in self._reported:
            self._reported.add(message)
            self._report(message)


OWN = "esr"
"""The label of plug-ins that come with esr."""
PLUGINS = Plugins()
"""The plug-ins of this process."""


def _items(plugin: _Plugin, kind: Kind) -> Mapping[str, Any]:
    items: Mapping[str, Any] = getattr(plugin.declarations, kind.field)
    return items


def _describe_items(declarations: Declarations) -> dict[str, list[str]]:
    mappings = {field: getattr(declarations, field) for field in declarations.__struct_fields__}
    return {field: list(items) for field, items in mappings.items() if items and isinstance(items, Mapping)}


def _describe_clash(kind: Kind, name: str, plugins: Iterable[_Plugin]) -> str:
    labels = " and ".join(plugin.label for plugin in plugins)
    return (
        f"the {kind.word} {name!r} is declared by more than one plug-in, {labels}: uninstall one of them, or "
        f"choose by {VARIABLE}"
    )


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {to_one_line(error)}" if str(error) else type(error).__name__


def _import(reference: str) -> Any:
    """The object of a reference, module:attribute."""
    module, _, attribute = reference.partition(":")
    value: Any = import_module(module)
    for name in attribute.split("."):
        value = getattr(value, name)
    return value
