"""Articles in exports of ProQuest."""

from __future__ import annotations

import re
from typing import Any

from esr.loaders.press.database import Database, Lines, build_fields, join_lines, read_fields
from esr.plugin import make_id, to_iso_date
from esr.plugin.provisional import compile_lazily


def mark_articles(tree: Any) -> None:
    """Replace the named anchor before each article of ProQuest by a rule, as exports as text have it."""
    for anchor in tree.iter("a"):
        if anchor.get("name", "").startswith("DocID_"):
            anchor.tag, anchor.text = "p", "_" * 40


_FIELD = compile_lazily(
    r"(Abstract|Access|Accession number|Author|Business indexing term|Company ?/ ?organization|Copyright"
    r"|Country of publication|Credit"
    r"|Database|Document feature|Document type|Document URL|DOI|[Ee]dition|First page|Full text"
    r"|Identifiers? / keyword|ISBN|ISSN|Issue|Language of publication|Language|Last updated|Links|Location"
    r"|Number of pages|Pages?"
    r"|People|Person|Place of publication|ProQuest document ID|Publication (?:date|info|subject|title|year)"
    r"|Publisher|Section|Source type|Subject|Title|Volume|Year):\s*(.*)"
)
_NAMES = {
    "author": "authors",
    "section": "section",
    "language of publication": "language",
    "subject": "keywords",
    "document url": "url",
}


def _parse(lines: Lines) -> dict[str, Any] | None:
    """An article of statements after their names, including "Full text"."""
    statements = read_fields(lines, _FIELD, has_blanks=True)
    if "proquest document id" not in statements and "full text" not in statements:
        return None
    title = join_lines(statements.get("title", ()))
    first = (
        line.strip() for line in lines if line.strip(" _") and not re.match(r"\s*Document \d+ of \d+", line)
    )
    text = statements.get("full text") or statements.get("abstract") or ()
    id = next(iter(re.findall(r"\d+", join_lines(statements.get("proquest document id", ())))), "")
    header = (
        statements[name]
        for name in ("publication date", "publication info", "last updated")
        if name in statements
    )
    source = join_lines(statements.get("publication title", ()))
    return {
        **({"id": make_id(f"proquest-{id}")} if id else {}),
        "title": title or next(first, ""),
        "date": next(filter(None, (to_iso_date(join_lines(lines)) for lines in header)), None),
        "source": re.split(r"\s*;", source)[0],
        **build_fields(statements, _NAMES),
        "text": "\n".join(text).strip(),
    }


_HEAD = compile_lazily(
    r"^_{20,}\s*\n(?:.*\n){1,40}?(?:Full text|Publication info|Publication title|Author): ", re.M
)
EXPORT = Database(
    name="ProQuest",
    is_export=lambda head: bool(_HEAD.search(head)),
    boundary=compile_lazily(r"\s*_{20,}\s*"),
    is_end=False,
    parse=_parse,
)
