"""AP of each language in one index of several: by language, by one analyzer for all, and in an index alone.

    python -m benchmarks.studies.mixed_languages FOLDER

FOLDER is that of `benchmarks.studies.languages`. The documents of all its languages are loaded into an index
`by-language` and an index `multilingual`, and those of each language into an index with its own analyzer.
Queries do not say in which language they are. Prints a table; `right` counts the queries that are searched in
their language.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from benchmarks.studies.languages import find_judgements, mean_ap, rank_by_esr
from esr import loaders
from esr.index.factory import open_writer
from esr.index.writer import LoadOptions
from esr.query.parser import literal
from esr.ranking.searcher import find_language, open_searcher
from esr.text.analyzer_definitions import (
    BY_LANGUAGE,
    MULTILINGUAL_ANALYZER,
    analyzer_for_language,
    language_group,
)
from esr.text.document import Document, Located


def main(folder: Path, work: Path) -> None:
    codes = sorted(path.name for path in folder.iterdir() if (path / "topics.tsv").exists())
    by_code = {code: read_documents(folder / code, code) for code in codes}
    mixed = {name: work / name for name in (BY_LANGUAGE, MULTILINGUAL_ANALYZER)}
    for name, where in mixed.items():
        load_documents(where, name, [document for documents in by_code.values() for document in documents])
    print("| language | topics | alone | by-language | multilingual | right |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    rows = []
    for code in codes:
        where = work / code
        load_documents(where, analyzer_for_language(language_group(code)).name, by_code[code])
        qrels = dict(find_judgements(by_code[code], folder / code, code + "-"))
        topics = dict(
            line.split("\t") for line in (folder / code / "topics.tsv").read_text("utf-8").splitlines()
        )
        values = [mean_ap(qrels, rank_by_esr(path, topics)) for path in (where, *mixed.values())]
        right = _count_right(mixed[BY_LANGUAGE], topics, code)
        rows.append([*values, right / len(topics)])
        print(f"| {code} | {len(topics)} |" + "".join(f" {value:.4f} |" for value in values) + f" {right} |")
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    print("| mean | |" + "".join(f" {value:.4f} |" for value in means[:-1]) + f" {means[-1]:.1%} |")


def read_documents(folder: Path, code: str) -> list[Document]:
    """The documents of a language, with ids that no other language has."""
    documents = []
    for located in loaders.read_documents([str(folder / "docs.jsonl.gz")]):
        sentences = tuple(replace(one, id=f"{code}-{one.id}") for one in located.document.sentences)
        document = replace(located.document, id=f"{code}-{located.document.id}", sentences=sentences)
        documents.append(document)
    return documents


def load_documents(where: Path, analyzer: str, documents: list[Document]) -> None:
    options = LoadOptions(analyzer=analyzer)
    open_writer(str(where), options).load(Located(document.id, document) for document in documents)


def _count_right(where: Path, topics: Mapping[str, str], code: str) -> int:
    """The number of queries that are searched in this language."""
    with open_searcher(str(where)) as searcher:
        found = (find_language(searcher.index, literal(text)).language for text in topics.values())
        return sum(language == code for language in found)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(sys.argv[1]), Path(temporary))
