"""Writes docs/results.md: every model on three collections, and what holds of the papers' claims there.

    python -m benchmarks.results COLLECTIONS --work FOLDER

COLLECTIONS is a folder with squad-small, squadshifts-medium and wice-dev, each with docs.jsonl.gz, topics.tsv
and qrels.txt.gz; they are not in the project. FOLDER keeps indexes and figures: a call that was stopped goes
on where it was. Some two hours on two cores. Tables and verdicts are made from the figures, none by hand.
"""

from __future__ import annotations

import argparse
import gzip
import random
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

import esr
from benchmarks import recall
from benchmarks.claims import CLAIMS
from benchmarks.figures import Figures
from esr import loaders, models
from esr.engines.enrichment_run import run_enrichment
from esr.engines.factory import LoadOptions, open_writer
from esr.enrichment.enricher import Enricher
from esr.evaluation.comparison import (
    Collection,
    ComparisonPlan,
    build_cells,
    build_default_rankings,
    compute_cells,
    read_results,
)
from esr.evaluation.parameter_sources import SOURCES
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal

COLLECTIONS = ("squad-small", "squadshifts-medium", "wice-dev")
TOPICS = 400
MEASURES = ("AP", "P@10", "RR")
LEXICAL = {
    name: ranking
    for name, ranking in build_default_rankings().items()
    if models.get(ranking.model).second_stage is None
}
BESIDE = ("tfisf", "bm25", "kld", "2si both")
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
_OWN = {"mu": 30.0, "lambda": 0.25, "nu": 0.2}
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
"""Over the parses of spaCy's en_core_web_sm."""
WITH_CONTEXT = {
    "2si both, mrf_sdm": Ranking("2si", "both", _OWN, rerank=(RankingSignal("mrf_sdm", {"w": 1.0}),)),
    "2si both, mrf_fdm": Ranking("2si", "both", _OWN, rerank=(RankingSignal("mrf_fdm", {"w": 1.0}),)),
    "2si both, tdsr": Ranking("2si", "both", _OWN, rerank=(RankingSignal("tdsr"),)),
}
"""Signals beside the default model, with their default weights."""
CURVES = (*BESIDE, "tdsr, ties by tfisf", "mrf_sdm, f_I tfisf", "mrf_fdm, f_I tfisf")
TARGET = Path(__file__).resolve().parents[1] / "docs" / "results.md"
HEAD = """# Results

Every model in every context on three development collections: Wikipedia paragraphs with questions
(squad-small), the same for Wikipedia, Reddit and Amazon text (squadshifts-medium), and web pages with claims
and the sentences that support them (wice-dev). They are not in the project. 400 topics each (305 of wice-dev,
all that it has), drawn at random; English stems, titles in the context, 1,000 sentences deep. Written by
`python -m benchmarks.results`, tables and verdicts alike.

Each ranking stands there three times:

- *default*: the parameters it has when none are given. They were chosen before these figures were made.
- *tuned*: in five folds; a topic's parameters are the best, by AP, on the other four fifths of the topics,
  from the papers' grids. Grids of more than 120 settings were climbed one parameter after another.
- *estimated*: by `esr estimate`, from 300 pseudo-topics of the collection. No topic and no judgement was
  seen. Half of a pseudo-topic's words are foreign; that share was chosen on these collections.

What features add has a page of its own, [evidence.md](evidence.md), as have [boosts](boosts.md) and
[learning](learning.md).

`*` and `**` mark differences from tfisf, with parameters of the same source, at 95 % and 99 % (paired t-test,
Holm's correction).
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", type=Path)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--workers", type=int, default=2)
    given = options.parse_args()
    given.work.mkdir(exist_ok=True)
    places = {name: prepared(given.collections / name, given.work) for name in COLLECTIONS}
    wanted = (
        ComparisonPlan(places, LEXICAL, MEASURES, parameters=tuple(SOURCES)),
        ComparisonPlan(places, PRIORS, MEASURES),
        ComparisonPlan(places, DEPENDENCE, MEASURES, parameters=("default", "tuned")),
        ComparisonPlan(places, WITH_CONTEXT, MEASURES),
        ComparisonPlan(places, _curves(), recall.MEASURES, parameters=("tuned",)),
    )
    figures = Figures(_computed(wanted, given.work / "figures.jsonl", given.workers))
    TARGET.write_text("\n".join(_page(figures)), "utf-8")


def prepared(source: Path, work: Path) -> Collection:
    """The collection's index and a sample of its topics, made if they are not there."""
    index, topics = work / source.name, work / f"{source.name}.tsv"
    qrels = source / "qrels.txt.gz"
    if not index.exists():
        documents = loaders.read_documents([str(source / "docs.jsonl.gz")])
        open_writer(str(index), LoadOptions(analyzer="english-stem")).load(documents)
        with esr.open(str(index)) as searcher:
            run_enrichment(searcher.index, Enricher(analyzer="english-stem"), workers=2)
    if not topics.exists():
        with gzip.open(qrels, "rt", encoding="utf-8") as lines:
            judged = {line.split()[0] for line in lines if int(line.split()[3]) > 0}
        every = [line for line in (source / "topics.tsv").open(encoding="utf-8") if line.split()[0] in judged]
        random.Random(1).shuffle(every)
        topics.write_text("".join(every[:TOPICS]), "utf-8")
    return Collection(str(index), str(topics), str(qrels))


