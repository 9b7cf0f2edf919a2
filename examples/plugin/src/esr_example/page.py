"""The page /plugins/sources, and the operation /api/v1/plugins/sources."""

from __future__ import annotations

from typing import Any

from esr.plugin import Argument, Operation, Page, PageContent, Request
from esr_example.counting import count_sources

LIMIT = Argument(name="limit", help="how many sources to list", kind="whole", default=10, low=1, high=100)
TEMPLATE = """
<form method="get"><label>Query <input name="q" value="{{ query }}"></label> <button>Count</button></form>
<table class="words">
  <thead><tr><th scope="col">Source</th><th scope="col" class="number">Sentences</th></tr></thead>
  <tbody>
  {% for source, sentences in counts %}
  <tr><th scope="row">{{ source }}</th><td class="number">{{ '{:,}'.format(sentences) }}</td></tr>
  {% endfor %}
  </tbody>
</table>
"""


def count(request: Request) -> list[tuple[str, int]]:
    query = request.arguments["q"]
    return count_sources(request.index, query, request.arguments["limit"]) if query else []


def show(request: Request) -> PageContent:
    values = {"query": request.arguments["q"] or "", "counts": count(request)}
    return PageContent("Sources of the best sentences", TEMPLATE, values)


def answer(request: Request) -> Any:
    return {"sources": [{"source": source, "sentences": number} for source, number in count(request)]}


PAGE = Page("sources", show, "Sources", (LIMIT,))
OPERATION = Operation(
    "sources",
    "How many of the best 100 sentences for a query each source has.",
    answer,
    {
        "type": "object",
        "required": ["sources"],
        "properties": {
            "sources": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["source", "sentences"],
                    "properties": {"source": {"type": "string"}, "sentences": {"type": "integer"}},
                },
            }
        },
    },
    (LIMIT,),
)
