"""The targets from Fernández, Losada & Azzopardi 2011 (docs/formulas.md, A.14 and A.15)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

from esr.lab.reproduce.checks import (
    ALL_PAIRS,
    MAIN_PAIRS,
    NO_DATA,
    NO_TABLE,
    Pairs,
    all_of,
    at_least,
    compared,
    has_rows,
    list_pairs,
    majority_of,
    near,
    ordered,
    reported,
    satisfies,
    statistic,
    top_length,
    tuned_to,
)
from esr.lab.reproduce.experiment_results import ExperimentResults
from esr.lab.reproduce.protocol import MAIN
from esr.lab.reproduce.raw_files import YEARS
from esr.lab.reproduce.systems import (
    ALONE,
    CONTEXTS,
    SYSTEMS,
    VECTOR,
    WITH_CONTEXT,
    list_language_models,
    name_with_prior,
)
from esr.lab.reproduce.targets import REPORTED, Check, Line, Target, choose_mark
from esr.lab.unseen_terms import LENGTHS, compute_weights

_PLAIN = list_language_models()
_PRIOR = [name_with_prior(name) for name in _PLAIN]
_BASE = ("tfisf", "dir")
_STRONG = ("tfisf", "bm25")
_LENGTH = [f"{model} + length" for model in ALONE]
_VECTOR = [system.name for system in SYSTEMS.values() if system.group == VECTOR]


def _in(*names: str) -> list[str]:
    """The names of these models in each context."""
    return [f"{name} {context}" for name in names for context in CONTEXTS]


_2SI = _in("2si")
_OTHERS = [name for name in _PLAIN if name not in _2SI]


def relevant_shares(claimed: Mapping[str, float]) -> Check:
    """Check the share of relevant sentences of each year, in per cent."""
    return all_of(
        near(
            f"relevant in {year}, % (micro or macro)",
            percent,
            0.5,
            statistic(year, "relevant_micro", 100.0),
            statistic(year, "relevant_macro", 100.0),
        )
        for year, percent in claimed.items()
    )


def _top_lengths(model: str, claimed: Mapping[str, float]) -> Check:
    return all_of(
        near(
            f"top-100 length of {model}, {test} (document or surrounding)",
            number,
            0.5,
            *(top_length(MAIN, test, name) for name in _in(model)),
        )
        for test, number in claimed.items()
    )


def _longer(pairs: Pairs, systems: Iterable[tuple[str, str]]) -> Check:
    """Check that the top sentences of the first system of each pair are longer than those of the second."""
    systems = list(systems)
    return all_of(
        ordered(
            f"top-100 length, {train} to {test}",
            (a, top_length(train, test, a)),
            (b, top_length(train, test, b)),
            digits=2,
        )
        for train, test in pairs
        for a, b in systems
    )


def _check_equal_settings(results: ExperimentResults) -> list[Line]:
    """Check that with alpha = 1 the systems with a context have the figures of those without."""
    lines = []
    for name, plain in (
        ("bm25f document", "bm25"),
        ("bm25f surrounding", "bm25"),
        ("tfmix document", "tfisf"),
    ):
        for train, test in MAIN_PAIRS:
            ours, theirs = results.figures(train, test, name), results.figures(train, test, plain)
            label = f"AP of {name}, {train} to {test}"
            if ours is None or theirs is None:
                lines.append(Line(label, f"that of {plain}", NO_DATA, None))
                continue
            text = f"{ours.means['AP']:.4f} against {theirs.means['AP']:.4f}"
            lines.append(
                Line(label, f"that of {plain}", text, abs(ours.means["AP"] - theirs.means["AP"]) < 5e-5)
            )
    return lines


# Consequences of the formulas, which need no data


_DIRECTIONS = {"dir": -1, "2s": -1, "jm": 0, "3mm": 0, "2si": 1}
_WORDS = {-1: "falls", 0: "is constant", 1: "rises"}


def _check_length_correction(results: ExperimentResults) -> list[Line]:
    """Check how the weight of an unseen term changes with the sentence's length."""
    lines = []
    for model, weights in compute_weights().items():
        steps = [after - before for before, after in pairwise(weights)]
        size = 0 if all(abs(step) < 1e-9 for step in steps) else None
        direction = size if size == 0 else 1 if min(steps) > 0 else -1 if max(steps) < 0 else None
        claimed = _DIRECTIONS[model]
        weights_found = f"{weights[0]:.2f} at {LENGTHS[0]} term, {weights[-1]:.2f} at {LENGTHS[-1]}"
        lines.append(
            Line(f"length correction of {model}", _WORDS[claimed], weights_found, direction == claimed)
        )
    return lines


