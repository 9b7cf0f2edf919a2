"""An independent scorer: the formulas in plain Python, with nothing of esr in it.

It is slow and looks at every sentence in turn. The functions name the formulas that they compute, of
docs/formulas.md, A.1-A.12, B.2. What the formulas leave open:

- A sentence without any term is no candidate, unless there is nothing to rank by.
- A title's terms count in its document's context and in df, not in cf, sf, N or the average sentence.
- A query term is seen if a sentence or a title holds it. In titles only, its cf is taken as 1.
- `both` gives the document the share that a lone context has, and the surrounding `nu` beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf, isfinite, log
from typing import Any, NamedTuple

Terms = list[str]
DEFAULTS: dict[str, dict[str, Any]] = {
    "tfisf": {"idf": "sentence"},
    "tfmix": {"idf": "sentence", "alpha": 0.6, "nu": 0.2},
    "bm25": {"k1": 1.2, "b": 0.75, "k3": 0.0},
    "bm25f": {
        "k1": 1.2,
        "b_sent": 0.0,
        "b_context": 0.75,
        "k3": 0.0,
        "alpha": 0.6,
        "nu": 0.2,
        "avcl": "documents",
    },
    "jm": {"lambda": 0.5, "background": "occurrences"},
    "dir": {"mu": 30.0, "background": "occurrences"},
    "kld": {"mu": 30.0, "background": "occurrences"},
    "3mm": {"lambda": 0.5, "gamma": 0.25, "nu": 0.2, "form": "flat", "background": "occurrences"},
    "2s": {"lambda": 0.25, "mu": 30.0, "nu": 0.2, "background": "occurrences"},
    "2si": {"lambda": 0.25, "mu": 30.0, "nu": 0.2, "background": "occurrences"},
}
CONTEXTS = {
    name: ("both", "document", "surrounding") if "nu" in values else () for name, values in DEFAULTS.items()
}
DEFAULT_CONTEXT = {"2si": "both", **dict.fromkeys(("tfmix", "bm25f", "3mm", "2s"), "document")}


class Text(NamedTuple):
    """A document: its sentences' terms and its title's."""

    sentences: list[Terms]
    title: Sequence[str] = ()


class Place(NamedTuple):
    """A sentence with what its evidence comes from."""

    s: Terms
    surrounding: Terms
    d: Terms


class Reference:
    """A collection that can be ranked for a query."""

    def __init__(self, texts: list[Text], *, titles: bool = True) -> None:
        self.texts = [Text(t.sentences, t.title if titles else ()) for t in texts]
        self.wholes = [[w for s in t.sentences for w in s] + list(t.title) for t in self.texts]
        self.places = [
            Place(s, [w for near in t.sentences[max(n - 1, 0) : n + 2] for w in near], whole)
            for t, whole in zip(self.texts, self.wholes, strict=True)
            for n, s in enumerate(t.sentences)
        ]
        self.n, self.n_documents = len(self.places), len(self.texts)
        self.cf = Counter(w for place in self.places for w in place.s)
        self.sf = Counter(w for place in self.places for w in set(place.s))
        self.df = Counter(w for whole in self.wholes for w in set(whole))
        self.tokens = sum(self.cf.values())
        self.avsl = self.tokens / self.n if self.n else 0.0

    def rank(
        self,
        query: Terms,
        model: str,
        context: str | None = None,
        params: dict[str, Any] | None = None,
        priors: dict[str, float] | None = None,
        candidates: str | None = None,
    ) -> list[tuple[int, float]]:
        """(number of the sentence in the collection, score), best first, ties in collection order."""
        context = context or DEFAULT_CONTEXT.get(model)
        p = DEFAULTS[model] | (params or {})
        counts = {t: n for t, n in Counter(query).items() if self.df[t]}
        rule = candidates or ("context" if CONTEXTS[model] else "matching")
        found = []
        for number, place in enumerate(self.places):
            if not place.s:
                continue  # words decide on candidates, and a sentence without a term is none
            if not self._chosen(rule, context, place, counts):
                continue
            score = self.score(place, counts, len(query), model, context, p)
            score += sum(weight * self.prior(name, place) for name, weight in (priors or {}).items())
            if isfinite(score):
                found.append((number, score))
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    def _chosen(self, rule: str, context: str | None, place: Place, counts: dict[str, int]) -> bool:
        field = place.s
        if rule == "context":
            field = place.surrounding if context == "surrounding" else place.d
        return rule == "all" or any(t in field for t in counts)

    def score(
        self,
        place: Place,
        counts: dict[str, int],
        query_length: int,
        model: str,
        context: str | None,
        p: dict[str, Any],
    ) -> float:
        if model in ("tfisf", "tfmix"):
            return sum(log(c + 1) * self._tf(model, t, place, context, p) for t, c in counts.items())
        if model in ("bm25", "bm25f"):
            return sum(
                (p["k3"] + 1) * c / (p["k3"] + c) * self._bm25(model, t, place, context, p)
                for t, c in counts.items()
            )
        total = sum(c * log(self._likelihood(model, t, place, context, p)) for t, c in counts.items())
        return total / query_length if model == "kld" else total

    def _tf(self, model: str, t: str, place: Place, context: str | None, p: dict[str, Any]) -> float:
        """docs/formulas.md, A.10, A.12"""
        if p["idf"] == "sentence":
            idf = log((self.n + 1) / (0.5 + self.sf[t]))
        else:
            size = self.n_documents if p["idf"] == "document" else self.n
            idf = log((size + 1) / (0.5 + self.df[t]))
        tf: float = place.s.count(t)
        if model == "tfmix":
            a = p["alpha"]
            if context == "both":
                around, whole = p["nu"] * place.surrounding.count(t), place.d.count(t)
                tf = a * tf + around + (1 - a - p["nu"]) * whole
            else:
                tf = a * tf + (1 - a) * (place.d if context == "document" else place.surrounding).count(t)
        return log(tf + 1) * idf

    def _bm25(self, model: str, t: str, place: Place, context: str | None, p: dict[str, Any]) -> float:
        """docs/formulas.md, A.9, A.11"""
        idf = log((self.n - self.sf[t] + 0.5) / (self.sf[t] + 0.5))
        if model == "bm25":
            tf = self._normalised(t, place.s, p["b"], self.avsl)
        else:
            if p["avcl"] == "documents":
                average = sum(map(len, self.wholes)) / self.n_documents
            else:
                average = sum(len(each.d) for each in self.places) / self.n
            around = sum(len(each.surrounding) for each in self.places) / self.n
            tf_d = self._normalised(t, place.d, p["b_context"], average)
            tf_cs = self._normalised(t, place.surrounding, p["b_context"], around)
            a, nu = p["alpha"], p["nu"]
            tf_context = tf_d if context == "document" else tf_cs
            tf = a * self._normalised(t, place.s, p["b_sent"], self.avsl)
            tf += nu * tf_cs + (1 - a - nu) * tf_d if context == "both" else (1 - a) * tf_context
        return idf * (p["k1"] + 1) * tf / (p["k1"] + tf) if tf > 0 else 0.0

    def _normalised(self, t: str, field: Terms, b: float, average: float) -> float:
        return field.count(t) / (1 - b + b * len(field) / average) if t in field else 0.0

    def _likelihood(self, model: str, t: str, place: Place, context: str | None, p: dict[str, Any]) -> float:
        """docs/formulas.md, A.2, A.3, A.5, A.6, A.7"""
        if p["background"] == "documents":
            background = self.df[t] / sum(self.df.values())
        else:
            background = max(self.cf[t], 1) / max(self.tokens, 1)
        c, length = place.s.count(t), len(place.s)
        in_s, in_d, in_cs = _share(t, place.s), _share(t, place.d), _share(t, place.surrounding)
        near = {"document": in_d, "surrounding": in_cs}.get(context or "", 0.0)
        lam, mu, nu = p.get("lambda", 0.0), p.get("mu", 0.0), p.get("nu", 0.0) if context == "both" else 0.0
        match model:
            case "jm":
                return (1 - lam) * in_s + lam * background
            case "dir" | "kld":
                return (c + mu * background) / (length + mu)
            case "2s":
                if context == "both":
                    near = (1 - nu) * in_d + nu * in_cs
                return (1 - lam) * (c + mu * near) / (length + mu) + lam * background
            case "2si":
                beta = mu / (length + mu)
                around = lam * in_d + nu * in_cs if context == "both" else lam * near
                return (1 - beta) * ((1 - lam - nu) * in_s + around) + beta * background
            case "3mm":
                g = p["gamma"]
                around = g * in_d + nu * in_cs if context == "both" else g * near
                match p["form"]:
                    case "flat":
                        return lam * in_s + around + (1 - lam - g - nu) * background
                    case "flat_jm":
                        return (1 - lam - g - nu) * in_s + around + lam * background
                    case "nested":
                        return (1 - lam) * ((1 - g - nu) * in_s + around) + lam * background
        raise ValueError(model)

    def prior(self, name: str, place: Place) -> float:
        """docs/formulas.md, A.4, A.8"""
        if name == "length":
            return log(len(place.s) / self.tokens) if place.s else -inf
        field = place.d if name == "importance" else place.surrounding
        return sum(log(field.count(t) / len(field)) - log(self.cf[t] / self.tokens) for t in place.s)


def _share(t: str, field: Terms) -> float:
    return field.count(t) / len(field) if field else 0.0
