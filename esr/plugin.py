"""What plug-ins are made of: the public, stable interface for packages that extend esr.

A package announces its `Plugin` by an entry point of the group `esr.plugins`. docs/plugins.md says how, and
what this module promises. Names are imported when they are first used, so that importing this module takes no
time: a plug-in should name its items as "module:attribute", and import nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

from esr.errors import EsrError, InputError, NotFound, UsageError
from esr.installed_plugins import PLUGINS, Declarations, PluginError, PluginWarning

if TYPE_CHECKING:
    import click

    from esr.cli.options import FILE
    from esr.cli.options import index as index_option
    from esr.cli.ranking_options import ranking_options
    from esr.encoders.description import EncoderDescription
    from esr.errors import to_one_line, unknown
    from esr.extras import missing as missing_package
    from esr.extras import require
    from esr.features.feature import Feature, FeatureInput, Values
    from esr.following.exports import Article, cite
    from esr.following.timeline import MAX_PEAKS, PEAKS, Interval, count_periods, name_of
    from esr.index import questions
    from esr.index.filters import NO_FILTERS
    from esr.index.login_variables import redact
    from esr.library.options import SearchOptions, check_names, read_search_options
    from esr.library.public_index import Index
    from esr.loaders.encoding import MAX_DOCUMENT_BYTES, read_chunks, read_lines
    from esr.loaders.feed import MAX_FEED_BYTES, is_feed
    from esr.loaders.feed import read as read_feed
    from esr.loaders.fetching import (
        SETTLED_SECONDS,
        Fetcher,
        FetchReport,
        SyncSource,
        read_state,
        write_file,
        write_state,
    )
    from esr.loaders.files import FileFilter, is_hidden
    from esr.loaders.format import Format, Malformed, Record, Remark, Skipped, Source
    from esr.loaders.ids import make_id, make_id_from_path
    from esr.loaders.markup import find_all as find_elements
    from esr.loaders.markup import iterate_elements
    from esr.loaders.markup import local_name as element_name
    from esr.loaders.markup import to_line as element_text
    from esr.loaders.page import MAX_PAGE_BYTES, NoArticle, extract_article
    from esr.models.language_models import BACKGROUND, mu_parameter, weighted_terms
    from esr.models.model import (
        ALL_CONTEXTS,
        NU,
        Context,
        ContextShares,
        Model,
        Query,
        Settings,
        WeightedQuery,
        check_at_most_one,
        context_shares,
    )
    from esr.models.static_scores import Form, Prior
    from esr.plans.plan import Affine, HasQuote, Mixture, PlanTerm, Saturation, Smoothing, Statistics
    from esr.ranking.answers import best_of_documents, require_record
    from esr.ranking.boosts import Boost, BoostQuery, Expansion, weight_parameter
    from esr.ranking.prepared_query import score_given
    from esr.ranking.ranking import Ranking
    from esr.ranking.searcher import UnsearchableQuery
    from esr.registry import INNER_TENTHS, TENTHS, Parameter
    from esr.stdlib import hash64
    from esr.text.addresses import web_url
    from esr.text.document import Annotation, Document, Sentence
    from esr.text.validate import InvalidDocument, build_document
    from esr.text.written_dates import to_iso_date

__all__ = [
    "ALL_CONTEXTS",
    "BACKGROUND",
    "FILE",
    "INNER_TENTHS",
    "MAX_DOCUMENT_BYTES",
    "MAX_FEED_BYTES",
    "MAX_PAGE_BYTES",
    "MAX_PEAKS",
    "NO_FILTERS",
    "NU",
    "PEAKS",
    "SETTLED_SECONDS",
    "TENTHS",
    "Affine",
    "Annotation",
    "Argument",
    "Article",
    "Boost",
    "BoostQuery",
    "Context",
    "ContextShares",
    "Document",
    "EncoderDescription",
    "EsrError",
    "Expansion",
    "Feature",
    "FeatureInput",
    "FetchReport",
    "Fetcher",
    "FileFilter",
    "Form",
    "Format",
    "HasQuote",
    "Index",
    "InputError",
    "Interval",
    "InvalidDocument",
    "Malformed",
    "Mixture",
    "Model",
    "NoArticle",
    "NotFound",
    "Operation",
    "Page",
    "PageContent",
    "Parameter",
    "PlanTerm",
    "Plugin",
    "PluginError",
    "PluginWarning",
    "Prior",
    "Query",
    "Ranking",
    "Record",
    "Remark",
    "Request",
    "Saturation",
    "SearchOptions",
    "Sentence",
    "Settings",
    "Skipped",
    "Smoothing",
    "Source",
    "Statistics",
    "SyncSource",
    "UnsearchableQuery",
    "UsageError",
    "Values",
    "WeightedQuery",
    "best_of_documents",
    "build_document",
    "check_at_most_one",
    "check_names",
    "cite",
    "context_shares",
    "count_periods",
    "element_name",
    "element_text",
    "extract_article",
    "find_elements",
    "hash64",
    "index_option",
    "is_feed",
    "is_hidden",
    "iterate_elements",
    "make_id",
    "make_id_from_path",
    "missing_package",
    "mu_parameter",
    "name_of",
    "questions",
    "ranking_options",
    "read_chunks",
    "read_feed",
    "read_lines",
    "read_search_options",
    "read_state",
    "redact",
    "register",
    "require",
    "require_record",
    "score_given",
    "to_iso_date",
    "to_one_line",
    "unknown",
    "unregister",
    "web_url",
    "weight_parameter",
    "weighted_terms",
    "write_file",
    "write_state",
]
_MODULES = {
    "esr.cli.options": "index_option=index",
    "esr.encoders.description": "EncoderDescription",
    "esr.features.feature": "Feature FeatureInput Values",
    "esr.library.public_index": "Index",
    "esr.loaders.encoding": "read_chunks read_lines",
    "esr.loaders.fetching": "SETTLED_SECONDS FetchReport Fetcher SyncSource read_state write_file "
    "write_state",
    "esr.loaders.format": "Format Malformed Record Remark Skipped Source",
    "esr.loaders.ids": "make_id make_id_from_path",
    "esr.models.language_models": "BACKGROUND mu_parameter weighted_terms",
    "esr.models.model": "ALL_CONTEXTS NU Context ContextShares Model Query Settings WeightedQuery "
    "check_at_most_one context_shares",
    "esr.models.static_scores": "Form Prior",
    "esr.plans.plan": "Affine Mixture PlanTerm Saturation Smoothing Statistics",
    "esr.ranking.boosts": "Boost BoostQuery Expansion weight_parameter",
    "esr.registry": "INNER_TENTHS TENTHS Parameter",
    "esr.text.written_dates": "to_iso_date",
    "esr.text.document": "Annotation Document Sentence",
}
"""The names of other modules. A module is imported when one of its names is first used."""
_PROVISIONAL = {
    "esr.cli.options": "FILE",
    "esr.loaders.encoding": "MAX_DOCUMENT_BYTES",
    "esr.loaders.feed": "MAX_FEED_BYTES is_feed read_feed=read",
    "esr.loaders.files": "FileFilter is_hidden",
    "esr.loaders.markup": "element_name=local_name element_text=to_line find_elements=find_all "
    "iterate_elements",
    "esr.loaders.page": "MAX_PAGE_BYTES NoArticle extract_article",
    "esr.stdlib": "hash64",
    "esr.text.validate": "InvalidDocument build_document",
    "esr.cli.ranking_options": "ranking_options",
    "esr.errors": "to_one_line unknown",
    "esr.extras": "missing_package=missing require",
    "esr.following.exports": "Article cite",
    "esr.following.timeline": "MAX_PEAKS PEAKS Interval count_periods name_of",
    "esr.index.filters": "NO_FILTERS",
    "esr.index.login_variables": "redact",
    "esr.index.view": "questions",
    "esr.library.options": "SearchOptions check_names read_search_options",
    "esr.plans.plan": "HasQuote",
    "esr.ranking.answers": "best_of_documents require_record",
    "esr.ranking.prepared_query": "score_given",
    "esr.ranking.ranking": "Ranking",
    "esr.ranking.searcher": "UnsearchableQuery",
    "esr.text.addresses": "web_url",
}
"""The same, for names that only plug-ins of esr itself have needed so far."""
PROVISIONAL = frozenset(pair.partition("=")[0] for names in _PROVISIONAL.values() for pair in names.split())
"""The names that a minor version may change at once (docs/plugins.md)."""


class Plugin(Declarations, frozen=True, kw_only=True):
    """What a package adds to esr: items by name, each as the object itself or as "module:attribute".

    The name of an item is also that of its object. Names must differ from those of esr and of other plug-ins.
    A `form` is how a feature adjusts scores. A model, prior, form or boost is data that both engines execute.
    """

    models: Mapping[str, Model | str] = field(default_factory=dict)
    priors: Mapping[str, Prior | str] = field(default_factory=dict)
    forms: Mapping[str, Form | str] = field(default_factory=dict)
    boosts: Mapping[str, Boost | str] = field(default_factory=dict)
    features: Mapping[str, Feature | str] = field(default_factory=dict)
    formats: Mapping[str, Format | str] = field(default_factory=dict)
    sources: Mapping[str, SyncSource | str] = field(default_factory=dict)
    encoders: Mapping[str, EncoderDescription | str] = field(default_factory=dict)
    commands: Mapping[str, click.Command | str] = field(default_factory=dict)
    pages: Mapping[str, Page | str] = field(default_factory=dict)
    operations: Mapping[str, Operation | str] = field(default_factory=dict)


def register(plugin: Plugin) -> None:
    """Use a plug-in in this process only, without an entry point: for programs, notebooks and tests.

    Call it before the page is imported. Processes that esr starts do not see it.
    """
    PLUGINS.register(plugin)


def unregister(plugin: Plugin) -> None:
    """Stop using a plug-in that `register` added."""
    PLUGINS.unregister(plugin)


# Pages and operations of the API


class Argument(Struct, frozen=True, kw_only=True):
    """An argument of an address, such as `words` in /plugins/shares?words=5.

    `kind`: a text, a whole number, any number, or one of `choices`. Numbers are from `low` to `high`. An
    argument that `is_repeatable` is a list of its values; without any, it is empty.
    """

    name: str
    help: str
    kind: Literal["text", "whole", "number", "choice"] = "text"
    default: str | float | None = None
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    is_required: bool = False
    is_repeatable: bool = False


class Request:
    """A request for a page or an operation.

    `arguments` has the value of each argument: the default, or None, if the address has none.
    """

    def __init__(self, open_index: Callable[[], Index], arguments: Mapping[str, Any]) -> None:
        self._open_index = open_index
        self.arguments = arguments

    @property
    def index(self) -> Index:
        """The index that the request names, as far as its sender may see it. It is only read.

        Its first use waits for a slot of the server. From then on, the request has the deadline of searches.
        """
        return self._open_index()


class PageContent(Struct, frozen=True):
    """What a page shows between the head and the foot of all pages.

    `template` is a text of Jinja, which escapes `values`. Scripts and styles in it are not executed.
    """

    title: str
    template: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Page(Struct, frozen=True):
    """A page at /plugins/NAME. Logins, rights, rate limits and deadlines are those of all pages.

    `title` is that of the link on each page; without a title, there is no link. Every page also has the
    arguments `q`, which may be empty, and `index`, which chooses the index. Errors that are EsrErrors are
    shown to the reader.
    """

    name: str
    answer: Callable[[Request], PageContent]
    title: str = ""
    arguments: tuple[Argument, ...] = ()


class Operation(Struct, frozen=True):
    """An operation of the API, GET /api/v1/plugins/NAME. It returns what JSON can hold.

    `schema` is the JSON Schema of the answer, for the OpenAPI document. Like pages, it has the arguments `q`
    and `index`.
    """

    name: str
    description: str
    answer: Callable[[Request], Any]
    schema: Mapping[str, Any]
    arguments: tuple[Argument, ...] = ()


if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

        for module, names in (*_MODULES.items(), *_PROVISIONAL.items()):
            for own_name, _, other_name in (pair.partition("=") for pair in names.split()):
                if own_name == name:
                    value = globals()[name] = getattr(import_module(module), other_name or name)
                    return value
        raise AttributeError(f"module 'esr.plugin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
