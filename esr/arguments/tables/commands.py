"""The arguments that only commands have: files, the server, and what to do with an index."""

from __future__ import annotations

from esr.arguments.argument import Argument
from esr.arguments.types import Between, Choice, FilePath, Flag, Text, Texts, WholeNumber
from esr.index.login_variables import ROLES
from esr.text.sentence_enrichment import PARTS, REUSE, TABLE

_PORT = WholeNumber(high=65_535, most=65_535, usual=8080)
COMMANDS: tuple[Argument, ...] = (
    # Loads
    Argument(
        "paths",
        "what to load",
        Texts(),
        "load append",
        is_required=True,
        is_repeatable=True,
        metavar="PATH...",
        is_positional=True,
    ),
    Argument("enrich", "run esr enrich on the index afterwards", Flag(), "load"),
    Argument(
        "enrich_only",
        f"run esr enrich afterwards for these parts only, separated by commas: {', '.join(PARTS)}, {TABLE}, "
        f"{REUSE}",
        Texts(),
        "load",
        is_repeatable=True,
        metavar="PARTS",
    ),
    Argument(
        "dry_run",
        "show the first documents, counts and problems; write nothing",
        Flag(),
        "load",
        sets="is_dry_run",
    ),
    Argument(
        "slice",
        "send the I-th of N slices; the last one to finish switches (Elasticsearch only)",
        Text(),
        "load",
        sets="slice_text",
        metavar="I/N",
    ),
    Argument(
        "ids",
        "the documents",
        Texts(),
        "remove",
        is_repeatable=True,
        metavar="[ID...]",
        is_positional=True,
    ),
    Argument(
        "query",
        "remove the documents with a sentence that has all its words",
        Text(),
        "remove",
        metavar="QUERY",
    ),
    Argument("before", "remove the documents dated before this date", Text(), "remove", metavar="DATE"),
    Argument("dry_run", "count what would be removed; write nothing", Flag(), "remove", sets="is_dry_run"),
    Argument("list", "print what was removed for good", Flag(), "remove", sets="is_list"),
    Argument("config", "the sources", FilePath(), "sync", is_required=True, is_positional=True),
    Argument("dry_run", "read and compare, and report; write nothing", Flag(), "sync", sets="is_dry_run"),
    Argument(
        "reread",
        "read all files again, also those whose documents a rollback rejected",
        Flag(),
        "sync",
    ),
    # Generations and copies of an index
    Argument("to", "serve this kept generation, older or newer", Text(), "rollback", metavar="GENERATION"),
    Argument(
        "names",
        "the generations",
        Texts(),
        "delete",
        is_repeatable=True,
        metavar="[GENERATION]...",
        is_positional=True,
    ),
    Argument(
        "before",
        "delete the documents dated before this date, as esr remove does",
        Text(),
        "delete",
        metavar="DATE",
    ),
    Argument("yes", "do not ask", Flag(), "delete"),
    Argument("fast", "compare sizes and times; read only small and changed files", Flag(), "verify"),
    Argument(
        "slice",
        "verify the I-th of N slices of the segments and layers, each on a machine of its own (folders only)",
        Text(),
        "verify",
        sets="slice_text",
        metavar="I/N",
    ),
    Argument(
        "target",
        "the backup",
        Text(),
        "backup restore",
        is_required=True,
        metavar="TARGET",
        is_positional=True,
    ),
    Argument("copy", "copy files that could be linked", Flag(), "backup restore"),
    Argument(
        "slice",
        "copy the I-th of N slices of the segments and layers, each on a machine of its own; then run it "
        "without this option",
        Text(),
        "backup restore",
        sets="slice_text",
        metavar="I/N",
    ),
    Argument("workers", "number of threads", WholeNumber(most=256, usual=1), "verify backup restore"),
    Argument(
        "fast",
        "of the files that are there already, compare sizes and times; read only small and changed ones",
        Flag(),
        "restore",
    ),
    Argument("yes", "do not ask before an index is replaced", Flag(), "restore"),
    Argument(
        "desk",
        "also back up the dossiers and saved searches of this desk: a file, or an address of PostgreSQL",
        Text(),
        "backup",
    ),
    Argument(
        "desk",
        "also make this desk that of the backup: a file, or an address of PostgreSQL; what it has is lost",
        Text(),
        "restore",
    ),
    Argument(
        "drift",
        "also sample how far stored priors are from exact ones",
        Flag(),
        "status",
        sets="shows_drift",
    ),
    Argument(
        "output",
        "the file, compressed if its name ends in .gz; - is standard output",
        Text(usual="-"),
        "export",
        letter="o",
        metavar="FILE",
    ),
    Argument("quotes", "include the quotations that esr enrich found", Flag(), "export"),
    Argument("features", "include the features that esr enrich computed", Flag(), "export"),
    Argument("names", "include the names that esr enrich found", Flag(), "export"),
    # Servers
    Argument(
        "aliases",
        "the aliases",
        Texts(),
        "roles",
        is_required=True,
        is_repeatable=True,
        metavar="ALIAS...",
        is_positional=True,
    ),
    Argument("role", "print only this role", Choice(labels=ROLES), "roles", is_repeatable=True, sets="roles"),
    Argument(
        "key",
        "create an API key with one role, and write it to this new file instead",
        FilePath(),
        "roles",
        sets="file",
    ),
    Argument(
        "wait",
        "with --key: how long to try again while Elasticsearch is starting and rejects every login",
        Between(usual=0),
        "roles",
        sets="patience",
        metavar="SECONDS",
    ),
    Argument("host", "address to listen on", Text(usual="127.0.0.1"), "serve"),
    Argument("port", "port to listen on", _PORT, "serve"),
    # Grants
    Argument("name", "whom the grant is for", Text(), "grant", is_required=True, is_positional=True),
    Argument("file", "the file of grants", FilePath(), "grants", is_required=True, sets="path"),
    Argument("kind", "whom the grant is for", Text(usual="key"), "grant"),
    Argument(
        "index", "grant only this index", Texts(), "grant", is_repeatable=True, sets="indexes", metavar="NAME"
    ),
    Argument("rate", "limit requests, such as 60/minute, instead of by ESR_RATE", Text(usual=""), "grant"),
    Argument("expires", "the last day or moment, in UTC", Text(usual=""), "grant", metavar="DATE"),
    Argument(
        "filter",
        "grant only documents that these fields find, such as 'source:Sports'",
        Text(usual=""),
        "grant",
        sets="restriction",
        metavar="QUERY",
    ),
    Argument(
        "group",
        "a group, with which dossiers are shared",
        Texts(),
        "grant",
        is_repeatable=True,
        sets="groups",
        metavar="NAME",
    ),
    Argument("password_file", "read the password from this file, instead of asking", FilePath(), "grant"),
    Argument("replace", "replace the grant of this name, with a new key or password", Flag(), "grant"),
    Argument(
        "names",
        "the grants",
        Texts(),
        "revoke",
        is_required=True,
        is_repeatable=True,
        metavar="NAME...",
        is_positional=True,
    ),
    # Searches
    Argument(
        "queries",
        "the queries",
        Texts(),
        "timeline frequencies",
        is_required=True,
        is_repeatable=True,
        metavar="QUERY...",
        is_positional=True,
    ),
    Argument(
        "rate", "show sentences per million of those of the period, in text and svg", Flag(), "timeline"
    ),
    Argument("sentence_id", "the sentence", Text(), "similar explain", is_required=True, is_positional=True),
    Argument("json", "the same as --format json", Flag(), "search", sets="as_json"),
    Argument(
        "as",
        "print a request for any words, by a language model. slots: with slots that clients/ fill in; "
        "template: store it in Elasticsearch as a search template, and print the call for QUERY",
        Choice(labels=dict.fromkeys(("request", "slots", "template"), ""), usual="request"),
        "query",
        sets="form",
    ),
    Argument("text", "what to make terms of", Text(), "analyze", is_required=True, is_positional=True),
    Argument("analyzer", "the analyzer: see esr analyzers", Text(), "analyze", sets="name", metavar="NAME"),
    Argument("fetch", "fetch the files of this encoder into the cache", Text(), "encoders", metavar="NAME"),
    # Saved searches
    Argument("searches", "the searches", FilePath(), "watch", is_required=True, is_positional=True),
    Argument(
        "state",
        "what has been reported so far. Default: SEARCHES with .state at its end",
        FilePath(),
        "watch",
    ),
    Argument(
        "output", "add the lines to this file, each once. Default: standard output", FilePath(), "watch"
    ),
    Argument(
        "feeds", "also write an Atom feed for each search into this folder", FilePath(kind="folder"), "watch"
    ),
    Argument("from_start", "for a new search, also report what the index has already", Flag(), "watch"),
)
"""By the commands that take them."""
