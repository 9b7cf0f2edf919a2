"""The surviving claims of the first paper (Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.15)."""

from __future__ import annotations

from esr.evaluation.reproduce import systems
from esr.evaluation.reproduce.checks import NO_DATA, Value, all_of, compared, majority_of, near, tuned_to
from esr.evaluation.reproduce.experiment_results import ExperimentResults
from esr.evaluation.reproduce.protocol import MAIN
from esr.evaluation.reproduce.raw import YEARS
from esr.evaluation.reproduce.systems import CONTEXTS, language_models, with_prior
from esr.evaluation.reproduce.target import Check, Line, Target

TESTS = tuple(year for year in YEARS if year != MAIN)
_PLAIN = language_models()
_PRIOR = [with_prior(name) for name in _PLAIN]
_BASE = ("tfisf", "dir")


def _in(*names: str) -> list[str]:
    """These models in each context."""
    return [f"{name} {context}" for name in names for context in CONTEXTS]


def _year_statistic(year: str, name: str, factor: float = 1.0) -> Value:
    """A statistic of a year's data."""

    def value(results: ExperimentResults) -> float | None:
        if year not in results.statistics:
            return None
        number: float = getattr(results.statistics[year], name) * factor
        return number

    return value


def _top_length(test: str, system: str) -> Value:
    def value(results: ExperimentResults) -> float | None:
        figures = results.figures(MAIN, test, system)
        return None if figures is None else figures.top_length

    return value


def relevant_shares(claimed: dict[str, float]) -> Check:
    """The share of relevant sentences of each year, in per cent."""
    return all_of(
        *(
            near(
                f"relevant in {year}, % (micro or macro)",
                percent,
                0.5,
                _year_statistic(year, "relevant_micro", 100.0),
                _year_statistic(year, "relevant_macro", 100.0),
            )
            for year, percent in claimed.items()
        )
    )


def _lengths() -> Check:
    return all_of(
        *(near(f"terms of a sentence, {y}", 9.0, 1.0, _year_statistic(y, "sentence_length")) for y in YEARS),
        *(
            near(f"terms of a relevant one, {y}", 14.0, 1.5, _year_statistic(y, "relevant_length"))
            for y in YEARS
        ),
    )


def _check_longest(results: ExperimentResults) -> list[Line]:
    """In each context, 2S-I has the longest top of the language models without a prior."""
    lines = []
    for test in TESTS:
        for context in CONTEXTS:
            system = f"2si {context}"
            others = [name for name in _PLAIN if name.endswith(context) or " " not in name]
            all_lengths = {name: _top_length(test, name)(results) for name in others}
            lengths = {name: value for name, value in all_lengths.items() if value is not None}
            label = f"top-100 length of {system}, {test}"
            if system not in lengths:
                lines.append(Line(label, "longest", NO_DATA, None))
                continue
            own = lengths.pop(system)
            name, second = max(lengths.items(), key=lambda item: item[1])
            lines.append(Line(label, "longest", f"{own:.2f} against {second:.2f} of {name}", own > second))
    return lines


def _top_lengths(model: str, claimed: dict[str, float]) -> Check:
    return all_of(
        *(
            near(
                f"top-100 length of {model}, {test} (document or surrounding)",
                number,
                0.5,
                *(_top_length(test, name) for name in _in(model)),
            )
            for test, number in claimed.items()
        )
    )


