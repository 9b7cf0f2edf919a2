"""The targets from Fernández & Losada 2012 (docs/formulas.md, B.10 and B.11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from esr.lab.reproduce.annotations import NAMES, OPINIONS
from esr.lab.reproduce.checks import (
    BOTH_WAYS,
    NO_DATA,
    NO_TABLE,
    Selection,
    Value,
    all_of,
    any_of,
    at,
    compared,
    curve_mean,
    curve_size,
    extreme,
    feature_mean,
    figure,
    from_to,
    gain,
    has_curves,
    has_rows,
    majority_of,
    near,
    ordered,
    probability,
    reported,
    satisfies,
    sign_changes,
)
from esr.lab.reproduce.claims_context import relevant_shares
from esr.lab.reproduce.experiment_results import ExperimentResults
from esr.lab.reproduce.systems import BOTH_YEARS, SUBJECTIVE, name_with_feature
from esr.lab.reproduce.targets import REPORTED, Check, Line, Target

MEASURES = ("P@10", "AP")
TRAINING = "2003"
"""The training year of the paper's figures."""
KINDS = ("event", "opinion")
WEIGHTED = ("linear", "log", "step")
_PRESENT = from_to(1)
_COUNTS = ("neg", "pos", "opt")
_LENGTH_FORMS = ("floe", "linear", "log")
COMBINED = [name_with_feature(form, "len", SUBJECTIVE) for form in _LENGTH_FORMS]


def _systems(features: Iterable[str], forms: Iterable[str]) -> list[str]:
    forms = tuple(forms)
    return [name_with_feature(form, feature) for feature in features for form in forms]


def _compared(relation: str, systems: Iterable[str], others: Iterable[str], *measures: str) -> Check:
    """Compare in P@10 and AP, or these measures, in both directions of training."""
    return compared(relation, systems, others, measures or MEASURES, BOTH_WAYS)


def _gains_within(systems: Iterable[str], low: float, high: float) -> Check:
    """Check the smallest and the largest gain over tfisf, in per cent, within one point."""
    gains = [value for s in systems for m in MEASURES for value in gain(s, "tfisf", m, pairs=BOTH_WAYS)]
    return all_of(
        near("least gain, %", low, 1.0, extreme(min, gains), digits=1),
        near("greatest gain, %", high, 1.0, extreme(max, gains), digits=1),
    )


def _positive(label: str, year: str, feature: str, name: str, where: Selection) -> Check:
    value = curve_mean(year, feature, name, where)
    return satisfies(f"{label}, {year}", "above 0", value, lambda number: number > 0)


def _negative(label: str, year: str, feature: str, name: str, where: Selection) -> Check:
    value = curve_mean(year, feature, name, where)
    return satisfies(f"{label}, {year}", "below 0", value, lambda number: number < 0)


def _rewards(name: str, features: Iterable[str], years: Iterable[str]) -> Check:
    """Check that a curve is positive for sentences with a feature, and negative for those without."""
    features = tuple(features)
    return all_of(
        check(f"mean {name}({feature}) where it is {amount}", year, feature, name, where)
        for year in years
        for feature in features
        for check, amount, where in ((_positive, "1 or more", _PRESENT), (_negative, "0", at(0)))
    )


def _check_same_order(results: ExperimentResults) -> list[Line]:
    """Check that the opinion features have the same order by AP in all forms."""
    lines = []
    for train, test in BOTH_WAYS:
        orders = {}
        for form in ("floe", *WEIGHTED):
            values = {f: figure(train, test, name_with_feature(form, f), "AP")(results) for f in OPINIONS}
            known = {f: value for f, value in values.items() if value is not None}
            if len(known) == len(OPINIONS):
                orders[form] = " > ".join(sorted(known, key=lambda f: (-known[f], f)))
        for form in WEIGHTED:
            label = f"order of opinion features, {form}, {train} to {test}"
            if form in orders and "floe" in orders:
                lines.append(Line(label, orders["floe"], orders[form], orders[form] == orders["floe"]))
            else:
                lines.append(Line(label, "that of floe", NO_DATA, None))
    return lines


