"""Who takes from whom: sentences that stood in one source first, and later in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from esr.plugin import UsageError
from esr.plugin.provisional import Filters, Searcher, questions, remove_non_xml


class Taking(Struct, frozen=True):
    """The number of sentences that stood in the source `origin` first, and later in the source `taker`.

    Edited copies count too, each sentence once for each taker.
    """

    origin: str
    taker: str
    sentences: int


class Reuse(Struct, frozen=True):
    """Who takes from whom, most sentences first."""

    pairs: Sequence[Taking]

    def as_dict(self) -> dict[str, Any]:
        """`{"pairs": [{"origin", "taker", "sentences"}]}`"""
        return {"pairs": [structs.asdict(pair) for pair in self.pairs]}

    def to_graphml(self) -> str:
        """Return GraphML for Gephi and networkx: sources, with an edge from each taker to the origin.

        Nodes have `label`, edges `weight`.
        """
        from xml.etree.ElementTree import Element, SubElement, indent, tostring  # only this function needs it

        root = Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
        for key, (of, kind) in _GRAPHML_KEYS.items():
            SubElement(root, "key", {"id": key, "for": of, "attr.name": key, "attr.type": kind})
        graph = SubElement(root, "graph", edgedefault="directed")
        sources = dict.fromkeys(source for pair in self.pairs for source in (pair.origin, pair.taker))
        ids = {source: f"n{number}" for number, source in enumerate(sources)}
        for source, id in ids.items():
            node = SubElement(graph, "node", id=id)
            SubElement(node, "data", key="label").text = remove_non_xml(source)
        for pair in self.pairs:
            edge = SubElement(graph, "edge", source=ids[pair.taker], target=ids[pair.origin])
            SubElement(edge, "data", key="weight").text = str(pair.sentences)
        indent(root, " ")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


_GRAPHML_KEYS: Mapping[str, tuple[str, str]] = {"label": ("node", "string"), "weight": ("edge", "int")}


def find_reuse(searcher: Searcher, filters: Filters, *, least: int = 1) -> Reuse:
    """Who takes from whom at least `least` sentences, among the taken sentences that pass the filters.

    Raises UsageError if copies were not looked for, and for the filter `independent`, which leaves them out.
    """
    if filters.independent:
        raise UsageError("independent leaves out all sentences that were taken: leave it out")
    index = searcher.snapshot().index
    (counts,) = index.count([None], filters, questions.ByReuse())
    if not counts and not index.status(questions.HasCopies()):
        raise UsageError("copies were not looked for in this index: run esr enrich --only reuse")
    pairs = [Taking(origin, taker, count) for (origin, taker), count in counts.items() if count >= least]
    return Reuse(sorted(pairs, key=lambda pair: (-pair.sentences, pair.origin, pair.taker)))
