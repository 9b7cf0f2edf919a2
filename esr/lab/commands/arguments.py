"""The arguments of the commands of the laboratory."""

from __future__ import annotations

from functools import partial

from esr.lab.cross_validation import WAYS
from esr.lab.estimation import DEFAULT_NUMBER, LIKELIHOOD, PSEUDO_TOPICS
from esr.lab.learn import ABLATIONS
from esr.lab.learners import FORMATS, LEARNERS
from esr.lab.measures import DEFAULT as MEASURES
from esr.lab.significance import RESAMPLES, SEED
from esr.lab.training_data import GROUPS, RUN_DEPTH, SIGNAL_DEPTH
from esr.plugin.provisional import TITLE, ArgumentRow
from esr.plugin.provisional import argument_types as types

_positional = partial(ArgumentRow, is_positional=True, is_required=True)
_WORKERS = "number of processes"
_DEPTH = types.WholeNumber(low=2, most=RUN_DEPTH, usual=SIGNAL_DEPTH)
_RANKING = "for --ranking"

LAB: tuple[ArgumentRow, ...] = (
    # Topics, judgements and runs
    _positional("topics", "the topics", types.Stream(), "run"),
    _positional("topics", "the topics", types.FilePath(), "tune learn"),
    _positional("topics", "the topics", types.FilePath(), "signals", is_required=False),
    _positional("qrels", "the judgements", types.FilePath(), "tune learn"),
    _positional("qrels", "the judgements", types.FilePath(), "signals", is_required=False),
    _positional(
        "qrels", "the judgements", types.Stream(), "evaluate report", sets="qrels_file", metavar="QRELS"
    ),
    _positional(
        "runs",
        "the runs",
        types.Stream(),
        "evaluate report pool",
        is_repeatable=True,
        sets="run_files",
        metavar="RUN...",
    ),
    _positional("first", "the judgements of one judge", types.Stream(), "agreement", metavar="A.QRELS"),
    _positional("second", "those of the other", types.Stream(), "agreement", metavar="B.QRELS"),
    _positional("comparison", "collections and rankings", types.FilePath(), "compare"),
    _positional("model", "the trees", types.FilePath(), "import-model"),
    ArgumentRow(
        "field",
        "field of the topics to search for: title, desc, narr, or several, like title+desc",
        types.Text(usual=TITLE),
        "run tune learn signals report pool",
    ),
    ArgumentRow(
        "restrict",
        'rank only these documents for a topic. FILE has lines of "qid<TAB>document id"; the word "topics" '
        "selects the documents that the topics themselves name, as in the Novelty track",
        types.Text(),
        "run",
        metavar="FILE|topics",
    ),
    ArgumentRow(
        "restrict",
        "lines of qid<TAB>document id: rank only these documents",
        types.FilePath(),
        "tune learn signals report",
    ),
    ArgumentRow("k", "sentences per topic", types.WholeNumber(most=1_000_000, usual=1000), "run"),
    ArgumentRow("k", "depth of a run", types.WholeNumber(usual=1000), "tune", sets="depth"),
    ArgumentRow(
        "unit",
        "what to rank: sentences, or documents, each by its best sentence, for judgements of documents",
        types.Choice(labels=dict.fromkeys(("sentence", "document"), ""), usual="sentence"),
        "run",
    ),
    ArgumentRow(
        "syntax",
        "read topics in the query language of esr search. Default: all is read as words",
        types.Flag(),
        "run",
    ),
    ArgumentRow("tag", "the run's name, its last column", types.Text(usual="esr"), "run"),
    ArgumentRow(
        "output", "the run; - prints it", types.Stream(is_input=False), "run", is_required=True, letter="o"
    ),
    # Evaluation
    ArgumentRow(
        "measures",
        'measures, as ir_measures names them: "AP P@10"',
        types.Texts(usual=" ".join(MEASURES)),
        "evaluate report",
        is_repeatable=True,
        sets="measure_texts",
        letter="m",
    ),
    ArgumentRow(
        "baseline",
        "compare with this run: the significance of the difference; on the page of esr report, also gains "
        "per topic, and sentences that moved",
        types.Stream(),
        "evaluate report",
        metavar="RUN",
    ),
    ArgumentRow(
        "by",
        'also show figures by type of topic. FILE has lines of "qid<TAB>type", or topics with types',
        types.Stream(),
        "evaluate report",
        metavar="FILE",
    ),
    ArgumentRow(
        "condensed",
        "leave sentences that nobody judged out of the runs, instead of counting them as not relevant",
        types.Flag(),
        "evaluate",
    ),
    ArgumentRow("per_topic", "also show the figures of every topic", types.Flag(), "evaluate"),
    ArgumentRow(
        "csv", "print CSV: run, type, topic, measure, value", types.Flag(), "evaluate", sets="as_csv"
    ),
    ArgumentRow(
        "index",
        "also report which judged sentences this index lacks",
        types.Text(),
        "evaluate",
        sets="where",
        metavar="WHERE",
    ),
    ArgumentRow(
        "resamples",
        "number of random permutations of the randomisation test",
        types.WholeNumber(low=100, most=10_000_000, usual=RESAMPLES),
        "evaluate",
    ),
    ArgumentRow("seed", "seed of its random numbers", types.WholeNumber(low=0, usual=SEED), "evaluate"),
    ArgumentRow(
        "output",
        "JSON Lines of all figures, one cell per line. Existing cells are not computed again",
        types.FilePath(),
        "compare",
        is_required=True,
        letter="o",
    ),
    ArgumentRow("workers", _WORKERS, types.WholeNumber(most=64, usual=2), "compare"),
    ArgumentRow(
        "depth",
        "the best sentences of each run and topic",
        types.WholeNumber(most=100_000, usual=10),
        "pool",
    ),
    ArgumentRow(
        "topics", "the topics, so that judges see the queries", types.Stream(), "pool", sets="topics_file"
    ),
    ArgumentRow(
        "qrels", "leave out the sentences that this file judges", types.Stream(), "pool", sets="qrels_file"
    ),
    ArgumentRow(
        "output",
        "the file to write; - prints it",
        types.Stream(is_input=False),
        "pool",
        is_required=True,
        letter="o",
    ),
    # Reports
    ArgumentRow(
        "output",
        "the HTML page to write; - prints it",
        types.Stream(),
        "report",
        is_required=True,
        letter="o",
    ),
    ArgumentRow("title", "title of the page", types.Text(usual="Retrieval report"), "report"),
    ArgumentRow(
        "pictures",
        "also write the pictures as PNG and SVG to this folder",
        types.FilePath(kind="folder"),
        "report",
    ),
    ArgumentRow(
        "index",
        "also show the lengths of the runs' top-ranked sentences",
        types.Text(),
        "report",
        sets="where",
        metavar="WHERE",
    ),
    ArgumentRow(
        "topics",
        "with --index: also show how AP depends on each parameter of --model",
        types.Stream(),
        "report",
        sets="topics_file",
    ),
    ArgumentRow(
        "curves",
        "with --topics: also show what this feature could add, as for the ranking's own features",
        types.Texts(),
        "report",
        is_repeatable=True,
        metavar="FEATURE",
    ),
    # Tuning
    ArgumentRow(
        "grid",
        "values to try. Default: the papers', for every parameter that --set does not fix",
        types.Texts(),
        "tune estimate",
        is_repeatable=True,
        sets="grid_texts",
        metavar="NAME=V,V,...",
    ),
    ArgumentRow(
        "train",
        "train a curve, such as floe:pos or indep:len:delta=1, on the best setting",
        types.Texts(),
        "tune",
        is_repeatable=True,
        sets="train_texts",
        metavar="FORM:FEATURE[:OPTION=VALUE...]",
    ),
    ArgumentRow(
        "measure", "what to maximise: AP, RR, RPrec, P@k, R@k", types.Text(usual="AP"), "tune estimate"
    ),
    ArgumentRow(
        "way",
        "all combinations, or one parameter after another (for many parameters)",
        types.Choice(labels=WAYS, usual="grid"),
        "tune",
    ),
    ArgumentRow(
        "way",
        "all combinations, or one parameter after another (for many parameters)",
        types.Choice(labels=WAYS, usual="ascent"),
        "estimate",
    ),
    ArgumentRow("folds", "cross-validate with this number of folds", types.WholeNumber(low=2), "tune"),
    ArgumentRow("groups", "lines of qid<TAB>group: no group is split across folds", types.FilePath(), "tune"),
    ArgumentRow(
        "test_topics", "topics to test on, distinct from the training topics", types.FilePath(), "tune"
    ),
    ArgumentRow("test_qrels", "judgements of the test topics", types.FilePath(), "tune"),
    ArgumentRow("test_index", "index of the test topics, if it is another one", types.Text(), "tune"),
    ArgumentRow("test_on_training", "allow test topics that are training topics", types.Flag(), "tune"),
    ArgumentRow("workers", _WORKERS, types.WholeNumber(most=64, usual=1), "tune estimate"),
    ArgumentRow(
        "output", f"write the best ranking to this file, {_RANKING}", types.FilePath(), "tune", letter="o"
    ),
    ArgumentRow(
        "from",
        "topics generated from the collection, or the textbook's likelihood of held-out words (much worse)",
        types.Choice(labels=dict.fromkeys((PSEUDO_TOPICS, LIKELIHOOD), ""), usual=PSEUDO_TOPICS),
        "estimate",
        sets="source",
    ),
    ArgumentRow(
        "topics",
        "number of pseudo-topics, or of sentences for the likelihood",
        types.WholeNumber(low=10, usual=DEFAULT_NUMBER),
        "estimate",
        sets="number",
    ),
    ArgumentRow("seed", "seed of the sample of sentences", types.WholeNumber(low=0, usual=0), "estimate"),
    ArgumentRow(
        "output",
        f"write the estimated ranking to this file, {_RANKING}",
        types.FilePath(),
        "estimate",
        letter="o",
    ),
    # Learning
    ArgumentRow(
        "learner",
        "how signals are combined: by weights (linear) or by trees (lambdamart)",
        types.Choice(labels=LEARNERS, usual="linear"),
        "learn",
    ),
    ArgumentRow(
        "signals",
        f"learn from this signal or group: {', '.join(GROUPS)}",
        types.Texts(),
        "learn",
        is_repeatable=True,
        sets="texts",
        metavar="NAME",
    ),
    ArgumentRow(
        "measure", "what to maximise and to report: AP, nDCG, nDCG@k", types.Text(usual="AP"), "learn"
    ),
    ArgumentRow("folds", "number of folds", types.WholeNumber(low=2, usual=5), "learn"),
    ArgumentRow(
        "group",
        "lines of qid<TAB>group: no group is split across folds",
        types.FilePath(),
        "learn",
        sets="groups",
    ),
    ArgumentRow(
        "depth", "number of best sentences of the first stage to learn from and to rerank", _DEPTH, "learn"
    ),
    ArgumentRow(
        "ablate",
        "learn again without each group of signals, or without each signal",
        types.Choice(labels=ABLATIONS, usual="groups"),
        "learn",
    ),
    ArgumentRow("seed", "seed of folds and learner", types.WholeNumber(low=0, usual=0), "learn"),
    ArgumentRow(
        "output", f"write the ranking to this file, {_RANKING}", types.FilePath(), "learn", letter="o"
    ),
    ArgumentRow("report", "write a page (.html) or figures (.json) to this file", types.FilePath(), "learn"),
    ArgumentRow(
        "format",
        "write the signals of topics in this form",
        types.Choice(labels=FORMATS),
        "signals",
        sets="form",
    ),
    ArgumentRow(
        "signals",
        "write this signal or group",
        types.Texts(),
        "signals",
        is_repeatable=True,
        sets="texts",
        metavar="NAME",
    ),
    ArgumentRow(
        "depth", "number of best sentences of the first stage to write for a topic", _DEPTH, "signals"
    ),
    ArgumentRow("output", "the file to write", types.FilePath(), "signals", letter="o"),
    ArgumentRow(
        "signals",
        "the .signals.json beside the file that the model was learned from",
        types.FilePath(),
        "import-model",
        is_required=True,
        sets="description",
    ),
    ArgumentRow(
        "with_first_stage",
        "add the score of the first stage: for a model that was learned on top of it",
        types.Flag(),
        "import-model",
    ),
    ArgumentRow(
        "output",
        f"the ranking to write, {_RANKING}",
        types.FilePath(),
        "import-model",
        is_required=True,
        letter="o",
    ),
)
"""By the commands that take them."""