def _report_length_correction(results: ExperimentResults) -> list[Line]:
    at = (1, 10, 20, 30, 40, 50)
    return [
        Line(
            f"length correction of {model} at {', '.join(map(str, at))} terms",
            REPORTED,
            ", ".join(f"{weights[n - 1]:.2f}" for n in at),
            True,
        )
        for model, weights in compute_weights().items()
    ]


# One sentence


_WITHIN = 10


def _check_earthquake(results: ExperimentResults) -> list[Line]:
    """Check that p(d|s) brings the example sentence among the first ten."""
    lines = []
    for example in results.examples.get("earthquake", ()):
        for name in _in("3mm"):
            without, with_ = example.ranks[name], example.ranks[name_with_prior(name)]
            lines.append(
                Line(
                    f"ranks of {example.sentence} ({example.topic}), {name} of {example.train}, + p(d|s)",
                    f"above {_WITHIN}, and at most {_WITHIN}",
                    f"{without or 'none'}, and {with_ or 'none'}",
                    (without is None or without > _WITHIN) and with_ is not None and with_ <= _WITHIN,
                )
            )
    return lines or [Line('the sentence of "Chinese earthquake"', "found", NO_DATA, None)]


# Findings that the paper reports for each training year. Each is built for pairs of training and test years.


_BUILT: dict[str, tuple[str, Callable[[Pairs], Check]]] = {
    "FLA-F1": (
        "without p(d|s), 2S-I is the best method in AP and R-Prec",
        lambda pairs: compared("above", _2SI, [*_OTHERS, *_STRONG], pairs=pairs),
    ),
    "FLA-F2": (
        "2S-I is significantly above tfisf and DIR in AP and R-Prec, in both contexts",
        lambda pairs: compared("significantly above", _2SI, _BASE, pairs=pairs),
    ),
    "FLA-F3": (
        "document and surrounding sentences do not differ significantly; the document is slightly better",
        lambda pairs: all_of(
            *(
                compared(
                    "not significantly different from",
                    [f"{model} document"],
                    [f"{model} surrounding"],
                    pairs=pairs,
                )
                for model in WITH_CONTEXT
            ),
            majority_of(
                all_of(
                    compared("not below", [f"{model} document"], [f"{model} surrounding"], pairs=pairs)
                    for model in WITH_CONTEXT
                )
            ),
        ),
    ),
    "FLA-F4": (
        "without p(d|s), 3MM and 2S bring no improvement; 3MM is below the strong and the weak baseline",
        lambda pairs: all_of(
            compared("not significantly above", _in("2s"), _BASE, pairs=pairs),
            compared("below", _in("3mm"), _BASE, pairs=pairs),
        ),
    ),
    "FLA-F5": (
        "P@10 of most models with context is slightly below the baselines",
        lambda pairs: majority_of(compared("below", _in(*WITH_CONTEXT), _BASE, ["P@10"], pairs)),
    ),
    "FLA-F6": (
        "2S-I with surrounding sentences has the best P@10 of 2004, not always significantly",
        lambda pairs: compared(
            "above",
            ["2si surrounding"],
            [*_STRONG, *_PLAIN],
            ["P@10"],
            [pair for pair in pairs if pair[1] == "2004"],
        ),
    ),
    "FLA-F8": (
        "p(d|s) improves JM, DIR, 3MM and 2S significantly; 2S-I hardly changes",
        lambda pairs: all_of(
            *(
                compared("significantly above", [name_with_prior(name)], [name], pairs=pairs)
                for name in _OTHERS
            ),
            *(
                compared("not significantly different from", [name_with_prior(name)], [name], pairs=pairs)
                for name in _2SI
            ),
        ),
    ),
    "FLA-F9": (
        "every language model with p(d|s) beats tfisf and BM25, significantly",
        lambda pairs: compared("significantly above", _PRIOR, _STRONG, pairs=pairs),
    ),
    "FLA-F10": (
        "with p(d|s), smoothing methods do not differ significantly",
        lambda pairs: all_of(
            compared("not significantly different from", [name], _PRIOR[number:], pairs=pairs)
            for number, name in enumerate(_PRIOR, 1)
        ),
    ),
    "FLA-F11": (
        "tfisf is about equal to tuned BM25",
        lambda pairs: compared("not significantly different from", ["bm25"], ["tfisf"], pairs=pairs),
    ),
    "FLA-F15": (
        "variants with context hardly differ from their originals; idfdoc insignificantly",
        lambda pairs: all_of(
            compared(
                "not significantly different from",
                ["idfdoc", "tfmix document", *(f"tfmix {context} + idfdoc" for context in CONTEXTS)],
                ["tfisf"],
                pairs=pairs,
            ),
            compared("not significantly different from", _in("bm25f"), ["bm25"], pairs=pairs),
        ),
    ),
    "FLA-F20": (
        "the length prior lifts JM and DIR significantly",
        lambda pairs: all_of(
            compared("significantly above", [f"{m} + length"], [m], pairs=pairs) for m in ALONE
        ),
    ),
    "FLA-F21": (
        "with the length prior they are still not above 2S-I",
        lambda pairs: compared("not significantly above", _LENGTH, _2SI, pairs=pairs),
    ),
}


