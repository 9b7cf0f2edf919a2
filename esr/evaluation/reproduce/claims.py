"""What survives of the first paper's results (Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.15)."""

from __future__ import annotations

from esr.evaluation.reproduce import systems
from esr.evaluation.reproduce.checks import Value, against, chosen, every, most, near
from esr.evaluation.reproduce.found import Found
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


def shape(year: str, name: str, times: float = 1.0) -> Value:
    """A number of a year's data."""

    def value(found: Found) -> float | None:
        return getattr(found.shapes[year], name) * times if year in found.shapes else None

    return value


def _length(test: str, system: str) -> Value:
    def value(found: Found) -> float | None:
        tested = found.of(MAIN, test, system)
        return None if tested is None else tested.top_length

    return value


def _shares(claimed: dict[str, float]) -> Check:
    return every(
        *(
            near(
                f"relevant in {year}, % (micro or macro)",
                percent,
                0.5,
                shape(year, "relevant_micro", 100.0),
                shape(year, "relevant_macro", 100.0),
            )
            for year, percent in claimed.items()
        )
    )


def _lengths() -> Check:
    return every(
        *(near(f"terms of a sentence, {y}", 9.0, 1.0, shape(y, "sentence_length")) for y in YEARS),
        *(near(f"terms of a relevant one, {y}", 14.0, 1.5, shape(y, "relevant_length")) for y in YEARS),
    )


def _longest(found: Found) -> list[Line]:
    """In each context 2S-I has the longest best sentences of the language models without a prior."""
    lines = []
    for test in TESTS:
        for context in CONTEXTS:
            mine = f"2si {context}"
            others = [name for name in _PLAIN if name.endswith(context) or " " not in name]
            known = {name: _length(test, name)(found) for name in others}
            numbers = {name: value for name, value in known.items() if value is not None}
            what = f"top-100 length of {mine}, {test}"
            if mine not in numbers:
                lines.append(Line(what, "longest", "the data or the training are not there", None))
                continue
            own = numbers.pop(mine)
            name, second = max(numbers.items(), key=lambda item: item[1])
            lines.append(Line(what, "longest", f"{own:.2f} against {second:.2f} of {name}", own > second))
    return lines


def _top_lengths(model: str, claimed: dict[str, float]) -> Check:
    return every(
        *(
            near(
                f"top-100 length of {model}, {test} (document or surrounding)",
                number,
                0.5,
                *(_length(test, name) for name in _in(model)),
            )
            for test, number in claimed.items()
        )
    )


_prior_lengths = every(
    *(near(f"top-100 length of {s}, {t}", 20.0, 2.0, _length(t, s)) for t in TESTS for s in _PRIOR)
)
_others = [name for name in _PLAIN if not name.startswith("2si")]
SOURCE = "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.15, "
_CLAIMS: tuple[tuple[str, Check], ...] = (
    (
        "relevant sentences: 2002 2 %, 2003 39.07 %, 2004 15.97 %",
        _shares({"2002": 2, "2003": 39.07, "2004": 15.97}),
    ),
    ("sentences have about 9 terms, relevant ones about 14", _lengths()),
    (
        "top-100 length without p(d|s): 2S-I 13.71 and 13.66, 3MM 12.68 and 12.67, all shorter than 2S-I",
        every(
            _top_lengths("2si", {"2003": 13.71, "2004": 13.66}),
            _top_lengths("3mm", {"2003": 12.68, "2004": 12.67}),
            _longest,
        ),
    ),
    ("top-100 length with p(d|s) is about 20 for every language model", _prior_lengths),
    ("the best BM25 has b = 0", chosen(MAIN, "bm25", b=0.0)),
    (
        "the best BM25f has b_sent = 0 and alpha = 1 in either context: it is BM25",
        every(*(chosen(MAIN, name, b_sent=0.0, alpha=1.0) for name in _in("bm25f"))),
    ),
    (
        "the best tfmix has alpha 1 with the document, 0.6 with the surrounding sentences (worse than tfisf "
        "on 2003, equal on 2004)",
        every(
            chosen(MAIN, "tfmix document", alpha=1.0),
            chosen(MAIN, "tfmix surrounding", alpha=0.6),
            against("below", MAIN, ["2003"], ["tfmix surrounding"], ["tfisf"], ["AP"]),
            against(
                "not significantly different from", MAIN, ["2004"], ["tfmix surrounding"], ["tfisf"], ["AP"]
            ),
        ),
    ),
    (
        "without p(d|s) 2S-I is best in AP and R-Prec, significantly above tfisf and dir in both contexts; "
        "the document is slightly better than the surrounding sentences, not significantly",
        every(
            against("significantly above", MAIN, TESTS, _in("2si"), _BASE),
            against("above", MAIN, TESTS, _in("2si"), _others),
            against("not below", MAIN, TESTS, ["2si document"], ["2si surrounding"]),
            against("not significantly different from", MAIN, TESTS, ["2si document"], ["2si surrounding"]),
        ),
    ),
    (
        "without p(d|s) 3MM and 2S bring nothing; 3MM is below both baselines",
        every(
            against("not significantly above", MAIN, TESTS, _in("2s"), _BASE),
            against("below", MAIN, TESTS, _in("3mm"), _BASE),
        ),
    ),
    (
        "P@10 of most context models is below the baselines; 2S-I with surrounding sentences has the best "
        "of 2004",
        every(
            most(against("below", MAIN, TESTS, _in(*systems.WITH_CONTEXT), _BASE, ["P@10"])),
            against("above", MAIN, ["2004"], ["2si surrounding"], ["tfisf", "bm25", *_PLAIN], ["P@10"]),
        ),
    ),
    (
        "with p(d|s) every language model improves significantly and beats tfisf and BM25 in AP and R-Prec; "
        "smoothing methods do not differ significantly; 2S-I itself hardly changes",
        every(
            *(against("significantly above", MAIN, TESTS, [with_prior(name)], [name]) for name in _others),
            against("above", MAIN, TESTS, _PRIOR, ["tfisf", "bm25"]),
            *(
                against("not significantly different from", MAIN, TESTS, [one], _PRIOR[place + 1 :])
                for place, one in enumerate(_PRIOR)
            ),
            *(
                against("not significantly different from", MAIN, TESTS, [with_prior(name)], [name])
                for name in _in("2si")
            ),
        ),
    ),
    (
        "the length prior brings JM and DIR significantly up, but not above 2S-I",
        every(
            *(against("significantly above", MAIN, TESTS, [f"{m} + length"], [m]) for m in systems.ALONE),
            against(
                "not significantly above", MAIN, TESTS, [f"{m} + length" for m in systems.ALONE], _in("2si")
            ),
        ),
    ),
    (
        "tfisf and tuned BM25 are about equal; idfdoc changes nothing significantly",
        against("not significantly different from", MAIN, TESTS, ["bm25", "idfdoc"], ["tfisf"]),
    ),
)
TARGETS = tuple(
    Target(f"A{number}", claim, f"{SOURCE}{number}", check)
    for number, (claim, check) in enumerate(_CLAIMS, 1)
)
