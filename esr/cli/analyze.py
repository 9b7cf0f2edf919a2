"""`esr analyze`: the terms that a text becomes."""

from __future__ import annotations

import json

import click
from click.core import ParameterSource

import esr
from esr import analysis
from esr.cli import options
from esr.errors import UsageError
from esr.ranking.answers import analysis_dict


@click.command()
@click.argument("text")
@click.option("--analyzer", "name", metavar="NAME", help="One of esr analyzers.")
@options.optional_index
@options.as_json
def analyze(text: str, name: str | None, where: str | None, as_json: bool) -> None:
    """Show the terms that a text becomes, by an analyzer or by that of an index.

    Without --analyzer and --index the analyzer is that of esr load for English. JSON has the place of each
    term's word as well: characters of the text are counted from 0, and bigrams overlap.

    \b
    Example:
      esr analyze "The U.S. troops won't leave"
      esr analyze "中国经济" --analyzer multilingual --json
      esr analyze "Beyoncé's café" --index my-index
    """
    source = click.get_current_context().get_parameter_source("where")
    if name and where and source is ParameterSource.COMMANDLINE:
        raise UsageError("give --analyzer or --index, not both")
    analyzer = _analyzer_of_index(where) if where and not name else analysis.get(name or analysis.DEFAULT)
    if as_json:
        click.echo(json.dumps(analysis_dict(analyzer, text), indent=1, ensure_ascii=False))
        return
    terms = analyzer.terms(text)
    if not terms:
        click.echo(f"The analyzer {analyzer.name} makes no term of this text.", err=True)
        return
    click.echo(" ".join(terms))


def _analyzer_of_index(where: str) -> analysis.Analyzer:
    with esr.open(where) as searcher:
        return searcher.index.analyzer
