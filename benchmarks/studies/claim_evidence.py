"""Measures the groups of evidence for claims on sets with labels, and beside the ranking alone.

    python -m benchmarks.studies.claim_evidence climate-fever.jsonl --part test
    python -m benchmarks.studies.claim_evidence fever_symmetric_test.jsonl fool-me-twice/test.jsonl
    python -m benchmarks.studies.claim_evidence --collection claims-dev

Files are those of CLIMATE-FEVER (github:tdiggelm/climate-fever-dataset), FEVER Symmetric
(github:TalSchuster/FeverSymmetric) and Fool Me Twice (github:google-research/fool-me-twice). The rules were
written with the claims of CLIMATE-FEVER whose number is even (`--part dev`), fever_symmetric_dev.jsonl and
dev.jsonl of Fool Me Twice in view; the others are for figures.

`pairs` gives each labelled sentence to the rules, whatever its share of the claim. `share` counts only
the sentences that have, with their titles, so much of the claim by the rarity of words in the set; *says
otherwise* shows those from the share that is marked. `index` loads all sentences of a set, and sorts the
first 100 of the ranking. A sentence without a label for a claim is not counted. `decided` is the
precision among sentences that support or refute, `all` also counts those labelled as neither as wrong.
`ranking` has as many sentences for each claim as the group, the first of the ranking. A collection has
documents, topics and judgements as for `esr compare`, which say only what is evidence.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import esr
from esr.evidence.claim_evidence import CANDIDATES, GROUPS, LEAST
from esr.evidence.contrast import find_contrasts, read_statement
from esr.models.tfidf_models import rarity
from esr.text.analyzer import get_analyzer

SUPPORTS, REFUTES, NEITHER = "SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO"


class Pair(NamedTuple):
    """A claim, a sentence with the title of its document, and the label."""

    claim: str
    sentence: str
    title: str
    label: str


def read_pairs(path: Path, part: str) -> Iterator[Pair]:
    """The labelled pairs of a file in one of the three formats."""
    for line in path.read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        if "evidences" in row:
            if part == "all" or int(row["claim_id"]) % 2 == (part == "test"):
                for each in row["evidences"]:
                    yield Pair(row["claim"], each["evidence"], each["article"], each["evidence_label"])
        elif "gold_evidence" in row:
            gold = {each["text"] for each in row["gold_evidence"]}
            for text in sorted(gold):
                yield Pair(row["text"], text, row["wikipedia_page"], row["label"])
        else:
            yield Pair(row["claim"], row["evidence"], "", row["gold_label"])


def describe(counts: Counter[str], label: str, of: int) -> str:
    """Precision among decided sentences and among all labelled ones, and recall."""
    found, decided = counts[label], counts[SUPPORTS] + counts[REFUTES]
    everything = decided + counts[NEITHER]
    shares = [found / max(number, 1) for number in (decided, everything, of)]
    return (
        f"{found:5} of {everything:5}  decided {shares[0]:.3f}  all {shares[1]:.3f}  recall {shares[2]:.3f}"
    )


_SHARES = (0.2, 0.3, 0.4, LEAST["says_otherwise"], 0.6)


def weigh_shares(pairs: Sequence[Pair]) -> list[float]:
    """The share of each pair's claim in the sentence and its title, by the rarity of words in the set."""
    terms = get_analyzer("english-stem").terms
    sentences = {pair.sentence for pair in pairs}
    holders = Counter(term for sentence in sentences for term in set(terms(sentence)))
    shares = []
    for pair in pairs:
        weights = {term: rarity(len(sentences), holders[term]) for term in set(terms(pair.claim))}
        shared = weights.keys() & set(terms(f"{pair.sentence} {pair.title}"))
        shares.append(sum(weights[term] for term in shared) / (sum(weights.values()) or 1.0))
    return shares


def measure_pairs(pairs: Sequence[Pair]) -> None:
    """Print what the rules find in each labelled sentence: in all, by rule, and by the share of the claim."""
    totals = Counter(pair.label for pair in pairs)
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    by_share: dict[float, Counter[str]] = {least: Counter() for least in _SHARES}
    for pair, share in zip(pairs, weigh_shares(pairs), strict=True):
        contrasts = find_contrasts(read_statement(pair.claim), read_statement(pair.sentence))
        for rule in {"any rule" for _ in contrasts} | {contrast.rule for contrast in contrasts}:
            by_rule[rule][pair.label] += 1
        for least in _SHARES:
            by_share[least][pair.label] += bool(contrasts) and share >= least
    print(f"  pairs: {dict(totals)}")
    for rule in sorted(by_rule, key=lambda rule: (rule != "any rule", rule)):
        print(f"    {rule:14} {describe(by_rule[rule], REFUTES, totals[REFUTES])}")
    for least, counts in by_share.items():
        name = f"share {least:.1f}" + (" shown" if least == LEAST["says_otherwise"] else "")
        print(f"    {name:14} {describe(counts, REFUTES, totals[REFUTES])}")


