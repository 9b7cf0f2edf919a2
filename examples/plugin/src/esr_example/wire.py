"""The format `wire`: documents of lines `KEY: value`, a blank line and the text. A line `$$` ends each."""

from __future__ import annotations

from collections.abc import Iterator

from esr.plugin import Format, Malformed, Record, Source, make_id, read_lines

END = "$$"
FIELDS = {"ID": "id", "HEAD": "title", "DATE": "date", "FROM": "source"}


def read(source: Source) -> Iterator[Record | Malformed]:
    """Read one document after the other, so that a file may be larger than memory."""
    lines: list[str] = []
    start = 1
    for number, line in read_lines(source):
        if line.strip() != END:
            lines.append(line.rstrip("\n"))
            continue
        yield parse_document(f"{source.name}:{start}", lines)
        lines, start = [], number + 1
    if any(line.strip() for line in lines):
        yield Malformed(f"{source.name}:{start}", f"the last document has no {END}")


def parse_document(where: str, lines: list[str]) -> Record | Malformed:
    """Make the fields of a document, named as in JSON Lines."""
    head, _, text = "\n".join(lines).strip("\n").partition("\n\n")
    fields = {"text": text}
    for line in head.splitlines():
        key, colon, value = line.partition(":")
        if not colon or key not in FIELDS:
            return Malformed(where, f"{line!r} is no line KEY: value with a key of {', '.join(FIELDS)}")
        fields[FIELDS[key]] = value.strip()
    return Record(where, {"id": make_id(f"{head}\n{text}"), **fields})


WIRE = Format(
    "wire",
    "the news wire of the example",
    (".wire",),
    lambda head: head.startswith(b"ID: ") and b"\nHEAD: " in head,
    read,
    is_text=True,
)
