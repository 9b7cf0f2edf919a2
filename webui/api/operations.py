"""The operations of the API by name, in the order of docs/api.md, its routes and its OpenAPI 3.1 document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Flask, Response, jsonify, request

import esr
from esr.arguments.argument import Argument
from esr.arguments.tables.table import rows
from esr.arguments.types import Schema
from webui.api import alerts, dossiers, handlers
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
from webui.arguments.request import decode_rows
from webui.running.served_desk import ServedDesk
from webui.running.served_indexes import Page, ServedIndexes, Visit
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
        Operation("concordance", handlers.concordance, "Concordance", errors=(409,), has_twin=True),
        Operation("collocations", handlers.collocations, "Collocations", has_twin=True),
        Operation("quotes", handlers.quotes, "Quotations", has_twin=True),
        Operation("check", handlers.check, "Check", has_twin=True),
        Operation(
            "check_body",
            handlers.check_body,
            "Check",
            method="POST",
            path="/check",
            body=handlers.check_schema,
            deadline="batch_deadline",
        ),
        Operation("names", handlers.names, "Names", has_twin=True),
        Operation("name", handlers.name, "NamePage", path="/names/page"),
        Operation("statements", handlers.statements, "Statements", path="/names/statements"),
        Operation("network", handlers.network, "NameNetwork", path="/names/network"),
        Operation("contrast", handlers.contrast, "Contrast", has_twin=True),
        Operation("reuse", handlers.reuse, "Reuse"),
        Operation("evidence", handlers.evidence, "Evidence", has_twin=True),
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
        Operation("collection", handlers.collection, "Holdings", has_twin=True),
        Operation("status", handlers.status, "Status"),
        Operation("query", handlers.query, "Request"),
        *dossiers.OPERATIONS,
        *alerts.OPERATIONS,
    )
}


# Routes and the OpenAPI document


def openapi_document(settings: Settings, server: str, others: Sequence[Operation] = ()) -> dict[str, Any]:
    """The OpenAPI document of an API at the address `server`, with the operations of plug-ins."""
    operations = [*OPERATIONS.values(), *others]
    schemas = {operation.answer: operation.schema for operation in others}
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
            path: {o.method.lower(): _operation(o, settings) for o in operations if o.path == path}
            for path in dict.fromkeys(operation.path for operation in operations)
        },
        "components": {
            "schemas": {**SCHEMAS, **schemas},
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
        "parameters": _parameters(operation, settings),
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


def _parameters(operation: Operation, settings: Settings) -> list[Mapping[str, Any]]:
    """The arguments of an operation, then their former names, except those that are arguments now."""
    rows = {row.name: row for row in operation.arguments}
    former = {
        alias.name: {
            **_parameter(row, alias.schema(row.type, settings)),
            "name": alias.name,
            "description": f"former name of {row.name}",
            "deprecated": True,
        }
        for row in rows.values()
        for alias in row.aliases
        if alias.name not in rows
    }
    return [*(_parameter(row, row.type.schema(settings)) for row in rows.values()), *former.values()]


def _parameter(row: Argument, schema: Schema) -> Mapping[str, Any]:
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


def install_api(
    app: Flask,
    indexes: ServedIndexes,
    settings: Settings,
    desk: ServedDesk,
    others: Sequence[Operation] = (),
) -> None:
    """Add the routes of all operations, of those of plug-ins, and of the OpenAPI document."""

    def answering(operation: Operation, *pages: str) -> Page:
        def view(visit: Visit) -> Response:
            allowed = rows(operation.name, *pages) if pages else operation.rows
            arguments = decode_rows(request.query_string, settings, allowed)
            answer = operation.handler(Call(visit, settings, arguments, desk))
            response = answer if isinstance(answer, Response) else json_response(answer)
            return add_etag(response) if operation.method == "GET" else response

        return view

    for operation in (*OPERATIONS.values(), *others):
        seconds = getattr(settings, operation.deadline)
        rule, endpoint = BASE + operation.path, f"api.{operation.name}"
        indexes.route(app, rule, endpoint, operation.method, seconds)(answering(operation))
        if operation.has_twin:  # also accepts the page's other arguments
            twin = f"{operation.path}.json", f"{operation.name}_json"
            indexes.route(app, *twin)(answering(operation, "page"))

    @app.get(BASE + "/openapi.json", endpoint="api.openapi")
    def openapi() -> Response:
        return jsonify(openapi_document(settings, request.script_root + BASE, others))
