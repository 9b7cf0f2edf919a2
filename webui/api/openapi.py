"""The routes of the API and its OpenAPI 3.1 document, both made from the data in `operations.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from flask import Flask, Response, g, jsonify, request

import esr
from esr.ranking.searcher import Searcher
from webui.api.operation import BASE, ERRORS, Call, Operation, Parameter, json_response
from webui.api.operations import OPERATIONS
from webui.api.schemas import SCHEMAS
from webui.arguments.query_string import SEARCH_ARGUMENTS, decode_arguments
from webui.running.request_errors import RequestError
from webui.running.settings import Settings


def openapi_document(settings: Settings, server: str) -> dict[str, Any]:
    """The OpenAPI document of an API at the address `server`."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "esr",
            "version": esr.__version__,
            "description": "Search for sentences of news.",
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "paths": {
            operation.path: {operation.method.lower(): _operation(operation, settings)}
            for operation in OPERATIONS.values()
        },
        "components": {
            "schemas": SCHEMAS,
            "responses": {f"Error{status}": _error(status) for status in ERRORS},
        },
    }


def _operation(operation: Operation, settings: Settings) -> dict[str, Any]:
    answer = {"application/json": {"schema": {"$ref": f"#/components/schemas/{operation.answer}"}}}
    others = {media: {"schema": {"type": "string"}} for media in operation.other_types}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [_parameter(parameter) for parameter in operation.parameters(settings)],
        "responses": {
            "200": {"description": operation.summary, "content": answer | others},
            **{str(s): {"$ref": f"#/components/responses/Error{s}"} for s in operation.statuses},
        },
    }
    if operation.body:
        content = {"application/json": {"schema": operation.body(settings)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _parameter(parameter: Parameter) -> Mapping[str, Any]:
    schema = parameter.schema
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "required": parameter.required,
        "schema": {"type": "array", "items": schema} if parameter.is_repeatable else schema,
    }
    return described | ({"style": "form", "explode": True} if parameter.is_repeatable else {})


def _error(status: int) -> Mapping[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    described: dict[str, Any] = {"description": ERRORS[status], "content": content}
    if status in (429, 503):
        wait = {"description": "seconds to wait", "schema": {"type": "integer"}}
        described["headers"] = {"Retry-After": wait}
    return described


def install_api(app: Flask, searcher: Searcher, settings: Settings) -> None:
    """Add the routes of all operations, and of the OpenAPI document."""

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
        if operation.page_twin:  # also accepts the page's other arguments
            app.add_url_rule(operation.page_twin, f"{operation.name}_json", view(operation, SEARCH_ARGUMENTS))

    @app.get(BASE + "/openapi.json", endpoint="api.openapi")
    def openapi() -> Response:
        return jsonify(openapi_document(settings, request.script_root + BASE))
