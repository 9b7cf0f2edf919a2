"""The operations of the API by name, in the order of docs/api.md, its routes and its OpenAPI 3.1 document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Flask, Response, jsonify, request

import esr
from webui.api import handlers
from webui.api.operation import (
    BASE,
    ERRORS,
    HEADERS,
    NOT_MODIFIED,
    Call,
    Operation,
    add_etag,
    json_response,
    search_schema,
)
from webui.api.schemas import SCHEMAS
from webui.arguments.request import decode_arguments
from webui.arguments.table import Argument
from webui.running.served_indexes import ServedIndexes, View, Visit
from webui.running.settings import Settings

OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("search", handlers.search, "Page", errors=(409,), has_twin=True),
        Operation(
            "search_body",
            handlers.search_body,
            "Page",
            method="POST",
            path="/search",
            body=search_schema,
            errors=(409,),
        ),
        Operation(
            "batch",
            handlers.batch,
            "Batch",
            method="POST",
            body=handlers.body_schema,
            other_types=(handlers.RUN, handlers.CSV),
            deadline="batch_deadline",
        ),
        Operation("facets", handlers.facets, "Facets"),
        Operation("timeline", handlers.timeline, "Timeline", has_twin=True),
        Operation("similar", handlers.similar, "Similar", errors=(404,), has_twin=True),
        Operation("concordance", handlers.concordance, "Concordance", has_twin=True),
        Operation("collocations", handlers.collocations, "Collocations", has_twin=True),
        Operation("quotes", handlers.quotes, "Quotations", has_twin=True),
        Operation("names", handlers.names, "Names", has_twin=True),
        Operation("name", handlers.name, "NamePage", path="/names/page"),
        Operation("network", handlers.network, "NameNetwork", path="/names/network"),
        Operation("contrast", handlers.contrast, "Contrast", has_twin=True),
        Operation("frequencies", handlers.frequencies, "Frequencies", has_twin=True),
        Operation("keyness", handlers.keyness, "KeyWords"),
        Operation("values", handlers.values, "Values"),
        Operation("complete", handlers.complete, "Completions"),
        Operation("explain", handlers.explain, "Explanation", errors=(404,), has_twin=True),
        Operation("document", handlers.document, "Document", errors=(404,), has_twin=True),
        Operation("documents", handlers.documents, "Documents"),
        Operation("compare", handlers.compare, "Comparison", has_twin=True),
        Operation("analyze", handlers.analyze, "Analysis"),
        Operation("models", handlers.catalogue, "Catalogue"),
        Operation("status", handlers.status, "Status"),
        Operation("query", handlers.query, "Request"),
    )
}


# Routes and the OpenAPI document


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
        "security": [{}, {"key": []}],
        "paths": {
            path: {o.method.lower(): _operation(o, settings) for o in OPERATIONS.values() if o.path == path}
            for path in dict.fromkeys(operation.path for operation in OPERATIONS.values())
        },
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "a key, where the server has logins",
                }
            },
            "headers": {
                name: {
                    "description": text,
                    "schema": {"type": "string" if name == "ETag" else "integer"},
                }
                for name, text in HEADERS.items()
            },
            "responses": {f"Error{status}": _error(status) for status in ERRORS},
        },
    }


def _operation(operation: Operation, settings: Settings) -> dict[str, Any]:
    answer = {"application/json": {"schema": {"$ref": f"#/components/schemas/{operation.answer}"}}}
    others = {media: {"schema": {"type": "string"}} for media in operation.other_types}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [_parameter(row, settings) for row in operation.arguments],
        "responses": {
            "200": {
                "description": operation.summary,
                "headers": _headers(operation),
                "content": answer | others,
            },
            **({"304": {"description": NOT_MODIFIED}} if operation.method == "GET" else {}),
            **{str(s): {"$ref": f"#/components/responses/Error{s}"} for s in operation.statuses},
        },
    }
    if operation.body:
        content = {"application/json": {"schema": operation.body(settings)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _headers(operation: Operation) -> Mapping[str, Any]:
    names = [name for name in HEADERS if name != "ETag" or operation.method == "GET"]
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _parameter(row: Argument, settings: Settings) -> Mapping[str, Any]:
    schema = row.type.schema(settings)
    described: dict[str, Any] = {
        "name": row.name,
        "in": "query",
        "description": row.help,
        "required": row.is_required,
        "schema": {"type": "array", "items": schema} if row.is_repeatable else schema,
    }
    return described | ({"style": "form", "explode": True} if row.is_repeatable else {})


def _error(status: int) -> Mapping[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    described: dict[str, Any] = {"description": ERRORS[status], "content": content}
    if status in (429, 503):
        wait = {"description": "seconds to wait", "schema": {"type": "integer"}}
        described["headers"] = {"Retry-After": wait}
    return described


def install_api(app: Flask, indexes: ServedIndexes, settings: Settings) -> None:
    """Add the routes of all operations, and of the OpenAPI document."""

    def answering(operation: Operation, *others: str) -> View:
        def view(visit: Visit) -> Response:
            arguments = decode_arguments(request.query_string, settings, operation.name, *others)
            answer = operation.handler(Call(visit, settings, arguments))
            response = answer if isinstance(answer, Response) else json_response(answer)
            return add_etag(response) if operation.method == "GET" else response

        return view

    for operation in OPERATIONS.values():
        seconds = getattr(settings, operation.deadline)
        rule, endpoint = BASE + operation.path, f"api.{operation.name}"
        indexes.route(app, rule, endpoint, operation.method, seconds)(answering(operation))
        if operation.has_twin:  # also accepts the page's other arguments
            twin = f"{operation.path}.json", f"{operation.name}_json"
            indexes.route(app, *twin)(answering(operation, "page"))

    @app.get(BASE + "/openapi.json", endpoint="api.openapi")
    def openapi() -> Response:
        return jsonify(openapi_document(settings, request.script_root + BASE))
