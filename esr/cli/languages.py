"""Generates the table of docs/languages.md from the definitions: `python -m esr.cli.languages`."""

from __future__ import annotations

from esr import analysis


def build_table() -> str:
    """Each analyzer with what it makes of its example, as Markdown. A test compares the page with it."""
    rows = ["| analyzer | languages | text | terms |", "| --- | --- | --- | --- |"]
    for definition in analysis.all_definitions().values():
        terms = " ".join(f"`{term}`" for term in analysis.get(definition.name).terms(definition.example))
        languages = " ".join(definition.languages) or "any"
        rows.append(f"| `{definition.name}` | {languages} | {definition.example} | {terms} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(build_table())
