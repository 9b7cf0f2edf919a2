"""Searches across languages: how well queries find sentences in other languages, and the order of several.

    python -m benchmarks.studies.across_languages FOLDER

FOLDER is that of `benchmarks.studies.languages`; the encoder is use-multilingual-v3. Prints two tables of the
mean reciprocal rank (MRR) of every second question, those that no weight was chosen on.

Pairs: in an index by language with all texts in all languages, the questions of one language search the
sentences of another (`languages=de`). Beside it, the questions of that language itself by words and by
`hybrid`, and the ratio to the latter.

Mixed: each text is in one language alone, in turn. Questions in each language search all languages
(`languages=all`), and their own alone. `own` are those whose answer is in their language.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.studies.languages import find_judgements
from benchmarks.studies.mixed_languages import load_documents, read_documents
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.index.runs.enrichment_run import run_enrichment
from esr.query import across_languages, in_language, literal
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.analyzer_definitions import BY_LANGUAGE
from esr.text.document import Document

DEPTH = 100
ENCODER = "use-multilingual-v3"
WITH_ALL = ("en", "de")
"""The languages whose pairs with all others are measured."""


class Questions:
    """The questions of a language, and the sentence that answers each."""

    def __init__(self, folder: Path, code: str, documents: list[Document]) -> None:
        lines = (folder / code / "topics.tsv").read_text("utf-8").splitlines()[1::2]
        self.texts: Mapping[str, str] = dict(line.split("\t") for line in lines)
        judgements = dict(find_judgements(documents, folder / code, f"{code}-"))
        self.answers = {id: next(iter(judgements[id])) for id in self.texts}


def main(folder: Path, work: Path) -> None:
    codes = sorted(path.name for path in folder.iterdir() if (path / "topics.tsv").exists())
    documents = {code: read_documents(folder / code, code) for code in codes}
    questions = {code: Questions(folder, code, documents[code]) for code in codes}
    every = [document for code in codes for document in documents[code]]
    with _open(work / "every", every) as searcher:
        _compare_pairs(searcher, questions)
    one_each = [documents[codes[n % len(codes)]][n] for n in range(len(documents[codes[0]]))]
    with _open(work / "mixed", one_each) as searcher:
        _compare_mixed(searcher, questions, {document.id for document in one_each})


def _open(where: Path, documents: list[Document]) -> Searcher:
    load_documents(where, BY_LANGUAGE, documents)
    searcher = open_searcher(str(where))
    run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(ENCODER)))
    return searcher


def _compare_pairs(searcher: Searcher, questions: Mapping[str, Questions]) -> None:
    print(
        "| sentences | by words | `hybrid` | query | MRR | ratio |\n| --- | ---: | ---: | --- | ---: | ---: |"
    )
    for code, of_language in questions.items():
        alone = [mean_rr(searcher, of_language, code, of_language, ranking=r) for r in ("words", "hybrid")]
        for other in questions:
            if other == code or not {code, other} & set(WITH_ALL):
                continue
            value = mean_rr(searcher, questions[other], other, of_language, languages=(code,))
            row = f"| {code} | {alone[0]:.3f} | {alone[1]:.3f} | {other} | {value:.3f} |"
            print(f"{row} {value / alone[1]:.2f} |", flush=True)


def mean_rr(
    searcher: Searcher,
    questions: Questions,
    code: str,
    judged: Questions,
    ids: Iterable[str] | None = None,
    languages: Sequence[str] = (),
    ranking: str = "hybrid",
) -> float:
    """The mean reciprocal rank of `judged.answers` for questions in a language, by default for all."""
    total, number = 0.0, 0
    for id in questions.texts if ids is None else ids:
        query = across_languages(in_language(literal(questions.texts[id]), code), tuple(languages))
        hits = searcher.search(query, DEPTH, ranking=ranking, records=False).hits
        ranks = [rank for rank, hit in enumerate(hits, 1) if hit.sentence_id == judged.answers[id]]
        total, number = total + (1 / ranks[0] if ranks else 0.0), number + 1
    return total / max(number, 1)


def _compare_mixed(searcher: Searcher, questions: Mapping[str, Questions], loaded: set[str]) -> None:
    print("\n| query | answers | own, alone | own, among all | other, among all | all, among all |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    rows = []
    for code, of_language in questions.items():
        answers = {
            id: next(q.answers[id] for q in questions.values() if q.answers[id].rpartition(".")[0] in loaded)
            for id in of_language.texts
        }
        own = [id for id, sentence in answers.items() if sentence.startswith(f"{code}-")]
        other = [id for id in answers if id not in set(own)]
        judged = Questions.__new__(Questions)
        judged.answers = answers
        alone = mean_rr(searcher, of_language, code, judged, own)
        among = [mean_rr(searcher, of_language, code, judged, ids, ("all",)) for ids in (own, other)]
        both = (among[0] * len(own) + among[1] * len(other)) / len(answers)
        rows.append([alone, *among, both])
        print(f"| {code} | {len(own)} + {len(other)} |" + "".join(f" {value:.3f} |" for value in rows[-1]))
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    print("| mean | |" + "".join(f" {value:.3f} |" for value in means))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(sys.argv[1]), Path(temporary))
