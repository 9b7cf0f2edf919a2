"""`esr signals` lists signals, or writes them for other learners; `esr import-model` reads their models."""

from __future__ import annotations

from pathlib import Path

import click

from esr.cli import options
from esr.cli.listings import print_entries
from esr.cli.output import check_output
from esr.cli.ranking_options import ranking_options
from esr.errors import UsageError
from esr.progress import count_topics
from esr.ranking.ranking import Ranking
from esr.ranking.signals import signal_types
from esr.wording import count

# Copies from esr.lab, which is only imported when needed. A test compares them.
_FORMATS = ("letor", "svmlight")
_DEPTH, _MAX_DEPTH = 100, 1000


@click.command("signals")
@click.argument("topics", type=options.FILE, required=False)
@click.argument("qrels", type=options.FILE, required=False)
@options.optional_index
@ranking_options
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), help="Write the signals of topics in this form."
)
@click.option(
    "--signals", "texts", multiple=True, metavar="NAME", help="Write this signal or group. May be repeated."
)
@click.option(
    "--depth",
    type=click.IntRange(2, _MAX_DEPTH),
    default=_DEPTH,
    help="Number of best sentences of the first stage to write for a topic.",
)
@click.option("--field", default="title", help="Field of the topics to search for.")
@click.option(
    "--restrict", type=options.FILE, help="Lines of qid<TAB>document id: rank only these documents."
)
@click.option("-o", "--output", type=options.FILE, help="The file to write.")
@options.as_json
def signals(
    topics: Path | None,
    qrels: Path | None,
    where: str | None,
    ranking: Ranking,
    form: str | None,
    texts: tuple[str, ...],
    depth: int,
    field: str,
    restrict: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """List the signals of the second stage.

    They can be added to the scores of a ranking's best sentences. The value of any feature is a signal too,
    as "feature subj".

    With --format, the signals of each topic's best sentences are written to a file, for other learners:
    letor has lines of RankLib and scikit-learn, svmlight those of LightGBM. The options of the ranking define
    the first stage. FILE.signals.json says what the numbers mean; esr import-model needs it.

    \b
    Example:
      esr search "bank fraud" --index my-index --rerank mrf_sdm:0.5
      esr signals topics.tsv qrels.txt --index my-index --format letor -o train.txt
    """
    if form is None:
        if topics is not None or output is not None:
            raise UsageError(f"add --format to write signals to a file: {' or '.join(_FORMATS)}")
        print_entries((signal.as_dict() for signal in signal_types().values()), as_json)
        return
    if topics is None or qrels is None or where is None or output is None:
        raise UsageError("esr signals --format needs TOPICS, QRELS, --index and -o")
    from esr.lab.learners import Description, write_signals
    from esr.lab.measures import read_qrels
    from esr.lab.training_data import collect_signals, list_signals, select_signals
    from esr.lab.tuner import build_tasks
    from esr.ranking.searcher import open_searcher
    from esr.topics import read_topics

    check_output(output, topics, qrels, restrict)
    judgements = read_qrels(qrels)
    tasks = build_tasks(read_topics(topics), judgements, field=field, restrict=restrict).ready
    with open_searcher(where) as searcher, count_topics() as tick:
        selected = select_signals(list_signals(searcher.index, ranking), texts)
        data = collect_signals(searcher, tasks, judgements, ranking, selected, depth, tick)
    lines = write_signals(output, form, data, Description(ranking, depth, selected))
    size = f"{count(lines, 'sentence')} of {count(len(data), 'topic')} with {count(len(selected), 'signal')}"
    click.echo(f"wrote {size} to {output}")


@click.command("import-model")
@click.argument("model", type=options.FILE)
@click.option(
    "--signals",
    "description",
    type=options.FILE,
    required=True,
    help="The .signals.json beside the file that the model was learned from.",
)
@click.option(
    "--with-first-stage",
    is_flag=True,
    help="Add the score of the first stage: for a model that was learned on top of it.",
)
@click.option("-o", "--output", type=options.FILE, required=True, help="The ranking to write, for --ranking.")
def import_model(model: Path, description: Path, with_first_stage: bool, output: Path) -> None:
    """Convert trees of LightGBM or XGBoost to a ranking.

    MODEL is the JSON of LightGBM's dump_model, or a file model.json of XGBoost's save_model. The ranking has
    plain numbers and needs neither library.

    \b
    Example:
      esr import-model model.json --signals train.txt.signals.json -o learned.json
      esr search "bank fraud" --index my-index --ranking learned.json
    """
    from esr.lab.commands.tune import save_ranking
    from esr.lab.learners import read_description, read_model

    check_output(output, model, description)
    ranking = read_model(model, read_description(description), with_first_stage=with_first_stage)
    save_ranking(output, ranking.as_dict())
    assert ranking.trees is not None
    click.echo(f"wrote a ranking with {len(ranking.trees.trees):,} trees to {output}")
