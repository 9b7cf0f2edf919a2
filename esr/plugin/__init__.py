"""What plug-ins are made of: the public, stable interface for packages that extend esr.

A package announces its `Plugin` by an entry point of the group `esr.plugins`. docs/plugins.md says how, and
what this module promises. Names are imported when they are first used, so that importing this module takes no
time: a plug-in should name its items as "module:attribute", and import nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

from esr.errors import EsrError, InputError, NotFound, UsageError
from esr.installed_plugins import PLUGINS, Declarations, PluginError, PluginWarning

if TYPE_CHECKING:
    import click

    from esr.cli.options import index as index_option
    from esr.encoders.description import EncoderDescription
    from esr.errors import to_one_line
    from esr.features.feature import Feature, FeatureInput, Values
    from esr.library.public_index import Index
    from esr.loaders.document_ids import make_id, make_id_from_content, make_id_from_path
    from esr.loaders.encoding import MAX_DOCUMENT_BYTES, read_chunks, read_lines, too_long_error
    from esr.loaders.fetching import (
        SETTLED_SECONDS,
        Fetcher,
        FetchReport,
        SyncSource,
        read_state,
        write_file,
        write_state,
    )
    from esr.loaders.fields import read_list
    from esr.loaders.files import open_seekable
    from esr.loaders.format import Format, Malformed, ReadResult, Record, Remark, Skipped, Source
    from esr.loaders.refinement import Refinement, refine_lines, refine_page
    from esr.models.forms import Form
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
    from esr.models.priors import Prior
    from esr.plans.plan import Affine, Mixture, PlanTerm, Saturation, Smoothing, Statistics
    from esr.ranking.boosts import Boost, BoostQuery, Expansion, weight_parameter
    from esr.registry import INNER_TENTHS, TENTHS, Parameter
    from esr.text.document import Document, Sentence
    from esr.text.languages import find_language
    from esr.text.placed_text import PAGE, SECOND, join_pieces
    from esr.text.sentence_enrichment import Annotation
    from esr.text.written_dates import to_iso_date


__all__ = [
    "ALL_CONTEXTS",
    "BACKGROUND",
    "INNER_TENTHS",
    "MAX_DOCUMENT_BYTES",
    "NU",
    "PAGE",
    "SECOND",
    "SETTLED_SECONDS",
    "TENTHS",
    "Affine",
    "Annotation",
    "Argument",
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
    "Form",
    "Format",
    "Index",
    "InputError",
    "Malformed",
    "Mixture",
    "Model",
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
    "ReadResult",
    "Record",
    "Refinement",
    "Remark",
    "Request",
    "Saturation",
    "Sentence",
    "Settings",
    "Skipped",
    "Smoothing",
    "Source",
    "Statistics",
    "SyncSource",
    "UsageError",
    "Values",
    "WeightedQuery",
    "check_at_most_one",
    "context_shares",
    "find_language",
    "index_option",
    "join_pieces",
    "make_id",
    "make_id_from_content",
    "make_id_from_path",
    "mu_parameter",
    "open_seekable",
    "read_chunks",
    "read_lines",
    "read_list",
    "read_state",
    "refine_lines",
    "refine_page",
    "register",
    "to_iso_date",
    "to_one_line",
    "too_long_error",
    "unregister",
    "weight_parameter",
    "weighted_terms",
    "write_file",
    "write_state",
]
_MODULES = {
    "esr.cli.options": "index_option=index",
    "esr.encoders.description": "EncoderDescription",
    "esr.errors": "to_one_line",
    "esr.features.feature": "Feature FeatureInput Values",
    "esr.library.public_index": "Index",
    "esr.loaders.encoding": "MAX_DOCUMENT_BYTES read_chunks read_lines too_long_error",
    "esr.loaders.fetching": "SETTLED_SECONDS FetchReport Fetcher SyncSource read_state write_file "
    "write_state",
    "esr.loaders.fields": "read_list",
    "esr.loaders.files": "open_seekable",
    "esr.loaders.format": "Format Malformed ReadResult Record Remark Skipped Source",
    "esr.loaders.document_ids": "make_id make_id_from_content make_id_from_path",
    "esr.loaders.refinement": "Refinement refine_lines refine_page",
    "esr.models.language_models": "BACKGROUND mu_parameter weighted_terms",
    "esr.models.model": "ALL_CONTEXTS NU Context ContextShares Model Query Settings WeightedQuery "
    "check_at_most_one context_shares",
    "esr.models.forms": "Form",
    "esr.models.priors": "Prior",
    "esr.plans.plan": "Affine Mixture PlanTerm Saturation Smoothing Statistics",
    "esr.ranking.boosts": "Boost BoostQuery Expansion weight_parameter",
    "esr.registry": "INNER_TENTHS TENTHS Parameter",
    "esr.text.document": "Document Sentence",
    "esr.text.languages": "find_language",
    "esr.text.placed_text": "PAGE SECOND join_pieces",
    "esr.text.sentence_enrichment": "Annotation",
    "esr.text.written_dates": "to_iso_date",
}
"""The names of other modules. A module is imported when one of its names is first used."""


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
    refinements: Mapping[str, Refinement | str] = field(default_factory=dict)
    sources: Mapping[str, SyncSource | str] = field(default_factory=dict)
    encoders: Mapping[str, EncoderDescription | str] = field(default_factory=dict)
    commands: Mapping[str, click.Command | str] = field(default_factory=dict)
    pages: Mapping[str, Page | str] = field(default_factory=dict)
    operations: Mapping[str, Operation | str] = field(default_factory=dict)


def register(plugin: Plugin) -> None:
    """Use a plug-in in this process only, without an entry point: for programs, notebooks and tests.

    Call it before the page is imported. Processes that esr starts do not see it. Raises UsageError for
    anything that is not a Plugin.
    """
    PLUGINS.register(plugin)


def unregister(plugin: Plugin) -> None:
    """Stop using a plug-in that `register` added. Nothing happens if it is not in use."""
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


def import_name(owner: str, modules: Mapping[str, str], name: str) -> Any:
    """A name of the module `owner`, imported from the one of `modules` that has it. Raises AttributeError.

    `a=b` in the names of a module means its name `b` under the name `a`. A name may be that of a submodule.
    """
    for module, names in modules.items():
        for alias, _, original in (pair.partition("=") for pair in names.split()):
            if alias == name:
                imported = import_module(module)
                attribute = original or name
                if not hasattr(imported, attribute):
                    return import_module(f"{module}.{attribute}")
                return getattr(imported, attribute)
    raise AttributeError(f"module {owner!r} has no attribute {name!r}")


if not TYPE_CHECKING:

    def __getattr__(name):
        value = globals()[name] = import_name(__name__, _MODULES, name)
        return value


def __dir__() -> list[str]:
    return __all__
