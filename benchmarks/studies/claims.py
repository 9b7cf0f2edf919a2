"""Claims of the papers, each tested on the figures of one collection.

The papers rank the sentences of a few relevant documents per topic; here, whole collections are ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from esr.lab.report.pictures import to_svg
from esr.lab.report.precision_recall import RECALL, Curves, build_precision_recall
from esr.lab.significance import compare_systems, correct_p_values

# Figures of a comparison, by collection, ranking and source of parameters.


BASELINE = "tfisf"


class Figures:
    """Access to the cells that `esr compare` writes."""

    def __init__(self, cells: Sequence[Mapping[str, Any]]) -> None:
        self._cells: dict[tuple[str, str, str], dict[str, Any]] = {}
        for cell in cells:  # a ranking may have several cells, with different measures
            key = (cell["collection"], cell["ranking"], cell["parameters"])
            merged = self._cells.setdefault(key, {**cell, "measures": {}, "values": {}})
            merged["measures"].update(cell["measures"])
            merged["values"].update(cell["values"])

    def mean(self, collection: str, ranking: str, source: str = "tuned", measure: str = "AP") -> float:
        return float(self._cells[collection, ranking, source]["measures"][measure])

    def values(self, collection: str, ranking: str, source: str, measure: str) -> dict[str, float]:
        return dict(self._cells[collection, ranking, source]["values"][measure])

    def parameter(self, collection: str, ranking: str, name: str) -> list[float]:
        """The tuned value of a parameter in each fold."""
        return [float(setting[name]) for setting in self._cells[collection, ranking, "tuned"]["settings"]]

    def p_value(
        self, collection: str, ranking: str, other: str, source: str = "tuned", measure: str = "AP"
    ) -> float:
        """The p-value of the paired t-test, uncorrected; 1 if the rankings do not differ."""
        ours = self.values(collection, ranking, source, measure)
        theirs = self.values(collection, other, source, measure)
        p = compare_systems(ours, theirs, resamples=1).t_test
        return 1.0 if np.isnan(p) else p

    def marks(self, collection: str, rankings: Sequence[str], source: str, measure: str) -> dict[str, str]:
        """Significance marks of differences from the baseline, escaped for Markdown."""
        baseline = self.values(collection, BASELINE, source, measure)
        others = [name for name in rankings if name != BASELINE]
        tests = [
            compare_systems(self.values(collection, name, source, measure), baseline, resamples=1)
            for name in others
        ]
        marks = {name: test.mark for name, test in zip(others, correct_p_values(tests), strict=True)}
        return {name: marks.get(name, "").replace("*", "\\*") for name in rankings}


# The pictures of docs/results.md: precision at eleven points of recall, as in the third paper.


RECALL_MEASURES = tuple(f"IPrec@{recall}" for recall in RECALL)


def write_recall_pictures(figures: Figures, collection: str, names: Sequence[str], folder: Path) -> Path:
    """Draw the curves of one collection as an SVG file in the folder."""
    folder.mkdir(exist_ok=True)
    path = folder / f"recall-{collection}.svg"
    path.write_bytes(to_svg(build_precision_recall(_curves(figures, collection, names))))
    return path


def _curves(figures: Figures, collection: str, names: Sequence[str]) -> Curves:
    return {
        name: tuple(figures.mean(collection, name, measure=measure) for measure in RECALL_MEASURES)
        for name in names
    }


LEVEL = 0.05
LANGUAGE_MODELS = ("jm", "dir", "3mm document", "3mm surrounding", "2s document", "2s surrounding")


class Verdict(NamedTuple):
    """Whether a claim holds, and the figures that decide it."""

    holds: bool
    figures: str

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'does not hold'}: {self.figures}"


class Claim(NamedTuple):
    """A claim and its test on a collection.

    `source` is its place in docs/formulas.md: "A.15, 8" is line 8 of A.15. Claims beyond the papers have
    `esr`. `finding` is the id of the finding in `esr reproduce`, if a paper has it.
    """

    text: str
    source: str
    test: Callable[[Figures, str], Verdict]
    finding: str = ""

    @property
    def title(self) -> str:
        """The heading of the claim in tables."""
        return f"{self.text} ({self.source})"

    @property
    def needs_parses(self) -> bool:
        return self.source in ("C.6", "D.10") or "FDM" in self.text


def _format_means(
    figures: Figures, collection: str, *names: str, source: str = "tuned", measure: str = "AP"
) -> str:
    return ", ".join(f"{name} {figures.mean(collection, name, source, measure):.3f}" for name in names)


def _above(name: str, others: Sequence[str], source: str = "tuned") -> Callable[[Figures, str], Verdict]:
    """Test that a ranking is significantly better than each of the others."""

    def test(figures: Figures, collection: str) -> Verdict:
        value = figures.mean(collection, name, source)
        holds = all(
            value > figures.mean(collection, other, source)
            and figures.p_value(collection, name, other, source) < LEVEL
            for other in others
        )
        return Verdict(holds, _format_means(figures, collection, name, *others, source=source))

    return test


def _descending(*names: str) -> Callable[[Figures, str], Verdict]:
    """Test that each ranking is better than the next, significantly or not."""

    def test(figures: Figures, collection: str) -> Verdict:
        values = [figures.mean(collection, name) for name in names]
        return Verdict(values == sorted(values, reverse=True), _format_means(figures, collection, *names))

    return test


def _not_above(
    names: Sequence[str], others: Sequence[str], source: str = "tuned"
) -> Callable[[Figures, str], Verdict]:
    """Test that no ranking is significantly better than the best of the others."""

    def test(figures: Figures, collection: str) -> Verdict:
        best = max(others, key=lambda name: figures.mean(collection, name, source))
        better = [
            name
            for name in names
            if figures.mean(collection, name, source) > figures.mean(collection, best, source)
            and figures.p_value(collection, name, best, source) < LEVEL
        ]
        return Verdict(not better, _format_means(figures, collection, *names, best, source=source))

    return test


def _best(name: str, others: Sequence[str]) -> Callable[[Figures, str], Verdict]:
    """Test that a ranking is better than all others, significantly or not."""

    def test(figures: Figures, collection: str) -> Verdict:
        second = max(others, key=lambda other: figures.mean(collection, other))
        holds = figures.mean(collection, name) > figures.mean(collection, second)
        return Verdict(holds, _format_means(figures, collection, name, second))

    return test


def _equal(name: str, other: str) -> Callable[[Figures, str], Verdict]:
    """Test that two rankings do not differ significantly."""

    def test(figures: Figures, collection: str) -> Verdict:
        p = figures.p_value(collection, name, other)
        return Verdict(p >= LEVEL, f"{_format_means(figures, collection, name, other)} (p {p:.2g})")

    return test


def _tuned_to(ranking: str, **expected: float) -> Callable[[Figures, str], Verdict]:
    """Test that tuning selects these values in most folds."""

    def test(figures: Figures, collection: str) -> Verdict:
        tuned = {name: figures.parameter(collection, ranking, name) for name in expected}
        holds = all(tuned[name].count(value) > len(tuned[name]) / 2 for name, value in expected.items())
        text = "; ".join(f"{name} {' '.join(f'{v:g}' for v in values)}" for name, values in tuned.items())
        return Verdict(holds, text)

    return test


def _precision_below(figures: Figures, collection: str) -> Verdict:
    names = [
        f"{model} {context}" for model in ("3mm", "2s", "2si") for context in ("document", "surrounding")
    ]
    best = max(("tfisf", "dir"), key=lambda name: figures.mean(collection, name, measure="P@10"))
    limit = figures.mean(collection, best, measure="P@10")
    below = [name for name in names if figures.mean(collection, name, measure="P@10") < limit]
    text = f"{len(below)} of {len(names)} below {best} {limit:.3f}"
    return Verdict(len(below) > len(names) / 2, text)


def _above_at_every_recall(name: str, others: Sequence[str]) -> Callable[[Figures, str], Verdict]:
    """Test that a ranking is more precise than the others at each of the eleven points of recall."""

    def test(figures: Figures, collection: str) -> Verdict:
        above = [
            all(
                figures.mean(collection, name, measure=measure)
                > figures.mean(collection, other, measure=measure)
                for other in others
            )
            for measure in RECALL_MEASURES
        ]
        return Verdict(all(above), f"{name} above {', '.join(others)} at {sum(above)} of {len(above)} points")

    return test


def _estimated_near_tuned(figures: Figures, collection: str) -> Verdict:
    tuned = figures.mean(collection, "2si both")
    estimated = figures.mean(collection, "2si both", "estimated")
    return Verdict(estimated >= 0.98 * tuned, f"{estimated / tuned - 1:+.1%} ({estimated:.4f}, {tuned:.4f})")


CLAIMS = (
    Claim(
        "2S-I with the document is the best of the language models with at most one context",
        "A.15, 8",
        _best("2si document", LANGUAGE_MODELS),
        "FLA-F1",
    ),
    Claim(
        "2S-I with the document is significantly above tfisf and Dirichlet",
        "A.15, 8",
        _above("2si document", ("tfisf", "dir")),
        "FLA-F2",
    ),
    Claim(
        "2S-I with the surrounding sentences is significantly above tfisf and Dirichlet",
        "A.15, 8",
        _above("2si surrounding", ("tfisf", "dir")),
        "FLA-F2",
    ),
    Claim(
        "2S-I: the document is as good a context as the surrounding sentences",
        "A.15, 8",
        _equal("2si document", "2si surrounding"),
        "FLA-F3",
    ),
    Claim(
        "3MM and 2S bring no improvement over tfisf and Dirichlet",
        "A.15, 9",
        _not_above(("3mm document", "3mm surrounding", "2s document", "2s surrounding"), ("tfisf", "dir")),
        "FLA-F4",
    ),
    Claim(
        "P@10 of most context models is below the better of tfisf and Dirichlet",
        "A.15, 10",
        _precision_below,
        "FLA-F5",
    ),
    Claim("tfisf is as good as tuned BM25", "A.15, 13", _equal("tfisf", "bm25"), "FLA-F11"),
    Claim("The best BM25 has b = 0", "A.15, 5", _tuned_to("bm25", b=0.0), "FLA-F12"),
    Claim(
        "The best BM25f ignores the document: alpha = 1, b_sent = 0",
        "A.15, 6",
        _tuned_to("bm25f document", alpha=1.0, b_sent=0.0),
        "FLA-F13",
    ),
    Claim(
        "The best tfmix ignores the document: alpha = 1",
        "A.15, 7",
        _tuned_to("tfmix document", alpha=1.0),
        "FLA-F14",
    ),
    Claim(
        "The best tfmix with the surrounding sentences has alpha = 0.6",
        "A.15, 7",
        _tuned_to("tfmix surrounding", alpha=0.6),
        "FLA-F14",
    ),
    Claim(
        "p(d|s) improves Dirichlet significantly (default parameters)",
        "A.15, 11",
        _above("dir + importance", ("dir",), "default"),
        "FLA-F8",
    ),
    Claim(
        "p(d|s) improves 2S significantly (default parameters)",
        "A.15, 11",
        _above("2s document + importance", ("2s document",), "default"),
        "FLA-F8",
    ),
    Claim(
        "The length prior improves JM significantly (default parameters)",
        "A.15, 12",
        _above("jm + length", ("jm",), "default"),
        "FLA-F20",
    ),
    Claim(
        "The length prior improves Dirichlet significantly (default parameters)",
        "A.15, 12",
        _above("dir + length", ("dir",), "default"),
        "FLA-F20",
    ),
    Claim(
        "BM25f with the document does not differ from BM25",
        "A.15, 13",
        _equal("bm25f document", "bm25"),
        "FLA-F15",
    ),
    Claim(
        "tfmix with the document does not differ from tfisf",
        "A.15, 13",
        _equal("tfmix document", "tfisf"),
        "FLA-F15",
    ),
    Claim(
        "With p(d|s), 2S is significantly above tfisf (default parameters)",
        "A.15, 11",
        _above("2s document + importance", ("tfisf",), "default"),
        "FLA-F9",
    ),
    Claim(
        "With the length prior, JM and Dirichlet are not above 2S-I (default parameters)",
        "A.15, 12",
        _not_above(("jm + length", "dir + length"), ("2si document",), "default"),
        "FLA-F21",
    ),
    Claim(
        "2S-I with both contexts is significantly above JM and Dirichlet",
        "A.15, 8",
        _above("2si both", ("jm", "dir")),
        "FLA-F22",
    ),
    Claim(
        "tfisf is at least as good as tuned BM25 and KLD",
        "B.11",
        _not_above(("bm25", "kld"), ("tfisf",)),
        "FL-F1",
    ),
    Claim("TDSR is above tfisf, BM25 and KLD", "C.6", _above("tdsr", ("tfisf", "bm25", "kld")), "TDSR-F1"),
    Claim(
        "TDSR, ties by tfisf, is above them too",
        "C.6",
        _above("tdsr, ties by tfisf", ("tfisf", "bm25", "kld")),
        "TDSR-F1",
    ),
    Claim(
        "TDSR, ties by tfisf, is above them at every point of recall",
        "C.6",
        _above_at_every_recall("tdsr, ties by tfisf", ("tfisf", "bm25", "kld")),
        "TDSR-F3",
    ),
    Claim("tfisf is above KLD, and KLD above BM25", "C.6", _descending("tfisf", "kld", "bm25"), "TDSR-F2"),
    Claim(
        "SDM is above tfisf, KLD and FIDM",
        "D.10",
        _above("mrf_sdm", ("tfisf", "kld", "mrf_fidm")),
        "MRF-F1 MRF-F2",
    ),
    Claim(
        "FDM is above tfisf, KLD and FIDM",
        "D.10",
        _above("mrf_fdm", ("tfisf", "kld", "mrf_fidm")),
        "MRF-F1 MRF-F2",
    ),
    Claim(
        "With f_I tfisf, SDM is above tfisf, KLD and FIDM",
        "D.10",
        _above("mrf_sdm, f_I tfisf", ("tfisf", "kld", "mrf_fidm, f_I tfisf")),
        "MRF-F1 MRF-F2",
    ),
    Claim(
        "With f_I tfisf, FDM is above tfisf, KLD and FIDM",
        "D.10",
        _above("mrf_fdm, f_I tfisf", ("tfisf", "kld", "mrf_fidm, f_I tfisf")),
        "MRF-F1 MRF-F2",
    ),
    Claim(
        "Beyond the papers: FDM's potentials improve 2S-I with both contexts (default parameters)",
        "esr",
        _above("2si both, mrf_fdm", ("2si both",), "default"),
    ),
    Claim(
        "Beyond the paper: both contexts together beat either for 2S-I",
        "esr",
        _above("2si both", ("2si document", "2si surrounding")),
    ),
    Claim(
        "Beyond the paper: estimated parameters lose less than 2 % of the tuned AP",
        "esr",
        _estimated_near_tuned,
    ),
)
