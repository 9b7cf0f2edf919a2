"""The routes of the API, made from the data in `operations.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection

from flask import Flask, Response, g, jsonify, request

from esr.ranking.searcher import Searcher
from webui.api.json_response import json_response
from webui.api.openapi import openapi_document
from webui.api.operation import BASE, Call, Operation
from webui.api.operations import OPERATIONS
from webui.arguments.names import SEARCH_ARGUMENTS
from webui.arguments.query_string import decode_arguments
from webui.running.request_errors import RequestError
from webui.running.settings import Settings


def install(app: Flask, searcher: Searcher, settings: Settings) -> None:
    """Add every operation, and the document that describes them."""

    def view(operation: Operation, more_names: Collection[str] = ()) -> Callable[[], Response]:
        parameters = operation.parameters(settings)
        names = {*(parameter.name for parameter in parameters), *more_names}
        required = [parameter for parameter in parameters if parameter.required and parameter.name != "q"]

        def answer() -> Response:
            g.deadline_seconds = getattr(settings, operation.deadline)
            arguments = decode_arguments(request.query_string, settings, names)
            for parameter in required:
                if parameter.name not in arguments:
                    message = f"argument {parameter.name!r} is missing: {parameter.description}"
                    raise RequestError(message, parameter.name)
            response = operation.handler(Call(searcher, settings, arguments))
            return response if isinstance(response, Response) else json_response(response)

        return answer

    for operation in OPERATIONS.values():
        app.add_url_rule(
            BASE + operation.path, f"api.{operation.name}", view(operation), methods=[operation.method]
        )
        if operation.page_twin:  # its address is the page's, with all arguments that the page keeps
            app.add_url_rule(operation.page_twin, f"{operation.name}_json", view(operation, SEARCH_ARGUMENTS))

    @app.get(BASE + "/openapi.json", endpoint="api.openapi")
    def openapi() -> Response:
        return jsonify(openapi_document(settings, request.script_root + BASE))
