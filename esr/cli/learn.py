"""`esr learn`: learns a ranking from many signals and judgements."""

from __future__ import annotations

import json
from pathlib import Path

import click
from tqdm import tqdm

import esr
from esr.cli import options
from esr.cli.output_file import check_output, open_output
from esr.cli.progress import count_topics
from esr.cli.ranking_options import ranking_options
from esr.cli.tuning_options import save_ranking, warn_of_unjudged
from esr.errors import UsageError
from esr.evaluation import qrels as qrel_files
from esr.evaluation import restrictions
from esr.evaluation import topics as topic_files
from esr.evaluation.topic import TITLE
from esr.evaluation.tuning.tasks import build_tasks
from esr.extras import require
from esr.learning import signals as signal_lists
from esr.learning import topic_signals
from esr.learning.learn import ABLATIONS, LearningOptions, count_steps, learn
from esr.learning.learner import LEARNERS
from esr.learning.outcome import Outcome, to_dict, to_text
from esr.learning.signal_table import parse_measure
from esr.ranking.ranking import Ranking


@click.command("learn")
@click.argument("topics", type=options.FILE)
@click.argument("qrels", type=options.FILE)
@options.index
@ranking_options
@click.option(
    "--learner", type=click.Choice(list(LEARNERS)), default="linear", show_default=True, help="See below."
)
@click.option(
    "--signals",
    "texts",
    multiple=True,
    metavar="NAME",
    help=f"Learn from this signal or group: {', '.join(signal_lists.GROUPS)}. May be repeated.",
)
@click.option(
    "--measure", default="AP", show_default=True, help="What to maximise and to report: AP, nDCG, nDCG@k."
)
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Number of folds.")
@click.option(
    "--group", "groups", type=options.FILE, help="Lines of qid<TAB>group: no group is split across folds."
)
@click.option(
    "--depth",
    type=click.IntRange(2, topic_signals.RUN_DEPTH),
    default=topic_signals.DEPTH,
    show_default=True,
    help="Number of best sentences of the first stage to learn from and to rerank.",
)
@click.option(
    "--ablate",
    type=click.Choice(list(ABLATIONS)),
    default="groups",
    show_default=True,
    help="Learn again without each group of signals, or without each signal.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of folds and learner.")
@click.option("--field", default=TITLE, show_default=True, help="Field of the topics to search for.")
@click.option(
    "--restrict", type=options.FILE, help="Lines of qid<TAB>document id: rank only these documents."
)
@click.option("-o", "--output", type=options.FILE, help="Write the ranking to this file, for --ranking.")
@click.option("--report", type=options.FILE, help="Write a page (.html) or figures (.json) to this file.")
@options.as_json
def learn_command(
    topics: Path,
    qrels: Path,
    where: str,
    ranking: Ranking,
    learner: str,
    texts: tuple[str, ...],
    measure: str,
    folds: int,
    groups: Path | None,
    depth: int,
    ablate: str,
    seed: int,
    field: str,
    restrict: Path | None,
    output: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Learn a ranking from all signals: models in their contexts, priors, features, term dependence.

    The options of the ranking define the first stage. linear adds weighted signals to its score: features
    and priors run in the first stage, also in Elasticsearch, and the others in the second. lambdamart
    reranks the first stage's best sentences by regression trees; it needs esr[learn].

    Figures are for held-out topics. Topics with the same words or half of their relevant sentences in common
    are never in both training and test; --group adds others that belong together.

    \b
    Example:
      esr learn topics.tsv qrels.txt --index my-index -o learned.json --report learned.html
      esr learn topics.tsv qrels.txt --index my-index --learner lambdamart --group twins.tsv
      esr learn topics.tsv qrels.txt --index my-index --signals features --signals "2si document"
    """
    for file in (output, report):
        if file:
            check_output(file, topics, qrels, groups, restrict)
    if report and report.suffix not in (".html", ".json"):
        raise UsageError(f"--report {report}: the file name must end in .html or .json")
    require("esr learn", "ir_measures", "scipy")  # before the searches, which take long
    if learner == "lambdamart":
        require("LambdaMART", "lightgbm")
    if report and report.suffix == ".html":
        require("a page of --report", "matplotlib")
    parse_measure(measure)
    topic_groups = topic_files.read_kinds(groups) if groups else {}
    all_topics, judgements = topic_files.read(topics), qrel_files.read(qrels)
    allowed = restrictions.choose(restrict, all_topics)
    tasks = build_tasks(all_topics, judgements, field=field, restrictions=allowed)
    learning = LearningOptions(learner, measure, folds, seed, depth, ablate)
    with esr.open(where) as searcher:
        signals = signal_lists.select_signals(signal_lists.list_signals(searcher.index, ranking), texts)
        with count_topics() as tick:
            training_data = topic_signals.collect_signals(
                searcher, tasks.ready, judgements, ranking, signals, depth, tick
            )
    with tqdm(total=count_steps(signals, learning), unit=" fits", disable=None, leave=False) as bar:

        def advance(fits: int) -> None:
            bar.update(fits)

        learned, outcome = learn(training_data, signals, ranking, learning, topic_groups, advance)
    if output:
        save_ranking(output, learned.as_dict())
    if report:
        _write_report(report, outcome)
    warn_of_unjudged(tasks)
    data = {**to_dict(outcome), "ranking": learned.as_dict()}
    click.echo(json.dumps(data, indent=1) if as_json else to_text(outcome))


def _write_report(report: Path, outcome: Outcome) -> None:
    if report.suffix == ".json":
        text = json.dumps(to_dict(outcome), indent=1) + "\n"
    else:
        from esr.learning.report import render_report  # deferred: it imports matplotlib

        text = render_report(outcome)
    with open_output(report) as file:
        file.write(text)
