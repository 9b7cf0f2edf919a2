"""The API under /api/v1: its routes, made from the data in `operations.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection

from flask import Flask, Response, g, jsonify, request

from esr.ranking.searcher import Searcher
from webui.api.json_response import json_answer
from webui.api.openapi import document
from webui.api.operation import BASE, Call, Operation
from webui.api.operations import OPERATIONS
from webui.arguments import search_request as arguments
from webui.running.settings import Settings


def install(app: Flask, searcher: Searcher, settings: Settings) -> None:
    """Add every operation, and the document that describes them."""

    def view(operation: Operation, besides: Collection[str] = ()) -> Callable[[], Response]:
        parameters = operation.parameters(settings)
        known = {*(parameter.name for parameter in parameters), *besides}
        required = [each for each in parameters if each.required and each.name != "q"]

        def answer() -> Response:
            g.seconds = getattr(settings, operation.deadline)
            values = arguments.decode(request.query_string, settings, known)
            for parameter in required:
                if parameter.name not in values:
                    message = f"argument {parameter.name!r} is missing: {parameter.description}"
                    raise arguments.BadArgument(message, parameter.name)
            found = operation.handler(Call(searcher, settings, values))
            return found if isinstance(found, Response) else json_answer(found)

        return answer

    for operation in OPERATIONS.values():
        app.add_url_rule(
            BASE + operation.path, f"api.{operation.name}", view(operation), methods=[operation.method]
        )
        if operation.twin:  # its address is the page's, with all that this remembers
            app.add_url_rule(operation.twin, f"{operation.name}_json", view(operation, arguments.KNOWN))

    @app.get(BASE + "/openapi.json", endpoint="api.openapi")
    def openapi() -> Response:
        return jsonify(document(settings, request.script_root + BASE))