def _curves() -> dict[str, Ranking]:
    every = {**LEXICAL, **DEPENDENCE}
    return {name: every[name] for name in CURVES}


def _computed(comparisons: tuple[ComparisonPlan, ...], path: Path, workers: int) -> list[dict[str, object]]:
    every = {cell.key(): cell for comparison in comparisons for cell in build_cells(comparison)}
    known = read_results(path)
    missing = {key: cell for key, cell in every.items() if key not in known}
    for cell in tqdm(compute_cells(missing, path, workers), total=len(missing), unit=" cells"):
        known[cell["key"]] = cell
    return [known[key] for key in every]


def _page(figures: Figures) -> Iterator[str]:
    yield HEAD
    for measure in MEASURES:
        yield f"## {measure}\n"
        yield from _table(figures, measure, list(LEXICAL), list(SOURCES))
    yield "## Priors over a whole collection\n"
    yield "AP with default parameters, the prior with weight 1. The papers rank within few documents.\n"
    yield from _table(figures, "AP", list(PRIORS), ["default"])
    yield "## Term dependence\n"
    yield "Over the parses that `esr enrich` stores (spaCy, en_core_web_sm). The second stage looks at the"
    yield "best 1,000 sentences.\n"
    for measure in ("AP", "P@10"):
        yield f"### {measure}\n"
        yield from _table(figures, measure, [*BESIDE, *DEPENDENCE], ["default", "tuned"])
        yield "Signals beside the default model, both as they are by default:\n"
        yield from _table(figures, measure, ["tfisf", "2si both", *WITH_CONTEXT], ["default"])
    yield "Precision at eleven points of recall, parameters tuned:\n"
    for collection in COLLECTIONS:
        path = recall.write(figures, collection, CURVES, TARGET.parent / "pictures")
        yield f"![{collection}: precision at eleven points of recall](pictures/{path.name})\n"
    yield "## What holds of the claims\n"
    yield "On tuned parameters, in AP, unless the claim says otherwise. A number behind a claim is its place"
    yield "in [docs/formulas.md](formulas.md): A.15, 8 is line 8 of A.15.\n"
    yield "| claim | " + " | ".join(COLLECTIONS) + " |"
    yield "| --- |" + " --- |" * len(COLLECTIONS)
    for claim in CLAIMS:
        found = [claim.test(figures, collection) for collection in COLLECTIONS]
        told = [f"{'holds' if verdict.holds else 'does not hold'}: {verdict.shown}" for verdict in found]
        text = claim.text.replace("|", "\\|")
        yield f"| {text} ({claim.source}) | " + " | ".join(told) + " |"
    yield ""


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