def _check_best_name(results: ExperimentResults) -> list[Line]:
    """Check that one feature of names is the best by AP in each form with a weight."""
    lines = []
    for train, test in BOTH_WAYS:
        best = {}
        for form in WEIGHTED:
            values = {f: figure(train, test, name_with_feature(form, f), "AP")(results) for f in NAMES}
            known = {f: value for f, value in values.items() if value is not None}
            if known:
                best[form] = max(known, key=lambda f: known[f])
        label = f"best feature of names by AP, {train} to {test}"
        text = ", ".join(f"{form} {feature}" for form, feature in best.items()) or NO_DATA
        holds = len(set(best.values())) == 1 if len(best) == len(WEIGHTED) else None
        lines.append(Line(label, "the same in all forms", text, holds))
    return lines


def _check_promotion(results: ExperimentResults) -> list[Line]:
    """Check that linear(subj) moves subjective sentences up and objective ones down within topics."""
    lines = []
    for pair in BOTH_WAYS:
        promotions = results.promotions.get(pair)
        for name in ("subjective", "objective"):
            way = "up" if name == "subjective" else "down"
            label = f"topics whose {name} sentences move {way}, {' to '.join(pair)}"
            if not promotions:
                lines.append(Line(label, "most", NO_DATA, None))
                continue
            moved = [getattr(p, name)[0] - getattr(p, name)[1] for p in promotions]
            number = sum(m > 0 if name == "subjective" else m < 0 for m in moved)
            lines.append(Line(label, "most", f"{number} of {len(moved)}", 2 * number > len(moved)))
    return [*lines, *_check_reward(results)]


def _check_reward(results: ExperimentResults) -> list[Line]:
    """Check that linear(subj) brings the example sentence to rank 2."""
    lines = [
        Line(
            f"ranks of {example.sentence} ({example.topic}), tfisf and {SUBJECTIVE} of {example.train}",
            "below rank 2, and 2",
            f"{example.ranks['tfisf'] or 'none'}, and {example.ranks[SUBJECTIVE] or 'none'}",
            example.ranks[SUBJECTIVE] == 2 and example.ranks["tfisf"] != 1,
        )
        for example in results.examples.get("reward", ())
    ]
    return lines or [Line("the sentence about a reward of $ 100,000", "found", NO_DATA, None)]


def _report_promotions(results: ExperimentResults) -> list[Line]:
    """Report the mean ranks of the topics that the paper names."""
    topics = ("N2", "N45")
    lines = []
    for topic in topics:
        promoted = [p for promotions in results.promotions.values() for p in promotions if p.topic == topic]
        text = "; ".join(
            f"subjective {p.subjective[0]:.1f} to {p.subjective[1]:.1f}, objective {p.objective[0]:.1f} to "
            f"{p.objective[1]:.1f}"
            for p in promoted
        )
        label = f"mean ranks in {topic}, tfisf to {SUBJECTIVE}"
        lines.append(Line(label, REPORTED, text or NO_DATA, True if promoted else None))
    return lines


def _check_kinds(results: ExperimentResults) -> list[Line]:
    lines = []
    for topic in ("N2", "N45"):
        kind = results.kinds.get(topic)
        lines.append(
            Line(f"type of {topic}", "event", kind or NO_DATA, None if kind is None else kind == "event")
        )
    for year in BOTH_YEARS:
        statistics = results.statistics.get(year)
        kinds = {} if statistics is None else statistics.kinds
        text = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        holds = set(kinds) == set(KINDS) if kinds else None
        lines.append(Line(f"topics by type, {year}", "events and opinions", text or NO_DATA, holds))
    return lines


def _check_named_titles(results: ExperimentResults) -> list[Line]:
    lines = []
    for year in BOTH_YEARS:
        statistics = results.statistics.get(year)
        named = None if statistics is None else statistics.named_titles
        label = f"titles with a name, {year}"
        if statistics is None or named is None:
            lines.append(Line(label, "a high number", NO_DATA, None))
        else:
            lines.append(
                Line(label, "a high number", f"{named} of {statistics.topics}", 2 * named > statistics.topics)
            )
    return lines


