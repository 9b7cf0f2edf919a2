"""The operations of the API, in the order of the documents."""

from __future__ import annotations

from webui.api import batch_body as body
from webui.api import parameters
from webui.api.batch import CSV, RUN, batch
from webui.api.catalogue import catalogue
from webui.api.compare import compare
from webui.api.document import document
from webui.api.explain import explain
from webui.api.operation import Operation
from webui.api.query import query
from webui.api.search import search
from webui.api.status import status

OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "search",
            "GET",
            "/search",
            "Rank the sentences for a query.",
            search,
            "Page",
            parameters.search,
            errors=(409,),
            twin="/search.json",
        ),
        Operation(
            "batch",
            "POST",
            "/batch",
            "Several queries at once, as JSON, as a TREC run or as CSV.",
            batch,
            "Batch",
            parameters.index,
            body=body.schema,
            other=(RUN, CSV),
            deadline="batch_deadline",
        ),
        Operation(
            "explain",
            "GET",
            "/explain",
            "The parts of a sentence's score: they add up to it.",
            explain,
            "Explanation",
            parameters.explain,
            errors=(404,),
            twin="/explain.json",
        ),
        Operation(
            "document",
            "GET",
            "/document",
            "A whole document, its sentences with their scores where there is a query.",
            document,
            "Document",
            parameters.document,
            errors=(404,),
            twin="/document.json",
        ),
        Operation(
            "compare",
            "GET",
            "/compare",
            "One query under two rankings, and what moves between them.",
            compare,
            "Comparison",
            parameters.compare,
            twin="/compare.json",
        ),
        Operation(
            "models",
            "GET",
            "/models",
            "Models, contexts, priors, features, forms, boosts and signals, with their parameters.",
            catalogue,
            "Catalogue",
            lambda settings: [],
        ),
        Operation("status", "GET", "/status", "What an index holds.", status, "Status", parameters.index),
        Operation(
            "query",
            "GET",
            "/query",
            "The same search as a request for Elasticsearch itself; an index folder has none.",
            query,
            "Request",
            parameters.request,
        ),
    )
}
