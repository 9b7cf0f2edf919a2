"""AP of esr's default ranking by language, compared with BM25 with Elasticsearch's analyzer of the language.

    python -m benchmarks.studies.languages FOLDER http://localhost:9200

FOLDER has a folder for each language, named by its code, with `docs.jsonl.gz` (whole texts), `topics.tsv` and
`answers.tsv` (query id, document id, position of the answer). esr splits the texts and chooses the analyzer;
the sentence in which the answer begins is relevant. Both rank the same sentences. Prints a table.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import ir_measures
from elasticsearch import Elasticsearch, helpers

from esr import loaders
from esr.index.factory import open_writer
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.analyzer_definitions import choose_analyzer
from esr.text.document import Document

OWN_ANALYZERS = {
    "ar": "arabic", "de": "german", "el": "greek", "en": "english", "es": "spanish", "hi": "hindi", "ja":
    "cjk", "ro": "romanian", "ru": "russian", "th": "thai", "tr": "turkish", "vi": "standard", "zh": "cjk",
}  # fmt: skip
"""Elasticsearch's analyzer by language."""
INDEX = "benchmark-languages"
DEPTH = 100
MEASURE = ir_measures.AP @ DEPTH
Scores = dict[str, dict[str, float]]


def main(folder: Path, url: str) -> None:
    print("| language | analyzer | topics | esr, AP | BM25, AP | ratio |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    ratios = []
    for of_language in sorted(path for path in folder.iterdir() if (path / "topics.tsv").exists()):
        with tempfile.TemporaryDirectory() as work:
            ratios.append(_compare(of_language, Path(work) / "index", Elasticsearch(url, request_timeout=60)))
    print(f"| mean | | | | | {sum(ratios) / len(ratios):.3f} |")


def _compare(folder: Path, where: Path, client: Elasticsearch) -> float:
    """Print the row of a language. Returns the ratio."""
    located = list(loaders.read_documents([str(folder / "docs.jsonl.gz")]))
    analyzer = choose_analyzer(each.document.language for each in located).analyzer
    open_writer(str(where), LoadOptions(analyzer=analyzer)).load(located)
    documents = [each.document for each in located]
    qrels = dict(find_judgements(documents, folder))
    topics = dict(line.split("\t") for line in (folder / "topics.tsv").read_text("utf-8").splitlines())
    ours = mean_ap(qrels, rank_by_esr(where, topics))
    theirs = mean_ap(qrels, _rank_by_bm25(client, documents, topics, OWN_ANALYZERS[folder.name]))
    print(f"| {folder.name} | {analyzer} | {len(topics)} | {ours:.4f} | {theirs:.4f} | {ours / theirs:.3f} |")
    return ours / theirs


def find_judgements(
    documents: list[Document], folder: Path, prefix: str = ""
) -> Iterator[tuple[str, dict[str, int]]]:
    """The judgements by query: the sentence in which the answer begins.

    Positions in texts are counted in characters without white space. `prefix` precedes the ids of documents.
    """
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = {fields["id"]: fields["text"] for fields in map(json.loads, lines)}
    by_id = {document.id: document for document in documents}
    for line in (folder / "answers.tsv").read_text("utf-8").splitlines():
        query, document_id, place, _ = line.split("\t")
        before = len("".join(texts[document_id][: int(place)].split()))
        for sentence in by_id[prefix + document_id].sentences:
            before -= len("".join(sentence.text.split()))
            if before < 0:
                break
        yield query, {sentence.id: 1}


def rank_by_esr(where: Path, topics: Mapping[str, str]) -> Scores:
    with open_searcher(str(where)) as searcher:
        return {
            query: {
                hit.sentence_id: hit.score
                for hit in searcher.search(text, DEPTH, records=False, literal=True).hits
            }
            for query, text in topics.items()
        }


def _rank_by_bm25(
    client: Elasticsearch, documents: list[Document], topics: Mapping[str, str], analyzer: str
) -> Scores:
    client.indices.delete(index=INDEX, ignore_unavailable=True)
    properties = {"text": {"type": "text", "analyzer": analyzer}}
    client.indices.create(
        index=INDEX,
        settings={"number_of_shards": 1, "number_of_replicas": 0},
        mappings={"properties": properties},
    )
    sentences = (sentence for document in documents for sentence in document.sentences)
    helpers.bulk(client, ({"_index": INDEX, "_id": s.id, "text": s.text} for s in sentences), refresh=True)
    scores = {}
    for query, text in topics.items():
        hits = client.search(index=INDEX, query={"match": {"text": text}}, size=DEPTH, source=False)["hits"]
        scores[query] = {hit["_id"]: hit["_score"] for hit in hits["hits"]}
    client.indices.delete(index=INDEX)
    return scores


def mean_ap(qrels: dict[str, dict[str, int]], run: Scores) -> float:
    return float(ir_measures.calc_aggregate([MEASURE], qrels, run)[MEASURE])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