def _by_kind(build: Callable[[str], Check]) -> Check:
    return all_of(build(kind) for kind in KINDS)


def _post_combination() -> Iterator[Check]:
    for year in BOTH_YEARS:
        for feature in _COUNTS:
            after = curve_size(year, feature, "floe", SUBJECTIVE)
            label = f"mean distance of floe({feature}) from 0 over {SUBJECTIVE}, {year}"
            yield satisfies(label, "below 0.1", after, lambda number: number < 0.1)


def _dependence(year: str) -> Value:
    """The mean distance of log p(I|T)/p(I) from 0, which is that of indep less floe."""

    def value(results: ExperimentResults) -> float | None:
        estimates = results.curves.get((year, "tfisf", "subj"))
        if estimates is None:
            return None
        return float(sum(abs(estimates.indep - estimates.floe) * estimates.everywhere))

    return value


def _difference(results: ExperimentResults, name: str, other: str) -> float | None:
    ours, theirs = (curve_size(TRAINING, "len", system)(results) for system in (name, other))
    return None if ours is None or theirs is None else ours - theirs


_TOOLS = "the tools are those that made the folder's annotations, or esr's"
TARGETS = (
    Target(
        "FL-D1",
        "relevant sentences: 2003 38 %, 2004 19 %, 2002 2 %",
        relevant_shares({"2003": 38.0, "2004": 19.0, "2002": 2.0}),
        "other than in the first paper: pooled or averaged over topics, either may be meant",
    ),
    Target(
        "FL-D2",
        "topics are events or opinions; N2 and N45 are events",
        _check_kinds,
        "from the topics' <toptype>",
    ),
    Target(
        "FL-D3",
        "Table 9: many queries have a named entity",
        _check_named_titles,
        f"many: more than half; {_TOOLS}",
    ),
    Target(
        "FL-E1",
        "Table 1: tfisf, BM25 and KLD",
        has_rows(("tfisf", "bm25", "kld"), BOTH_WAYS),
        "BM25 has the grid of the first paper",
    ),
    Target("FL-E2", "Figures 1-3: curves of opinion features", has_curves(OPINIONS, [TRAINING]), _TOOLS),
    Target(
        "FL-E3",
        "Table 2 and Figure 10: FLOE of opinion features",
        has_rows(_systems(OPINIONS, ["floe"]), BOTH_WAYS),
        NO_TABLE,
    ),
    Target(
        "FL-E4",
        "Table 3 and Figure 11: linear, log and step of opinion features",
        has_rows(_systems(OPINIONS, WEIGHTED), BOTH_WAYS),
        f"{NO_TABLE}; the grid of w is esr's",
    ),
    Target(
        "FL-E5",
        "Figure 12: curves of F_neg, F_pos and F_opt over tfisf + linear(F_subj)",
        has_curves(_COUNTS, [TRAINING], SUBJECTIVE),
        "T is of the same topics that w is tuned on",
    ),
    Target(
        "FL-E6",
        "Table 4 and Figure 13: linear(F_subj) on events and on opinions",
        reported(
            _by_kind(lambda kind: compared("above", [SUBJECTIVE], ["tfisf"], MEASURES, BOTH_WAYS, kind))
        ),
        NO_TABLE,
    ),
    Target(
        "FL-E7",
        "Tables 5 and 6: ranks of an event topic's sentences",
        _report_promotions,
        "mean ranks; the paper prints the sentences of one topic, N2 or N45",
    ),
    Target("FL-E8", "Figures 4-6: curves of name features", has_curves(NAMES, BOTH_YEARS), _TOOLS),
    Target(
        "FL-E9",
        "Table 7 and Figure 14: FLOE of name features",
        has_rows(_systems(NAMES, ["floe"]), BOTH_WAYS),
        NO_TABLE,
    ),
    Target(
        "FL-E10",
        "Table 8 and Figure 15: linear, log and step of name features",
        has_rows(_systems(NAMES, WEIGHTED), BOTH_WAYS),
        f"{NO_TABLE}; the grid of w is esr's",
    ),
    Target("FL-E11", "Figures 7-9: curves of the length", has_curves(["len"], [TRAINING])),
    Target(
        "FL-E12",
        "Table 10 and Figure 16: FLOE, linear and log of the length",
        has_rows(_systems(["len"], _LENGTH_FORMS), BOTH_WAYS),
        NO_TABLE,
    ),
    Target(
        "FL-E13",
        "Table 11 and Figure 17: linear(F_subj) with the length, against tfisf",
        has_rows(COMBINED, BOTH_WAYS),
        NO_TABLE,
    ),
    Target(
        "FL-E14",
        "Table 12 and Figure 18: the same against linear(F_subj)",
        reported(_compared("above", COMBINED, [SUBJECTIVE])),
        NO_TABLE,
    ),
    Target(
        "FL-E15",
        "Appendix, three tables and a figure: the same on events and on opinions",
        reported(_by_kind(lambda kind: compared("above", COMBINED, ["tfisf"], MEASURES, BOTH_WAYS, kind))),
        NO_TABLE,
    ),
    Target(
        "FL-F1",
        "tfisf is at least as good as tuned BM25 and KLD",
        _compared("not significantly below", ["tfisf"], ["bm25", "kld"]),
    ),
    Target(
        "FL-F2",
        "FLOE(F_subj) gains significantly in P@10 and AP",
        _compared("significantly above", [name_with_feature("floe", "subj")], ["tfisf"]),
        "which feature is meant follows by elimination",
    ),
    Target(
        "FL-F3",
        "FLOE(F_neg) and FLOE(F_opt) gain in both measures, significantly only in AP on 2004",
        all_of(
            _compared("above", _systems(["neg", "opt"], ["floe"]), ["tfisf"]),
            compared(
                "significantly above", _systems(["neg", "opt"], ["floe"]), ["tfisf"], ["AP"], BOTH_WAYS[:1]
            ),
            compared(
                "not significantly above",
                _systems(["neg", "opt"], ["floe"]),
                ["tfisf"],
                ["AP"],
                BOTH_WAYS[1:],
            ),
            _compared("not significantly above", _systems(["neg", "opt"], ["floe"]), ["tfisf"], "P@10"),
        ),
        "which features are meant follows by elimination",
    ),
    Target(
        "FL-F4",
        "FLOE(F_pos) brings no significant gain",
        _compared("not significantly above", [name_with_feature("floe", "pos")], ["tfisf"]),
    ),
    Target(
        "FL-F5",
        "linear(F_subj) is the strongest model of opinion: +9 % to +26 %",
        all_of(
            _compared("significantly above", [SUBJECTIVE], ["tfisf"]),
            _compared("not below", [SUBJECTIVE], _systems(OPINIONS[1:], ("floe", *WEIGHTED))),
            _gains_within([SUBJECTIVE], 9, 26),
        ),
        "which ends of the range belong to which measure and year is lost: the least and greatest gain are "
        "compared, within one point",
    ),
    Target(
        "FL-F6",
        "linear, log and step are equivalent for F_subj; features keep their order in all forms",
        all_of(
            _compared("not significantly different from", _systems(["subj"], ("log", "step")), [SUBJECTIVE]),
            _check_same_order,
        ),
        "the order is that by AP under FLOE",
    ),
    Target(
        "FL-F7",
        "tfisf retrieves too few subjective sentences; F_subj and tfisf are not independent",
        all_of(
            *(
                ordered(
                    f"share of subjective sentences, {year}",
                    ("p(1|R)", probability(year, "subj", "relevant", at(1))),
                    ("p(1|T)", probability(year, "subj", "top", at(1))),
                )
                for year in BOTH_YEARS
            ),
            *(
                satisfies(
                    f"mean distance of log p(I|T)/p(I) from 0, {year}",
                    "above 0.01",
                    _dependence(year),
                    lambda number: number > 0.01,
                )
                for year in BOTH_YEARS
            ),
        ),
        f"the bound of dependence is esr's; {_TOOLS}",
    ),
    Target(
        "FL-F8",
        "F_pos hardly tells relevant sentences from others, so its FLOE is erratic",
        all_of(
            *(
                ordered(
                    f"mean distance of indep from 0, {TRAINING}",
                    (other, curve_size(TRAINING, other, "indep")),
                    ("pos", curve_size(TRAINING, "pos", "indep")),
                )
                for other in ("subj", "neg", "opt")
            ),
            satisfies(
                "changes of sign of floe(pos), 2003",
                "2 or more",
                sign_changes(TRAINING, "pos", "floe"),
                lambda n: n >= 2,
                digits=0,
            ),
        ),
        "erratic is read as two changes of sign or more",
    ),
    Target(
        "FL-F9",
        "indep rewards opinionated sentences for all four features; so does FLOE except for F_pos",
        all_of(_rewards("indep", OPINIONS, [TRAINING]), _rewards("floe", ("subj", "neg", "opt"), [TRAINING])),
        "means over the sentences with the feature, as single values have few sentences",
    ),
    Target(
        "FL-F10",
        "after linear(F_subj), the other opinion features have nothing left to add",
        all_of(*_post_combination()),
        "flat near 0 is read as a mean distance below 0.1",
    ),
    Target(
        "FL-F11",
        "the gain of linear(F_subj) holds for events and opinions alike",
        _by_kind(lambda kind: compared("above", [SUBJECTIVE], ["tfisf"], MEASURES, BOTH_WAYS, kind)),
    ),
    Target(
        "FL-F12",
        "linear(F_subj) promotes subjective sentences and demotes objective ones within a topic",
        _check_promotion,
        "all topics are counted; the rank under tfisf of the paper's sentence at rank 2 is lost",
    ),
    Target(
        "FL-F13",
        "name features: p(I=0) is highest overall, lower in R, lowest in T",
        all_of(
            ordered(
                f"sentences without {feature}, {year}",
                ("p(0)", probability(year, feature, "everywhere", at(0))),
                ("p(0|R)", probability(year, feature, "relevant", at(0))),
                ("p(0|T)", probability(year, feature, "top", at(0))),
            )
            for year in BOTH_YEARS
            for feature in NAMES
        ),
        _TOOLS,
    ),
    Target(
        "FL-F14",
        "indep(F_pers) is positive from 1 to 4 persons; indep of the others from one name on",
        all_of(
            *(_positive(f"indep(pers) at {n}", TRAINING, "pers", "indep", at(n)) for n in range(1, 5)),
            _negative("indep(pers) at 0", TRAINING, "pers", "indep", at(0)),
            _rewards("indep", ("loc", "org", "ne"), [TRAINING]),
        ),
        "of the others, the mean over the sentences with a name",
    ),
    Target(
        "FL-F15",
        "FLOE of names has the opposite sign of indep, except F_org from 5 on and one more",
        all_of(
            *(
                _negative(f"mean floe({f}) where it is 1 or more", TRAINING, f, "floe", _PRESENT)
                for f in NAMES
            ),
            *(_positive(f"floe({f}) at 0", TRAINING, f, "floe", at(0)) for f in NAMES),
            _positive("mean floe(org) from 5 on", TRAINING, "org", "floe", from_to(5)),
        ),
        "the feature of the second exception is lost",
    ),
    Target(
        "FL-F16",
        "names do not improve P@10; one feature is best in AP in every form, mostly not significantly",
        all_of(
            majority_of(
                _compared("not significantly above", _systems(NAMES, ("floe", *WEIGHTED)), ["tfisf"], "P@10")
            ),
            _check_best_name,
            majority_of(_compared("not significantly above", _systems(NAMES, WEIGHTED), ["tfisf"], "AP")),
        ),
        "which feature is best is lost",
    ),
    Target(
        "FL-F17",
        "the reason: many queries contain names, so matching covers them already",
        _check_named_titles,
        "the number of queries is judged; that it is the reason, nothing can judge",
    ),
    Target(
        "FL-F18",
        "indep(F_len) is positive from 9 terms on; FLOE(F_len) below 15, negative above, mostly near 0",
        all_of(
            _negative("mean indep(len) to 8 terms", TRAINING, "len", "indep", from_to(1, 8)),
            _positive("indep(len) at 9 terms", TRAINING, "len", "indep", at(9)),
            _positive("mean indep(len) from 9 terms on", TRAINING, "len", "indep", from_to(9)),
            _positive("mean floe(len) to 14 terms", TRAINING, "len", "floe", from_to(1, 14)),
            _negative("mean floe(len) from 16 terms on", TRAINING, "len", "floe", from_to(16)),
            satisfies(
                f"mean distance of floe(len) from 0, {TRAINING}",
                "below that of indep",
                lambda results: _difference(results, "floe", "indep"),
                lambda number: number < 0,
            ),
        ),
        "lengths are without Snowball's stop words; near 0 is read as nearer than indep",
    ),
    Target(
        "FL-F19",
        "FLOE(F_len) does not beat tfisf; linear or log do, mostly in AP",
        all_of(
            _compared("not significantly above", [name_with_feature("floe", "len")], ["tfisf"]),
            *(
                any_of(
                    f"linear(len) or log(len) significantly above tfisf in AP, {train} to {test}",
                    *(
                        compared(
                            "significantly above",
                            [name_with_feature(form, "len")],
                            ["tfisf"],
                            ["AP"],
                            [(train, test)],
                        )
                        for form in ("linear", "log")
                    ),
                )
                for train, test in BOTH_WAYS
            ),
        ),
    ),
    Target(
        "FL-F20",
        "linear(F_subj) with F_len on top is significantly above tfisf in all forms: +11 % to +29 %",
        all_of(_compared("significantly above", COMBINED, ["tfisf"]), _gains_within(COMBINED, 11, 29)),
        "as in FL-F5, of all three forms",
    ),
    Target(
        "FL-F21",
        "over linear(F_subj), the length helps AP and not P@10",
        all_of(
            _compared("above", COMBINED[1:], [SUBJECTIVE], "AP"),
            _compared("not significantly above", COMBINED, [SUBJECTIVE], "P@10"),
        ),
        "linear and log; the gain of AP is not said to be significant",
    ),
    Target(
        "FL-F22",
        "the combination behaves alike on events and opinions, overall significantly",
        _by_kind(
            lambda kind: all_of(
                compared("above", COMBINED, ["tfisf"], MEASURES, BOTH_WAYS, kind),
                majority_of(compared("significantly above", COMBINED, ["tfisf"], MEASURES, BOTH_WAYS, kind)),
            )
        ),
    ),
    # Targets missing from the list of experiments and findings
    Target(
        "FL-F23",
        "far fewer sentences have more than four opinionated terms than one or two",
        ordered(
            f"share of sentences, {TRAINING}",
            ("1 or 2 opinionated terms", probability(TRAINING, "opt", "everywhere", from_to(1, 2))),
            ("more than 4", probability(TRAINING, "opt", "everywhere", from_to(5))),
        ),
        _TOOLS,
    ),
    Target(
        "FL-F24",
        "few sentences are longer than 30 terms",
        satisfies(
            f"share of sentences longer than 30 terms, {TRAINING}",
            "below 0.05",
            probability(TRAINING, "len", "everywhere", from_to(31)),
            lambda number: number < 0.05,
        ),
        "few is read as 5 %",
    ),
    Target(
        "FL-F25",
        "relevant sentences are longer than sentences on average, and those that tfisf retrieves are too",
        all_of(
            ordered(
                f"mean length, {year}",
                (subject, feature_mean(year, "len", name)),
                ("all", feature_mean(year, "len", "everywhere")),
                digits=2,
            )
            for year in BOTH_YEARS
            for name, subject in (("relevant", "relevant"), ("top", "retrieved"))
        ),
        "the end of the sentence about the retrieved ones is cut off; it follows from FLOE",
    ),
    Target(
        "FL-F26",
        "most models of opinion and length are significantly above tfisf (conclusion)",
        majority_of(
            _compared(
                "significantly above",
                [*_systems(OPINIONS, ("floe", *WEIGHTED)), *_systems(["len"], _LENGTH_FORMS), *COMBINED],
                ["tfisf"],
            )
        ),
        "the paper says it of most models, names included, of which it says the opposite",
    ),
    Target(
        "FL-F27",
        "learning to rank from these and other features is promising",
        None,
        "an outlook; `esr learn` does it (docs/learning.md)",
    ),
)
