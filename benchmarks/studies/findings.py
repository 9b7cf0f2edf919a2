"""Write docs/findings.md: the papers' findings in their own words, and which hold on today's collections.

    python -m benchmarks.studies.findings

It reads the verdicts of docs/results.md and docs/feature-gains.md, so it needs neither collections nor time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.studies import claims, feature_gains
from benchmarks.studies.results import COLLECTIONS
from esr.lab.reproduce.claims import TARGETS
from esr.wording import table_lines

DOCS = Path(__file__).resolve().parents[2] / "docs"
TARGET = DOCS / "findings.md"
SUBJECTS: Mapping[str, Sequence[str]] = {
    "Context": ("FLA-F1", "FLA-F2", "FLA-F3", "FLA-F4", "FLA-F5", "FLA-F13", "FLA-F14", "FLA-F15", "FLA-F22"),
    "Importance prior": ("FLA-F8", "FLA-F9"),
    "Length": ("FLA-F20", "FLA-F21", "FL-F18", "FL-F19"),
    "Subjectivity": ("FL-F2", "FL-F3", "FL-F4", "FL-F5"),
    "Names": ("FL-F13", "FL-F14", "FL-F15", "FL-F16"),
    "Term dependence": ("TDSR-F1", "TDSR-F2", "TDSR-F3", "MRF-F1", "MRF-F2"),
    "Baselines": ("FLA-F11", "FLA-F12", "FL-F1"),
}
HEAD = """# The papers' findings today

The four papers of [esr's models](formulas.md) measured on TREC Novelty, which few people have. This page
says which of their findings hold on three collections of today, those of [the results](results.md). Each
finding has the paper's claim, and its id in [`esr reproduce`](reproduce.md). Below it stand the tests, with
the figures that decide them. `python -m benchmarks.studies.findings` writes this page from the verdicts of
[the results](results.md#which-claims-hold) and of [features](feature-gains.md#which-claims-hold). Those pages
say how each figure was measured.

A test may cover a part of its finding only; its own words say which. The papers rank the sentences of a few
documents for each topic, and every sentence is judged. Here all sentences of a collection are ranked, and
few are judged. A finding that fails here may hold there.
"""


def main() -> None:
    TARGET.write_text("\n".join(render()), "utf-8")


def render() -> Iterator[str]:
    """The lines of the page."""
    verdicts = {**read_verdicts(DOCS / "results.md"), **read_verdicts(DOCS / "feature-gains.md")}
    tests = {claim.title: claim.finding for claim in claims.CLAIMS}
    tests |= {claim.text: claim.finding for claim in feature_gains.CLAIMS}
    by_finding = {
        target.id: [
            text for text, finding in tests.items() if target.id in finding.split() and text in verdicts
        ]
        for target in TARGETS
        if target.kind == "finding"
    }
    wording = {target.id: target.claim for target in TARGETS}
    yield HEAD
    rows = []
    for subject, ids in SUBJECTS.items():
        held = [
            _count_collections([verdicts[text] for text in by_finding[id]]) for id in ids if by_finding[id]
        ]
        everywhere, nowhere = held.count(len(COLLECTIONS)), held.count(0)
        cells = (len(held), everywhere, len(held) - everywhere - nowhere, nowhere)
        rows.append([f"[{subject}](#{subject.lower().replace(' ', '-')})", *map(str, cells)])
    head = ["subject", "findings tested", "hold on all three", "hold on some", "hold on none"]
    yield from table_lines(head, rows, left=1)
    yield "\nA finding with several tests holds on a collection if all of them do.\n"
    for subject, ids in SUBJECTS.items():
        yield f"## {subject}\n"
        rows = []
        for id in ids:
            columns = zip(*(verdicts[text] for text in by_finding[id]), strict=True)
            marks = ["**yes**" if _holds(column) else "**no**" for column in columns]
            rows.append([f"**{id}** {wording[id]}", *(marks or ["not tested"] * len(COLLECTIONS))])
            rows += [[text, *verdicts[text]] for text in by_finding[id]]
        yield from table_lines(["finding or test", *COLLECTIONS], rows)
        yield ""
    yield "## Not tested here\n"
    yield "Some need the papers' own data: its years, its types of topics, a judgement of every sentence, or"
    yield "the annotations of its tools. The others follow from formulas, or no study here measures them.\n"
    listed = {id for ids in SUBJECTS.values() for id in ids}
    yield from (f"- **{id}** {wording[id]}" for id in by_finding if id not in listed)
    yield ""


def read_verdicts(page: Path) -> dict[str, list[str]]:
    """The verdicts of a page's last section, by claim, in the order of the collections."""
    rows = page.read_text("utf-8").partition("## Which claims hold\n")[2].splitlines()
    cells = [row.replace("\\|", "\0").strip("| ").split(" | ") for row in rows if row.startswith("| ")]
    return {claim.replace("\0", "|"): verdicts for claim, *verdicts in cells[1:]}


def _holds(verdicts: Sequence[str]) -> bool:
    return all(verdict.startswith("holds") for verdict in verdicts)


def _count_collections(rows: Sequence[Sequence[str]]) -> int:
    return sum(_holds(column) for column in zip(*rows, strict=True))


if __name__ == "__main__":
    main()
