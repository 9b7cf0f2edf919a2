"""The operations of the API by name, in the order of docs/api.md, and what is made of them.

These are the routes of the API and its OpenAPI 3.1 document.
"""

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
        Operation(
            "search",
            "GET",
            "/search",
            "Rank the sentences for a query.",
            handlers.search,
            "Page",
            errors=(409,),
            page_twin="/search.json",
        ),
        Operation(
            "search_body",
            "POST",
            "/search",
            "Rank the sentences for a query that is sent as JSON.",
            handlers.search_body,
            "Page",
            body=search_schema,
            errors=(409,),
        ),
        Operation(
            "batch",
            "POST",
            "/batch",
            "Answer several queries at once, as JSON, as a TREC run or as CSV.",
            handlers.batch,
            "Batch",
            body=handlers.body_schema,
            other_types=(handlers.RUN, handlers.CSV),
            deadline="batch_deadline",
        ),
        Operation(
            "facets",
            "GET",
            "/facets",
            "Count the sentences with a word of the query by source, month, attributes and names.",
            handlers.facets,
            "Facets",
        ),
        Operation(
            "timeline",
            "GET",
            "/timeline",
            "Count the sentences with all words of a query by day, week, month or year.",
            handlers.timeline,
            "Timeline",
            page_twin="/timeline.json",
        ),
        Operation(
            "similar",
            "GET",
            "/similar",
            "Rank the sentences that say the same as a sentence, or continue it.",
            handlers.similar,
            "Similar",
            errors=(404,),
            page_twin="/similar.json",
        ),
        Operation(
            "concordance",
            "GET",
            "/concordance",
            "List the occurrences of a word, a phrase or a prefix, each with the text on both sides.",
            handlers.concordance,
            "Concordance",
            page_twin="/concordance.json",
        ),
        Operation(
            "collocations",
            "GET",
            "/collocations",
            "List the words that occur near a word or phrase more often than their frequency explains.",
            handlers.collocations,
            "Collocations",
            page_twin="/collocations.json",
        ),
        Operation(
            "quotes",
            "GET",
            "/quotes",
            "List what a speaker said, or anyone: the newest quotations, or the best for a query.",
            handlers.quotes,
            "Quotations",
            page_twin="/quotes.json",
        ),
        Operation(
            "names",
            "GET",
            "/names",
            "List the names of an index or of the sentences for a query, the most frequent first.",
            handlers.names,
            "Names",
            page_twin="/names.json",
        ),
        Operation(
            "name",
            "GET",
            "/names/page",
            "Get what an index has about a name: counts, dates, forms, sources, names with it, sentences.",
            handlers.name,
            "NamePage",
        ),
        Operation(
            "network",
            "GET",
            "/names/network",
            "Get which names occur together in sentences.",
            handlers.network,
            "NameNetwork",
        ),
        Operation(
            "contrast",
            "GET",
            "/contrast",
            "List the words that occur near a word or phrase more often in a part of its sentences.",
            handlers.contrast,
            "Contrast",
            page_twin="/contrast.json",
        ),
        Operation(
            "frequencies",
            "GET",
            "/frequencies",
            "Count the occurrences of words and phrases by period or source, also per million words.",
            handlers.frequencies,
            "Frequencies",
            page_twin="/frequencies.json",
        ),
        Operation(
            "keyness",
            "GET",
            "/keyness",
            "List the words that are more frequent in a part of the collection than in another.",
            handlers.keyness,
            "KeyWords",
        ),
        Operation(
            "values",
            "GET",
            "/values",
            "List the values of a field or the names that begin as the text does, the most frequent first.",
            handlers.values,
            "Values",
        ),
        Operation(
            "complete",
            "GET",
            "/complete",
            "Complete the last word of a query: words, names and values of fields, the most frequent first.",
            handlers.complete,
            "Completions",
        ),
        Operation(
            "explain",
            "GET",
            "/explain",
            "Explain the score of a sentence by its parts, which add up to it.",
            handlers.explain,
            "Explanation",
            errors=(404,),
            page_twin="/explain.json",
        ),
        Operation(
            "document",
            "GET",
            "/document",
            "Get a document, with the scores of its sentences for a query.",
            handlers.document,
            "Document",
            errors=(404,),
            page_twin="/document.json",
        ),
        Operation(
            "documents",
            "GET",
            "/documents",
            "Get several documents, with the scores of their sentences for a query.",
            handlers.documents,
            "Documents",
        ),
        Operation(
            "compare",
            "GET",
            "/compare",
            "Compare the answers of two rankings to one query.",
            handlers.compare,
            "Comparison",
            page_twin="/compare.json",
        ),
        Operation(
            "analyze",
            "GET",
            "/analyze",
            "Get the terms that an index's analyzer makes of a text, with the places of their words.",
            handlers.analyze,
            "Analysis",
        ),
        Operation(
            "models",
            "GET",
            "/models",
            "List models, contexts, priors, features, forms, boosts and signals, with their parameters.",
            handlers.catalogue,
            "Catalogue",
        ),
        Operation("status", "GET", "/status", "Describe what an index holds.", handlers.status, "Status"),
        Operation(
            "query",
            "GET",
            "/query",
            "Get a search as a request for Elasticsearch itself; an index folder has none.",
            handlers.query,
            "Request",
        ),
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
        if operation.page_twin:  # also accepts the page's other arguments
            indexes.route(app, operation.page_twin, f"{operation.name}_json")(answering(operation, "page"))

    @app.get(BASE + "/openapi.json", endpoint="api.openapi")
    def openapi() -> Response:
        return jsonify(openapi_document(settings, request.script_root + BASE))