def load_pairs(pairs: Iterable[Pair], folder: Path) -> tuple[esr.Index, dict[tuple[str, str], str]]:
    """An index of all sentences of the pairs, and the labels by claim and sentence id."""
    documents: dict[str, list[str]] = defaultdict(list)
    numbers: dict[str, int] = {}
    ids: dict[str, str] = {}
    labels = {}
    for pair in pairs:
        title = pair.title or pair.sentence
        number = numbers.setdefault(title, len(numbers))
        if pair.sentence not in ids:
            ids[pair.sentence] = f"d{number}.s{len(documents[title])}"
            documents[title].append(pair.sentence)
        labels[pair.claim, ids[pair.sentence]] = pair.label
    rows = [
        {
            "id": f"d{numbers[title]}",
            "title": title,
            "sentences": [{"id": ids[text], "text": text} for text in texts],
        }
        for title, texts in documents.items()
    ]
    return esr.create(folder / "index", rows, meaning=False), labels


def list_ids(texts: Iterable[esr.EvidenceSentence]) -> list[str]:
    """The ids of texts and of their copies."""
    return [id for text in texts for id in (text.sentence_id, *(copy.sentence_id for copy in text.copies))]


def measure_index(index: esr.Index, claims: Iterable[str], labels: Mapping[tuple[str, str], str]) -> None:
    """Print what the groups of each claim have, beside as many sentences of the ranking."""
    claims = list(claims)
    totals = Counter(label for (claim, _), label in labels.items() if claim in set(claims))
    found: dict[str, Counter[str]] = defaultdict(Counter)
    ranked: dict[str, Counter[str]] = defaultdict(Counter)
    for claim in claims:
        try:
            evidence = index.evidence(claim, CANDIDATES)
            hits = [hit.id for hit in index.search(claim, CANDIDATES, literal=True)]
        except esr.UsageError:  # only stop words
            continue
        for group, texts in evidence.groups().items():
            ids = list_ids(texts)
            for counts, listed in ((found, ids), (ranked, hits[: len(ids)])):
                counts[group].update(labels[claim, id] for id in listed if (claim, id) in labels)
                counts[group]["unlabelled"] += sum((claim, id) not in labels for id in listed)
    for group, label in (("says_so", SUPPORTS), ("says_otherwise", REFUTES)):
        for name, of in ((group, found[group]), (f"{group}, ranking", ranked[group])):
            print(f"    {name:25} {describe(of, label, totals[label])}  unlabelled {of['unlabelled']}")


def measure_collection(folder: Path, number: int | None) -> None:
    """Print which share of each group is evidence by the judgements, beside the ranking."""
    topics = [line.split("\t") for line in (folder / "topics.tsv").read_text("utf-8").splitlines()][:number]
    judged = [line.split() for line in (folder / "qrels.txt").read_text("utf-8").splitlines()]
    searched = {topic for topic, _ in topics}
    relevant = {(topic, id) for topic, _, id, grade in judged if int(grade) > 0 and topic in searched}
    with (
        tempfile.TemporaryDirectory() as scratch,
        esr.load(Path(scratch) / "index", folder / "docs.jsonl", meaning=False) as index,
    ):
        found: dict[str, list[bool]] = defaultdict(list)
        ranked: dict[str, list[bool]] = defaultdict(list)
        for topic, claim in topics:
            evidence = index.evidence(claim, CANDIDATES)
            hits = [hit.id for hit in index.search(claim, CANDIDATES, literal=True)]
            for group, texts in evidence.groups().items():
                ids = list_ids(texts)
                found[group] += [(topic, id) in relevant for id in ids]
                ranked[group] += [(topic, id) in relevant for id in hits[: len(ids)]]
    print(f"{folder.name}: {len(topics)} claims, {len(relevant)} sentences of evidence")
    for group in GROUPS:
        for name, flags in ((group, found[group]), (f"{group}, ranking", ranked[group])):
            share, recall = sum(flags) / max(len(flags), 1), sum(flags) / len(relevant)
            print(f"    {name:25} {sum(flags):5} of {len(flags):5}  {share:.3f}  recall {recall:.3f}")


def main() -> None:
    """Measure each file and each collection."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--part", choices=("dev", "test", "all"), default="all")
    parser.add_argument("--collection", type=Path)
    parser.add_argument("--claims", type=int, help="Search for only the first N claims.")
    arguments = parser.parse_args()
    for path in arguments.files:
        pairs = list(read_pairs(path, arguments.part))
        print(f"{path.name}, {arguments.part}: {len({pair.claim for pair in pairs})} claims")
        measure_pairs(pairs)
        with tempfile.TemporaryDirectory() as scratch:
            index, labels = load_pairs(pairs, Path(scratch))
            with index:
                print(f"  index: {len(labels)} labelled pairs")
                claims = list(dict.fromkeys(pair.claim for pair in pairs))[: arguments.claims]
                measure_index(index, claims, labels)
    if arguments.collection:
        measure_collection(arguments.collection, arguments.claims)


if __name__ == "__main__":
    main()