_prior_lengths = all_of(
    *(near(f"top-100 length of {s}, {t}", 20.0, 2.0, _top_length(t, s)) for t in TESTS for s in _PRIOR)
)
_others = [name for name in _PLAIN if not name.startswith("2si")]
SOURCE = "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.15, "
_CLAIMS: tuple[tuple[str, Check], ...] = (
    (
        "relevant sentences: 2002 2 %, 2003 39.07 %, 2004 15.97 %",
        relevant_shares({"2002": 2, "2003": 39.07, "2004": 15.97}),
    ),
    ("sentences have about 9 terms, relevant ones about 14", _lengths()),
    (
        "top-100 length without p(d|s): 2S-I 13.71 and 13.66, 3MM 12.68 and 12.67, all shorter than 2S-I",
        all_of(
            _top_lengths("2si", {"2003": 13.71, "2004": 13.66}),
            _top_lengths("3mm", {"2003": 12.68, "2004": 12.67}),
            _check_longest,
        ),
    ),
    ("top-100 length with p(d|s) is about 20 for every language model", _prior_lengths),
    ("the best BM25 has b = 0", tuned_to(MAIN, "bm25", b=0.0)),
    (
        "the best BM25f has b_sent = 0 and alpha = 1 in either context: it is BM25",
        all_of(*(tuned_to(MAIN, name, b_sent=0.0, alpha=1.0) for name in _in("bm25f"))),
    ),
    (
        "the best tfmix has alpha 1 with the document, 0.6 with the surrounding sentences (worse than tfisf "
        "on 2003, equal on 2004)",
        all_of(
            tuned_to(MAIN, "tfmix document", alpha=1.0),
            tuned_to(MAIN, "tfmix surrounding", alpha=0.6),
            compared("below", MAIN, ["2003"], ["tfmix surrounding"], ["tfisf"], ["AP"]),
            compared(
                "not significantly different from", MAIN, ["2004"], ["tfmix surrounding"], ["tfisf"], ["AP"]
            ),
        ),
    ),
    (
        "without p(d|s) 2S-I is best in AP and R-Prec, significantly above tfisf and dir in both contexts; "
        "the document is slightly better than the surrounding sentences, not significantly",
        all_of(
            compared("significantly above", MAIN, TESTS, _in("2si"), _BASE),
            compared("above", MAIN, TESTS, _in("2si"), _others),
            compared("not below", MAIN, TESTS, ["2si document"], ["2si surrounding"]),
            compared("not significantly different from", MAIN, TESTS, ["2si document"], ["2si surrounding"]),
        ),
    ),
    (
        "without p(d|s) 3MM and 2S bring nothing; 3MM is below both baselines",
        all_of(
            compared("not significantly above", MAIN, TESTS, _in("2s"), _BASE),
            compared("below", MAIN, TESTS, _in("3mm"), _BASE),
        ),
    ),
    (
        "P@10 of most context models is below the baselines; 2S-I with surrounding sentences has the best "
        "of 2004",
        all_of(
            majority_of(compared("below", MAIN, TESTS, _in(*systems.WITH_CONTEXT), _BASE, ["P@10"])),
            compared("above", MAIN, ["2004"], ["2si surrounding"], ["tfisf", "bm25", *_PLAIN], ["P@10"]),
        ),
    ),
    (
        "with p(d|s) every language model improves significantly and beats tfisf and BM25 in AP and R-Prec; "
        "smoothing methods do not differ significantly; 2S-I itself hardly changes",
        all_of(
            *(compared("significantly above", MAIN, TESTS, [with_prior(name)], [name]) for name in _others),
            compared("above", MAIN, TESTS, _PRIOR, ["tfisf", "bm25"]),
            *(
                compared("not significantly different from", MAIN, TESTS, [system], _PRIOR[position + 1 :])
                for position, system in enumerate(_PRIOR)
            ),
            *(
                compared("not significantly different from", MAIN, TESTS, [with_prior(name)], [name])
                for name in _in("2si")
            ),
        ),
    ),
    (
        "the length prior brings JM and DIR significantly up, but not above 2S-I",
        all_of(
            *(compared("significantly above", MAIN, TESTS, [f"{m} + length"], [m]) for m in systems.ALONE),
            compared(
                "not significantly above", MAIN, TESTS, [f"{m} + length" for m in systems.ALONE], _in("2si")
            ),
        ),
    ),
    (
        "tfisf and tuned BM25 are about equal; idfdoc changes nothing significantly",
        compared("not significantly different from", MAIN, TESTS, ["bm25", "idfdoc"], ["tfisf"]),
    ),
)
TARGETS = tuple(
    Target(f"A{number}", claim, f"{SOURCE}{number}", check)
    for number, (claim, check) in enumerate(_CLAIMS, 1)
)
