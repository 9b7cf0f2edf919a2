"""The share of the correct top ten that a standalone request finds by typed words, and by analysed terms.

    python -m benchmarks.studies.typed_words http://localhost:9200/news documents.jsonl.gz [--count N]

Queries are two to six adjacent words of the titles of documents, as written. The correct sentences are those
that esr finds. Each word is a `match` clause, or each term a `term` clause, for all terms of the query, or
only for those that a document has.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from esr.elastic.cluster import Cluster
from esr.elastic.requests import search
from esr.query import literal
from esr.ranking.ranking import Ranking
from esr.ranking.requests import request_template
from esr.ranking.searcher import open_searcher

K = 10


def draw_queries(path: str, count: int) -> Iterator[str]:
    """Parts of titles, drawn with a seed."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        titles = [title.split() for line in file if (title := json.loads(line).get("title"))]
    rng = random.Random(1)
    for _ in range(count):
        title = rng.choice(titles)
        first, length = rng.randrange(max(1, len(title) - 1)), rng.randint(2, 6)
        yield " ".join(title[first : first + length])


def build(template: Mapping[str, Any], clauses: Mapping[str, float], occurrences: int, kind: str) -> Any:
    """The standalone request with a clause of this kind, `term` or `match`, for each word or term."""
    made = []
    for word, weight in clauses.items():
        clause = json.dumps(template["clause"]).replace('{"term"', f'{{"{kind}"')
        clause = clause.replace('"$term"', json.dumps(word)).replace('"$weight"', str(weight))
        clause = clause.replace('"$background"', "0").replace('"$occurrences"', str(occurrences))
        made.append(json.loads(clause.replace('"standalone": false', '"standalone": true')))
    body = json.dumps(template["body"]).replace('"$query"', str(sum(clauses.values())))
    body = body.replace('"$offset"', str(10 * sum(clauses.values()))).replace('"$k"', str(K))
    return json.loads(body.replace('"$filter"', "[]").replace('"$clauses"', json.dumps(made)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index")
    parser.add_argument("documents")
    parser.add_argument("--count", type=int, default=500)
    arguments = parser.parse_args()
    shares: dict[str, list[float]] = {"typed words": [], "terms": [], "terms that a document has": []}
    cluster = Cluster(arguments.index)
    with open_searcher(arguments.index) as searcher:
        template = request_template(Ranking(), searcher.index)
        occurrences = searcher.index.statistics(()).collection.occurrences
        for text in draw_queries(arguments.documents, arguments.count):
            counts = searcher.index.analyzer.terms(text)
            if not counts:
                continue
            right = {hit.sentence_id for hit in searcher.search(literal(text), K).hits}
            seen = {term.term: term.weight for term in searcher.prepare(literal(text), Ranking()).plan.terms}
            words = text.split()
            forms: dict[str, tuple[Mapping[str, float], str]] = {
                "typed words": ({word: words.count(word) for word in words}, "match"),
                "terms": ({term: counts.count(term) for term in counts}, "term"),
                "terms that a document has": (seen, "term"),
            }
            for name, (clauses, kind) in forms.items():
                body = build(template, clauses, occurrences, kind)
                answer = search(
                    cluster,
                    index=cluster.alias,
                    search_type="dfs_query_then_fetch",
                    source=body.pop("_source"),
                    **body,
                )
                ids = {hit["_id"] for hit in answer["hits"]["hits"]}
                shares[name].append(len(ids & right) / max(len(right), 1))
    cluster.close()
    for name, values in shares.items():
        print(f"{name:26} {statistics.mean(values):6.1%} of the right {K}, {len(values)} queries")


if __name__ == "__main__":
    main()
