"""Commands that list what is registered (`esr models`, `esr features` and others), and `esr analyze`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from textwrap import fill
from typing import Any

import click
from click.core import ParameterSource

from esr import features as feature_registry
from esr import loaders
from esr import models as model_registry
from esr.arguments.tables.commands import COMMANDS
from esr.cli import options
from esr.cli.arguments import add_arguments
from esr.cli.options import as_json
from esr.cli.ranking_options import query_language
from esr.encoders import HUB_MODELS, KNOWN, encoder_folder
from esr.errors import UsageError
from esr.extras import find_extra, install_command
from esr.installed_plugins import PLUGINS
from esr.models.forms import FORMS
from esr.models.priors import PRIORS
from esr.query import ParsedQuery, in_language, literal
from esr.ranking.answers import analysis_dict
from esr.ranking.boosts import BOOSTS
from esr.ranking.searcher import open_searcher
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.analyzer_definitions import BY_LANGUAGE, DEFAULT_ANALYZER, all_definitions, get_definition


@click.command()
@as_json
def models(as_json: bool) -> None:
    """List the ranking models and their parameters.

    \b
    Example:
      esr models
      esr models --json
    """
    entries = [model.as_dict() for model in model_registry.MODELS.values()]
    if as_json:
        _print_json(entries)
        return
    for entry in entries:
        default = " (default model)" if entry["name"] == model_registry.DEFAULT.name else ""
        click.echo(f"{entry['name']}{default}\n{_indent(entry['description'])}")
        click.echo(_indent(f"source: {entry['source']}"))
        if entry["contexts"]:
            click.echo(_indent(f"context: {' | '.join(entry['contexts'])} (first is the default)"))
        click.echo(_indent(f"candidates: {entry['candidates']}"))
        _print_parameters(entry["parameters"])
        click.echo()


def _print_parameters(parameters: Iterable[dict[str, Any]]) -> None:
    for p in parameters:
        condition = f"; with --context {p['only_with']}" if p["only_with"] else ""
        text = f"{p['name']}={p['default']:g}" if not p["choices"] else f"{p['name']}={p['default']}"
        click.echo(_indent(f"{text}  {p['range']}{condition}: {p['description']}", 6))


@click.command()
@as_json
def priors(as_json: bool) -> None:
    """List the sentence priors.

    \b
    Example:
      esr search "bank fraud" --index my-index --prior length
    """
    print_entries((prior.as_dict() for prior in PRIORS.values()), as_json)


@click.command()
@as_json
def features(as_json: bool) -> None:
    """List the features: numbers that a sentence has by itself.

    \b
    Example:
      esr features
      esr features --json
    """
    print_entries((feature.as_dict() for feature in feature_registry.FEATURES.values()), as_json)


@click.command()
@as_json
def forms(as_json: bool) -> None:
    """List the forms: how features add to scores.

    I is the value of the feature for a sentence.

    \b
    Example:
      esr search "bank fraud" --index my-index --feature len:log:0.1
    """
    print_entries((form.as_dict() for form in FORMS.values()), as_json)


@click.command()
@as_json
def boosts(as_json: bool) -> None:
    """List the boosts: what a query says beyond its words.

    \b
    Example:
      esr search "who owns the bank" --index my-index --boost answer_type --boost variants:0.1
    """
    print_entries((boost.as_dict() for boost in BOOSTS.values()), as_json)


@click.command()
@add_arguments(COMMANDS, "encoders")
@as_json
def encoders(fetch: str | None, as_json: bool) -> None:
    """List known encoders and cross-encoders, or fetch one.

    Those of the Hugging Face hub begin with hf:. Other models of the hub, or a folder, can be given as well.

    \b
    Example:
      esr encoders
      esr encoders --json
      esr encoders --fetch use-multilingual-v3
    """
    if fetch is not None:
        click.echo(f"{fetch} is in {encoder_folder.find_folder(fetch).path}")
        return
    known = (encoder.as_dict() for encoder in KNOWN.values())
    print_entries((*known, *(model.as_dict() for model in HUB_MODELS.values())), as_json)


@click.command()
@as_json
def analyzers(as_json: bool) -> None:
    """List the analyzers: how text becomes terms.

    \b
    Example:
      esr load news.jsonl --index my-index --analyzer english
    """
    entries = (
        {
            "name": definition.name,
            "description": definition.description,
            "languages": list(definition.languages),
            "version": definition.version,
        }
        for definition in (*all_definitions().values(), get_definition(BY_LANGUAGE))
    )
    print_entries(entries, as_json)


@click.command()
@as_json
def formats(as_json: bool) -> None:
    """List the source formats that can be loaded.

    \b
    Example:
      esr load news.sgml --format trec --index my-index
    """
    entries = (
        {
            "name": f.name,
            "description": f.description,
            "suffixes": list(f.suffixes),
            "needs": install_command(*sorted(set(map(find_extra, f.needs)))) if f.needs else "",
        }
        for f in loaders.FORMATS.values()
    )
    print_entries(entries, as_json)


@click.command()
@as_json
def plugins(as_json: bool) -> None:
    """List the installed plug-ins, with what each adds to esr.

    ESR_PLUGINS chooses among them: their names, separated by commas, or none.

    \b
    Example:
      esr plugins
      esr plugins --json
    """
    entries = PLUGINS.describe()
    if as_json:
        _print_json(entries)
        return
    for entry in entries:
        name, origin = entry.pop("name"), entry.pop("from")
        click.echo(name if origin == repr(name) else f"{name}, from {origin}")
        for field, names in entry.items():
            click.echo(_indent(f"{field}: {', '.join(names)}"))
    if not entries:
        click.echo("No plug-in is installed.", err=True)


def print_entries(entries: Iterable[dict[str, Any]], as_json: bool) -> None:
    """Print entries of a registry with their parameters, or as JSON."""
    if as_json:
        _print_json(list(entries))
        return
    for entry in entries:
        click.echo(f"{entry['name']}\n{_indent(entry['description'])}")
        for key in ("source", "languages", "needs", "suffixes", "column", "artifact", "licence"):
            if entry.get(key):
                value = entry[key]
                click.echo(_indent(f"{key}: {value if isinstance(value, str) else ' '.join(value)}"))
        _print_parameters(entry.get("parameters", ()))


def _print_json(entries: list[dict[str, Any]]) -> None:
    click.echo(json.dumps(entries, indent=1))


def _indent(text: str, by: int = 4) -> str:
    return fill(text, 100, initial_indent=" " * by, subsequent_indent=" " * (by + 2))


@click.command()
@add_arguments(COMMANDS, "analyze")
@options.optional_index
@query_language
@options.as_json
def analyze(
    text: str, name: str | None, where: str | None, query_language: str | None, as_json: bool
) -> None:
    """Show the terms that a text becomes.

    Without --analyzer and --index, the analyzer is the one that esr load takes for English. JSON also has
    the position of each term's word, in characters from 0. Bigrams overlap.

    \b
    Example:
      esr analyze "The U.S. troops won't leave"
      esr analyze "中国经济" --analyzer multilingual --json
      esr analyze "Beyoncé's café" --index my-index
    """
    source = click.get_current_context().get_parameter_source("where")
    if name and where and source is ParameterSource.COMMANDLINE:
        raise UsageError("give --analyzer or --index, not both")
    if where and not name:
        analyzer = _analyzer_of_index(where, in_language(literal(text), query_language))
    else:
        analyzer = get_analyzer(name or DEFAULT_ANALYZER)
    if as_json:
        click.echo(json.dumps(analysis_dict(analyzer, text), indent=1, ensure_ascii=False))
        return
    terms = analyzer.terms(text)
    if not terms:
        click.echo(f"The analyzer {analyzer.name} makes no term of this text.", err=True)
        return
    click.echo(" ".join(terms))


def _analyzer_of_index(where: str, query: ParsedQuery) -> Analyzer:
    with open_searcher(where) as searcher:
        return searcher.for_query(query).index.analyzer
