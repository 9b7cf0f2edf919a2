"""The `esr` command and how its errors are printed."""

from __future__ import annotations

import sys
from typing import Any

import click

import esr
from esr.cli import (
    analyze,
    append,
    compare,
    enrich,
    estimate,
    evaluate,
    explain,
    export,
    generations,
    learn,
    listings,
    load,
    login,
    migrate,
    query,
    refresh_priors,
    report,
    reproduce,
    roles,
    run,
    search,
    serve,
    similar,
    status,
    sync,
    timeline,
    tune,
    watch,
)
from esr.errors import EsrError


class Group(click.Group):
    """Prints errors that the user can act on as one line, without a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except EsrError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(error.exit_code)
        except OSError as error:  # of the output, such as a full disk behind a redirection
            click.echo(f"Error: cannot continue: {error.strerror or error}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            sys.exit(130)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from esr.errors import unknown

            raise unknown("command", args[0], self.commands) from error


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(esr.__version__, prog_name="esr")
@login.login_options
def main(**options: Any) -> None:
    """Search for sentences of news, in a folder or in Elasticsearch.

    \b
    Example:
      esr load news.jsonl --index my-index
      esr search "earthquake relief China" --index my-index

    The options below are for Elasticsearch, and precede the command.
    """
    click.get_current_context().with_resource(login.use_login(**options))


for command in (
    load.load,
    append.append,
    append.remove,
    sync.sync,
    export.export,
    generations.indices,
    generations.rollback,
    generations.delete,
    refresh_priors.refresh_priors,
    migrate.migrate,
    enrich.enrich,
    search.search,
    timeline.timeline,
    similar.similar,
    watch.watch,
    run.run,
    evaluate.evaluate,
    tune.tune,
    estimate.estimate,
    learn.learn_command,
    report.report,
    compare.compare,
    reproduce.reproduce,
    explain.explain,
    query.query,
    serve.serve,
    roles.roles,
    status.status,
    analyze.analyze,
    listings.models,
    listings.priors,
    listings.features,
    listings.forms,
    listings.boosts,
    listings.signals,
    listings.encoders,
    listings.analyzers,
    listings.formats,
):
    main.add_command(command)
    # A command that is called without the group has the same help options.
    for subcommand in (command, *getattr(command, "commands", {}).values()):
        subcommand.context_settings = main.context_settings