def _check_trends(results: ExperimentResults) -> list[Line]:
    """Check that each finding has the same mark whatever the training year."""
    lines = []
    for id, (_, build) in _BUILT.items():
        main = choose_mark(build(MAIN_PAIRS)(results))
        for train in YEARS:
            if train == MAIN or not (checked := build(list_pairs(train))(results)):
                continue
            mark = choose_mark(checked)
            known = all(line.holds is not None for line in (*checked, *build(MAIN_PAIRS)(results)))
            holding = f"{sum(bool(line.holds) for line in checked)} of {len(checked)} lines hold"
            label = f"{id}, trained on {train}"
            lines.append(
                Line(label, f"{main}, as on {MAIN}", f"{mark}: {holding}", mark == main if known else None)
            )
    return lines


def _built(id: str, pairs: Pairs = MAIN_PAIRS, differs: str = "") -> Target:
    claim, build = _BUILT[id]
    return Target(id, claim, build(pairs), differs)


_STOP_WORDS = "lengths are without Snowball's stop words; the paper's list is not known"
TARGETS = (
    Target(
        "FLA-D1",
        "relevant sentences: 2002 2 %, 2003 39.07 %, 2004 15.97 %",
        relevant_shares({"2002": 2, "2003": 39.07, "2004": 15.97}),
        "pooled or averaged over topics: either may be the paper's",
    ),
    Target(
        "FLA-D2",
        "sentences have about 9 terms, relevant ones about 14",
        all_of(
            *(near(f"terms of a sentence, {y}", 9.0, 1.0, statistic(y, "sentence_length")) for y in YEARS),
            *(
                near(f"terms of a relevant one, {y}", 14.0, 1.5, statistic(y, "relevant_length"))
                for y in YEARS
            ),
        ),
        _STOP_WORDS,
    ),
    Target(
        "FLA-D3",
        "50 topics a year; documents of 2002 and 2003 are relevant, those of 2004 are not all",
        all_of(
            *(near(f"topics of {year}", 50, 1, statistic(year, "topics"), digits=0) for year in YEARS),
            *(
                satisfies(
                    f"documents without a relevant sentence, {year}",
                    REPORTED if year != "2004" else "above 0",
                    statistic(year, "without_relevant"),
                    lambda number, year=year: year != "2004" or number > 0,  # type: ignore[misc]
                    digits=0,
                )
                for year in YEARS
            ),
        ),
        "which documents are relevant is not in the files, only which sentences; nor is there that every "
        "sentence was judged",
    ),
    Target(
        "FLA-D4",
        "a term nearly always occurs once in a sentence; p(t|d) is far above p(t) for nearly all of them",
        all_of(
            at_least(f"{subject}, {year}", least, statistic(year, name))
            for name, subject, least in (
                ("once", "terms that occur once", 0.9),
                ("above", "terms with p(t|d) above p(t)", 0.9),
                ("far_above", "terms with p(t|d) above 10 p(t)", 0.5),
            )
            for year in YEARS
        ),
        "the paper has no numbers; the bounds are esr's",
    ),
    Target(
        "FLA-E1",
        "Table 2: settings by training on 2002, without p(d|s)",
        has_rows(["bm25", *_PLAIN], MAIN_PAIRS),
        f"column `parameters`; {NO_TABLE}, except b = 0",
    ),
    Target(
        "FLA-E2",
        "Table 3: localized smoothing, trained on 2002",
        has_rows([*_STRONG, *_PLAIN], MAIN_PAIRS),
        NO_TABLE,
    ),
    Target(
        "FLA-E3",
        "Tables 10-13: localized smoothing, trained on 2003 and on 2004",
        has_rows([*_STRONG, *_PLAIN], [pair for pair in ALL_PAIRS if pair[0] != MAIN]),
        NO_TABLE,
    ),
    Target("FLA-E4", "Tables 4 and 5: with p(d|s), trained on 2002", has_rows(_PRIOR, MAIN_PAIRS), NO_TABLE),
    Target(
        "FLA-E5",
        "Figures 1-3: P@10, AP and R-Prec with and without p(d|s)",
        reported(
            all_of(
                compared("above", [name_with_prior(name)], [name], ("P@10", "AP", "RPrec")) for name in _PLAIN
            )
        ),
        "numbers instead of bars",
    ),
    Target(
        "FLA-E6",
        "Tables 14-17: with p(d|s), trained on 2003 and on 2004",
        has_rows(_PRIOR, [pair for pair in ALL_PAIRS if pair[0] != MAIN]),
        NO_TABLE,
    ),
    Target(
        "FLA-E7",
        '"Chinese earthquake": p(d|s) brings a relevant sentence into the top 10 of 3MM',
        _check_earthquake,
        "the year of the topic and the context of 3MM are not known: all years and both contexts are shown",
    ),
    Target("FLA-E8", "Tables 6 and 7: context in the baselines", has_rows(_VECTOR, MAIN_PAIRS), NO_TABLE),
    Target(
        "FLA-E9",
        "Table 8 and Figure 4: length correction for sentences of 1 to 50 terms",
        _report_length_correction,
        "smoothing 0.5 and mu 100 as in the paper; p(t|d) 0.02 and p(t) 0.0005 are esr's",
    ),
    Target(
        "FLA-E10",
        "average length of the top 100, with and without p(d|s)",
        has_rows([*_PLAIN, *_PRIOR], MAIN_PAIRS),
        "column `top-100 length`; the numbers are judged by FLA-F16 and FLA-F17",
    ),
    Target(
        "FLA-E11",
        "Table 9 and Figure 5: JM and DIR with a length prior",
        has_rows(_LENGTH, MAIN_PAIRS),
        NO_TABLE,
    ),
    _built("FLA-F1"),
    _built("FLA-F2", ALL_PAIRS, "judged on all training years, as the paper says so of Tables 11 and 13"),
    _built("FLA-F3"),
    _built("FLA-F4", differs="the baselines are taken to be tfisf and DIR"),
    _built("FLA-F5"),
    _built("FLA-F6", differs="that it is not always significant allows either, so only the order is judged"),
    Target(
        "FLA-F7",
        "the three ways to choose a training year show the same trends",
        _check_trends,
        "a trend is the same if the finding has the same mark as with 2002",
    ),
    _built("FLA-F8"),
    _built("FLA-F9", differs="the text says above, the conclusion significantly: significance is asked for"),
    _built("FLA-F10"),
    _built("FLA-F11"),
    Target("FLA-F12", "the best BM25 has b = 0", tuned_to(MAIN, "bm25", b=0.0)),
    Target(
        "FLA-F13",
        "the best BM25f has b_sent = 0 and alpha = 1 in both contexts, which is BM25",
        all_of(tuned_to(MAIN, name, b_sent=0.0, alpha=1.0) for name in _in("bm25f")),
    ),
    Target(
        "FLA-F14",
        "the best tfmix is tfisf with the document; with surrounding sentences (alpha 0.6) it is below tfisf "
        "on 2003 and equal on 2004",
        all_of(
            tuned_to(MAIN, "tfmix document", alpha=1.0),
            tuned_to(MAIN, "tfmix surrounding", alpha=0.6),
            compared("below", ["tfmix surrounding"], ["tfisf"], ["AP"], [(MAIN, "2003")]),
            compared(
                "not significantly different from", ["tfmix surrounding"], ["tfisf"], ["AP"], [(MAIN, "2004")]
            ),
        ),
        "by AP; the measure is not said",
    ),
    _built("FLA-F15"),
    Target(
        "FLA-F16",
        "top-100 length without p(d|s): 2S-I 13.71 and 13.66, 3MM 12.68 and 12.67, all shorter than 2S-I",
        all_of(
            _top_lengths("2si", {"2003": 13.71, "2004": 13.66}),
            _top_lengths("3mm", {"2003": 12.68, "2004": 12.67}),
            _longer(
                MAIN_PAIRS,
                (
                    (contexts, other)
                    for contexts in _2SI
                    for other in _OTHERS
                    if " " not in other or other.endswith(contexts.partition(" ")[2])
                ),
            ),
        ),
        f"{_STOP_WORDS}; whether tfisf and BM25 are meant too is not clear, so only language models are",
    ),
    Target(
        "FLA-F17",
        "with p(d|s), the top 100 is about 20 terms long in all models",
        all_of(
            near(f"top-100 length of {system}, {test}", 20.0, 2.0, top_length(train, test, system))
            for train, test in MAIN_PAIRS
            for system in _PRIOR
        ),
        _STOP_WORDS,
    ),
    Target(
        "FLA-F18",
        "length correction: DIR and 2S penalize long sentences, JM and 3MM are neutral, 2S-I promotes them",
        _check_length_correction,
        "computed from the formulas, without data",
    ),
    Target(
        "FLA-F19",
        "p(d|s) favours long sentences by itself",
        _longer(MAIN_PAIRS, ((name_with_prior(name), name) for name in _PLAIN)),
        "seen from the length of the top 100 with and without it",
    ),
    _built("FLA-F20"),
    _built("FLA-F21"),
    # Targets missing from the list of experiments and findings
    Target(
        "FLA-F22",
        "both forms of local context together are significantly above JM and DIR (conclusion)",
        compared(
            "significantly above",
            [name_with_prior(name) for name in _in(*WITH_CONTEXT)],
            ALONE,
            pairs=ALL_PAIRS,
        ),
    ),
    Target(
        "FLA-F23",
        "tfisf and BM25 with b = 0 tend to long sentences already, as these match more terms",
        all_of(
            ordered(
                f"terms, {test}",
                (f"top 100 of {system}", top_length(train, test, system)),
                ("all sentences", statistic(test, "sentence_length")),
                digits=2,
            )
            for train, test in MAIN_PAIRS
            for system in _STRONG
        ),
    ),
    Target(
        "FLA-F24",
        "with alpha = 1, BM25f is the same strategy as BM25, and tfmix with the document as tfisf",
        _check_equal_settings,
        "the figures are equal if training selects alpha = 1",
    ),
    Target(
        "FLA-F25",
        "context finds relevant sentences that match few of the query's terms, which lifts recall",
        None,
        "an expectation of the paper without a figure; where only matching sentences are ranked there is "
        "nothing to find: compare `--ranked context`",
    ),
    Target(
        "FLA-F26",
        "early precision can be raised too, if the smoothing parameters are set well",
        None,
        "no experiment of the paper shows it, and it tunes for one objective on other topics than it tests",
    ),
)
