"""Write docs/results.md: every model on three collections, and which of the papers' claims hold there.

    python -m benchmarks.studies.results COLLECTIONS --work FOLDER

COLLECTIONS is a folder with squad-small, squadshifts-medium and wice-dev, each with docs.jsonl.gz, topics.tsv
and qrels.txt.gz; `python -m tools.build_collections` builds them. FOLDER stores indexes and figures, so
that an interrupted call resumes. All tables and verdicts are computed from the figures.

With --without-parses, the tables and verdicts that need no enrichment are printed, and no page is written.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from benchmarks.studies.claims import CLAIMS, RECALL_MEASURES, Figures, write_recall_pictures
from esr import loaders, models
from esr.enrichment.enricher import Enricher
from esr.index.factory import open_writer
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.writer import LoadOptions
from esr.lab.comparison import (
    SOURCES,
    Collection,
    ComparisonPlan,
    build_cells,
    build_default_rankings,
    compute_cells,
    read_results,
)
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.ranking.second_stage.signals import RankingSignal
from esr.wording import table_lines
from tools.build_collections import SAMPLE_SIZE, choose_topics

COLLECTIONS = ("squad-small", "squadshifts-medium", "wice-dev")
MEASURES = ("AP", "P@10", "RR")
LEXICAL = {
    name: ranking
    for name, ranking in build_default_rankings().items()
    if models.get(ranking.model).second_stage is None
}
REFERENCES = ("tfisf", "bm25", "kld", "2si both")
PRIORS = {
    f"{name} + {prior}": Ranking(model, context, priors={prior: 1.0})
    for prior in ("importance", "length")
    for name, model, context in (
        ("jm", "jm", None),
        ("dir", "dir", None),
        ("3mm document", "3mm", "document"),
        ("2s document", "2s", "document"),
        ("2si document", "2si", "document"),
    )
}
BM25 = {
    "tfisf": Ranking("tfisf"),
    "bm25": Ranking("bm25"),
    "bm25 k1=0.9 b=0.4": Ranking("bm25", params={"k1": 0.9, "b": 0.4}),
}
"""BM25 with esr's default parameters, and with those that Anserini and Pyserini have."""
_DEFAULT_2SI = {"mu": 30.0, "lambda": 0.25, "nu": 0.2}
DEPENDENCE = {
    "tdsr": Ranking("tdsr"),
    "tdsr, ties by tfisf": Ranking("tdsr", params={"ties": "score"}),
    "mrf_fidm": Ranking("mrf_fidm"),
    "mrf_sdm": Ranking("mrf_sdm"),
    "mrf_fdm": Ranking("mrf_fdm"),
    "mrf_fidm, f_I tfisf": Ranking("mrf_fidm", params={"f_I": "tfisf"}),
    "mrf_sdm, f_I tfisf": Ranking("mrf_sdm", params={"f_I": "tfisf"}),
    "mrf_fdm, f_I tfisf": Ranking("mrf_fdm", params={"f_I": "tfisf"}),
}
"""Rankings over the parses of spaCy's en_core_web_sm."""
WITH_SIGNALS = {
    "2si both, mrf_sdm": Ranking("2si", "both", _DEFAULT_2SI, rerank=(RankingSignal("mrf_sdm", {"w": 1.0}),)),
    "2si both, mrf_fdm": Ranking("2si", "both", _DEFAULT_2SI, rerank=(RankingSignal("mrf_fdm", {"w": 1.0}),)),
    "2si both, tdsr": Ranking("2si", "both", _DEFAULT_2SI, rerank=(RankingSignal("tdsr"),)),
}
"""The default model with signals at their default weights."""
CURVES = (*REFERENCES, "tdsr, ties by tfisf", "mrf_sdm, f_I tfisf", "mrf_fdm, f_I tfisf")
TARGET = Path(__file__).resolve().parents[2] / "docs" / "results.md"
HEAD = f"""# Results

Every model in every context on three development collections: Wikipedia paragraphs with questions
(squad-small), the same for Wikipedia, Reddit and Amazon text (squadshifts-medium), and web pages with claims
and the sentences that support them (wice-dev). [Collections](collections.md#the-collections-of-the-results)
says how to build them. Each has {SAMPLE_SIZE} random topics (wice-dev all of its 305), English stems, titles
in the context, and rankings of 1,000 sentences. `python -m benchmarks.studies.results` writes all tables and
verdicts.

Each ranking is listed three times:

- *default*: with its default parameters, which were fixed before these figures were computed.
- *tuned*: in five folds. A topic's parameters are those of the papers' grids with the best AP on the topics
  of the four other folds. Grids of more than 120 settings were searched one parameter at a time.
- *estimated*: by `esr estimate`, from 300 pseudo-topics of the collection, without topics or judgements.
  Half of a pseudo-topic's words are foreign. This share was chosen on these collections.

[Features](feature-gains.md), [boosts](boosts.md), [learning](learning.md) and [meaning](meaning.md) have
pages of their own.

`*` and `**` mark differences from tfisf, with parameters of the same source, at 95 % and 99 % (paired t-test,
Holm's correction).
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", type=Path)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--without-parses", action="store_true", help="print what needs no enrichment")
    arguments = options.parse_args()
    parses = not arguments.without_parses
    work = arguments.work if parses else arguments.work / "without-parses"
    work.mkdir(parents=True, exist_ok=True)
    collections = {
        name: prepare_collection(arguments.collections / name, work, enrich=parses) for name in COLLECTIONS
    }
    plans = [
        ComparisonPlan(collections, LEXICAL, MEASURES, parameters=tuple(SOURCES)),
        ComparisonPlan(collections, BM25, MEASURES),
        ComparisonPlan(collections, PRIORS, MEASURES),
    ]
    if parses:
        plans += [
            ComparisonPlan(collections, DEPENDENCE, MEASURES, parameters=("default", "tuned")),
            ComparisonPlan(collections, WITH_SIGNALS, MEASURES),
            ComparisonPlan(collections, _curve_rankings(), RECALL_MEASURES, parameters=("tuned",)),
        ]
    figures = Figures(_compute(plans, work / "figures.jsonl", arguments.workers))
    page = "\n".join(_render(figures, parses))
    if parses:
        TARGET.write_text(page, "utf-8")
    else:
        print(page)


def prepare_collection(source: Path, work: Path, enrich: bool = True) -> Collection:
    """The enriched index of a collection and a sample of its topics, created if they do not exist."""
    index, topics = work / source.name, work / f"{source.name}.tsv"
    qrels = source / "qrels.txt.gz"
    if not index.exists():
        documents = loaders.read_documents([str(source / "docs.jsonl.gz")])
        open_writer(str(index), LoadOptions(analyzer="english-stem")).load(documents)
        if enrich:
            with open_searcher(str(index)) as searcher:
                run_enrichment(searcher.index, Enricher(analyzer="english-stem"), workers=2)
    if not topics.exists():
        lines = (source / "topics.tsv").read_text("utf-8").splitlines(keepends=True)
        with gzip.open(qrels, "rt", encoding="utf-8") as judgements:
            sample = choose_topics(lines, judgements)
        topics.write_text("".join(sample), "utf-8")
    return Collection(str(index), str(topics), str(qrels))


def _curve_rankings() -> dict[str, Ranking]:
    rankings = {**LEXICAL, **DEPENDENCE}
    return {name: rankings[name] for name in CURVES}


def _compute(plans: Sequence[ComparisonPlan], path: Path, workers: int) -> list[dict[str, object]]:
    """The results of all cells, in their order. Cells with a result in the file are not computed again."""
    cells = {cell.key(): cell for plan in plans for cell in build_cells(plan)}
    results = read_results(path)
    missing = {key: cell for key, cell in cells.items() if key not in results}
    for result in tqdm(compute_cells(missing, path, workers), total=len(missing), unit=" cells"):
        results[result["key"]] = result
    return [results[key] for key in cells]


def _render(figures: Figures, parses: bool) -> Iterator[str]:
    yield HEAD
    for measure in MEASURES:
        yield f"## {measure}\n"
        yield from _table(figures, measure, list(LEXICAL), list(SOURCES))
    yield from _render_bm25(figures)
    yield "## Priors over a whole collection\n"
    yield "AP with default parameters; the prior has weight 1. The papers rank within a few documents.\n"
    yield from _table(figures, "AP", list(PRIORS), ["default"])
    if parses:
        yield from _render_dependence(figures)
    yield "## Which claims hold\n"
    yield "Claims are tested with tuned parameters, in AP, unless they say otherwise. The number after a"
    yield "claim is its place in [docs/formulas.md](formulas.md): A.15, 8 is line 8 of A.15."
    yield "[Findings](findings.md) has the papers' words.\n"
    rows = [
        [claim.title, *(str(claim.test(figures, collection)) for collection in COLLECTIONS)]
        for claim in CLAIMS
        if parses or not claim.needs_parses
    ]
    yield from table_lines(["claim", *COLLECTIONS], rows)
    yield ""


def _render_bm25(figures: Figures) -> Iterator[str]:
    yield "## BM25 with the parameters of Anserini\n"
    yield "esr's default is k1 1.2 and b 0.75. Anserini and Pyserini have k1 0.9 and b 0.4.\n"
    for measure in MEASURES:
        yield f"{measure}:\n"
        yield from _table(figures, measure, list(BM25), ["default"])


def _render_dependence(figures: Figures) -> Iterator[str]:
    yield "## Term dependence\n"
    yield "The trees are the parses that `esr enrich` stores (spaCy, en_core_web_sm). The second stage"
    yield "reranks the best 1,000 sentences.\n"
    for measure in ("AP", "P@10"):
        yield f"### {measure}\n"
        yield from _table(figures, measure, [*REFERENCES, *DEPENDENCE], ["default", "tuned"])
        yield "Signals added to the default model, all with default parameters:\n"
        yield from _table(figures, measure, ["tfisf", "2si both", *WITH_SIGNALS], ["default"])
    yield "Precision at eleven points of recall, with tuned parameters:\n"
    for collection in COLLECTIONS:
        path = write_recall_pictures(figures, collection, CURVES, TARGET.parent / "pictures")
        yield f"![{collection}: precision at eleven points of recall](pictures/{path.name})\n"


def _table(figures: Figures, measure: str, names: list[str], sources: list[str]) -> Iterator[str]:
    heads = [f"{collection}, {source}" for collection in COLLECTIONS for source in sources]
    yield "| ranking | " + " | ".join(heads) + " |"
    yield "| --- |" + " ---: |" * len(heads)
    marks = {
        (collection, source): figures.marks(collection, names, source, measure)
        for collection in COLLECTIONS
        for source in sources
    }
    for name in names:
        row = [
            f"{figures.mean(collection, name, source, measure):.4f}{marks[collection, source][name]}"
            for collection in COLLECTIONS
            for source in sources
        ]
        yield f"| {name} | " + " | ".join(row) + " |"
    yield ""


if __name__ == "__main__":
    main()
