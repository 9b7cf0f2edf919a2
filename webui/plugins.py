"""Pages and API operations of plug-ins, behind the same gate as those of esr.

They are at /plugins/NAME and /api/v1/plugins/NAME, so that none is ever at an address of esr.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from flask import Flask, Response, request, url_for
from markupsafe import Markup

from esr import plugin
from esr.arguments.argument import Argument
from esr.arguments.types import Limits, Schema, Text, Type
from esr.errors import UsageError, unknown
from esr.installed_plugins import PLUGINS, Kind
from esr.library.public_index import Index
from esr.stdlib import cached_property
from webui.api.operation import Call, Operation
from webui.arguments.request import Arguments, decode_rows
from webui.pages.rendering import PageRenderer
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings

FOLDER = "/plugins"
_PAGES = Kind("pages", "page", plugin.Page)
_OPERATIONS = Kind("operations", "operation", plugin.Operation)
_COMMON = (
    Argument("q", "what to search for: words, or the query language", Text("query_chars"), ""),
    Argument("index", "the name of an index, where several are served", Text(), ""),
)
"""The arguments of all pages and operations of plug-ins."""


class PluginValue(Type, frozen=True, kw_only=True):
    """The values of an argument that a plug-in declares."""

    declared: plugin.Argument

    def schema(self, limits: Limits) -> Schema:
        declared = self.declared
        default = {} if declared.default is None else {"default": declared.default}
        if declared.kind == "choice":
            return {"enum": list(declared.choices), **default}
        if declared.kind == "text":
            return {"type": "string", "maxLength": getattr(limits, self.chars), **default}
        bounds = {"minimum": declared.low, "maximum": declared.high}
        finite = {name: bound for name, bound in bounds.items() if math.isfinite(bound)}
        return {"type": "integer" if declared.kind == "whole" else "number", **finite, **default}

    def read(self, name: str, text: str, limits: Limits) -> Any:
        declared = self.declared
        if declared.kind == "text":
            return text
        if declared.kind == "choice":
            if text not in declared.choices:
                raise unknown(name, text, declared.choices)
            return text
        try:
            number = int(text) if declared.kind == "whole" else float(text)
            is_finite = math.isfinite(number)
        except (ValueError, OverflowError):
            number, is_finite = 0, False
        if not (is_finite and declared.low <= number <= declared.high):
            kind = "a whole number" if declared.kind == "whole" else "a number"
            raise UsageError(
                f"argument {name!r} must be {kind} from {declared.low:g} to {declared.high:g}, not {text!r}"
            )
        return number

    def default(self, limits: Limits) -> Any:
        return self.declared.default


class _Request(plugin.Request):
    """A request whose index is that of the visit: the part that its sender may see, within the deadline."""

    def __init__(self, visit: Visit, arguments: Mapping[str, Any]) -> None:
        super().__init__(lambda: self._index, arguments)
        self._visit = visit

    @cached_property
    def _index(self) -> Index:
        return Index.from_searcher(self._visit.searcher)


def build_operations() -> list[Operation]:
    """The operations of the API that plug-ins declare."""
    declared: Iterable[plugin.Operation] = PLUGINS.find_all(_OPERATIONS).values()
    return [
        Operation(
            f"plugins.{operation.name}",
            _answering(operation),
            f"plugins.{operation.name}",
            path=f"{FOLDER}/{operation.name}",
            own_rows=_rows(operation.arguments),
            schema=operation.schema,
        )
        for operation in declared
    ]


def _answering(operation: plugin.Operation) -> Callable[[Call], Any]:
    def answer(call: Call) -> Any:
        return operation.answer(_Request(call.visit, _read_values(operation.arguments, call.arguments)))

    answer.__doc__ = operation.description
    return answer


def install_pages(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the pages that plug-ins declare, and the links to them."""
    pages: Sequence[plugin.Page] = list(PLUGINS.find_all(_PAGES).values())
    app.jinja_env.globals["plugin_pages"] = lambda: [
        (page.title, url_for(f"plugins.{page.name}")) for page in pages if page.title
    ]
    for page in pages:
        _add_page(app, indexes, settings, render, page)


def _add_page(
    app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer, page: plugin.Page
) -> None:
    rows = _rows(page.arguments)

    def view(visit: Visit) -> Response:
        arguments = decode_rows(request.query_string, settings, rows)
        content = page.answer(_Request(visit, _read_values(page.arguments, arguments)))
        body = Markup(app.jinja_env.from_string(content.template).render(content.values))  # nosec B704  # escaped by Jinja
        return render(visit, "plugin.html", heading=content.title, body=body)

    indexes.route(app, f"{FOLDER}/{page.name}", f"plugins.{page.name}")(view)


def _rows(declared: Sequence[plugin.Argument]) -> dict[str, Argument]:
    rows = [
        Argument(
            argument.name,
            argument.help,
            PluginValue(declared=argument),
            "",
            is_required=argument.is_required,
            is_repeatable=argument.is_repeatable,
        )
        for argument in declared
    ]
    return {row.name: row for row in (*rows, *_COMMON)}


def _read_values(declared: Sequence[plugin.Argument], arguments: Arguments) -> dict[str, Any]:
    """The values of all arguments by name. Raises RequestError."""
    repeatable = {argument.name for argument in declared if argument.is_repeatable}
    names = dict.fromkeys([*(argument.name for argument in declared), "q"])
    return {
        name: list(arguments.values_of(name)) if name in repeatable else arguments.value(name)
        for name in names
    }
