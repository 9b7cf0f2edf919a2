"""The operations of the API, in the order of the documents."""

from __future__ import annotations

from webui.api.analyze import analyze
from webui.api.batch import CSV, RUN, batch
from webui.api.batch_body import body_schema
from webui.api.catalogue import catalogue
from webui.api.compare import compare
from webui.api.complete import complete
from webui.api.document import document
from webui.api.explain import explain
from webui.api.facets import facets
from webui.api.operation import Operation
from webui.api.parameters import (
    analyze_parameters,
    compare_parameters,
    complete_parameters,
    document_parameters,
    explain_parameters,
    facets_parameters,
    index_parameters,
    query_parameters,
    search_parameters,
    similar_parameters,
    timeline_parameters,
    values_parameters,
)
from webui.api.query import query
from webui.api.search import search
from webui.api.similar import similar
from webui.api.status import status
from webui.api.timeline import timeline
from webui.api.values import values

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
            search_parameters,
            errors=(409,),
            page_twin="/search.json",
        ),
        Operation(
            "batch",
            "POST",
            "/batch",
            "Answer several queries at once, as JSON, as a TREC run or as CSV.",
            batch,
            "Batch",
            index_parameters,
            body=body_schema,
            other_types=(RUN, CSV),
            deadline="batch_deadline",
        ),
        Operation(
            "facets",
            "GET",
            "/facets",
            "Count the sentences with a word of the query by source, month, attributes and names.",
            facets,
            "Facets",
            facets_parameters,
        ),
        Operation(
            "timeline",
            "GET",
            "/timeline",
            "Count the sentences with all words of a query by day, week, month or year.",
            timeline,
            "Timeline",
            timeline_parameters,
            page_twin="/timeline.json",
        ),
        Operation(
            "similar",
            "GET",
            "/similar",
            "Rank the sentences that say the same as a sentence, or go on from it.",
            similar,
            "Similar",
            similar_parameters,
            errors=(404,),
            page_twin="/similar.json",
        ),
        Operation(
            "values",
            "GET",
            "/values",
            "List the values of a field or the names that begin as the text does, the most frequent first.",
            values,
            "Values",
            values_parameters,
        ),
        Operation(
            "complete",
            "GET",
            "/complete",
            "Complete the last word of a query: words, names and values of fields, the most frequent first.",
            complete,
            "Completions",
            complete_parameters,
        ),
        Operation(
            "explain",
            "GET",
            "/explain",
            "Explain the score of a sentence by its parts, which add up to it.",
            explain,
            "Explanation",
            explain_parameters,
            errors=(404,),
            page_twin="/explain.json",
        ),
        Operation(
            "document",
            "GET",
            "/document",
            "Get a document, with the scores of its sentences for a query.",
            document,
            "Document",
            document_parameters,
            errors=(404,),
            page_twin="/document.json",
        ),
        Operation(
            "compare",
            "GET",
            "/compare",
            "Compare the answers of two rankings to one query.",
            compare,
            "Comparison",
            compare_parameters,
            page_twin="/compare.json",
        ),
        Operation(
            "analyze",
            "GET",
            "/analyze",
            "Get the terms that an index's analyzer makes of a text, with the places of their words.",
            analyze,
            "Analysis",
            analyze_parameters,
        ),
        Operation(
            "models",
            "GET",
            "/models",
            "List models, contexts, priors, features, forms, boosts and signals, with their parameters.",
            catalogue,
            "Catalogue",
            lambda settings: [],
        ),
        Operation(
            "status", "GET", "/status", "Describe what an index holds.", status, "Status", index_parameters
        ),
        Operation(
            "query",
            "GET",
            "/query",
            "Get a search as a request for Elasticsearch itself; an index folder has none.",
            query,
            "Request",
            query_parameters,
        ),
    )
}
