"""Rendering of pages: the form and the links of every page, the filters of templates, and highlighting."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from flask import Flask, Response, current_app, redirect, render_template, request
from jinja2.runtime import Context
from jinja2.utils import internalcode
from markupsafe import Markup, escape
from werkzeug.wrappers import Response as Redirect

from esr.arguments.tables.rankings import VERSUS
from esr.dependency.explanation import Relation, TermSet
from esr.errors import EsrError
from esr.index.filters import NO_FILTERS
from esr.index.questions import Features, HasParses, MainEncoder, NamesWithPrefix
from esr.models.adjustments import BUILTIN_FEATURES
from esr.plans.plan import HasQuote
from esr.ranking import answers
from esr.ranking.ranking import DEFAULT, choose_ranking
from esr.text.addresses import web_url
from esr.text.analyzer import Analyzer
from esr.text.attributes import flat_metadata
from esr.text.scripts import is_language_tag, text_direction
from esr.text.sentence_enrichment import PARSE, VECTORS
from esr.text.term_spans import find_spans
from esr.wording import count, shorten_title
from webui.arguments import rankings
from webui.arguments.form import VIEW, build_form, clean_arguments, shorten
from webui.arguments.links import Links, change_arguments, end_of, path_to
from webui.arguments.request import split_pairs
from webui.pages.wording import (
    is_full_date,
    name_weekday,
    write_copies,
    write_day,
    write_day_month,
    write_month,
    write_place,
)
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import Language, _, current_language, number

WHOLE = "whole"
"""Member of the views if the sender may see the whole index, over which some views count."""
_VIEWS_SECONDS, _MOST_VIEWS = 60, 100
"""Seconds for which the views of an index are cached, and the maximum number of cache entries."""
_KEPT_VIEWS = frozenset({"timeline", "concordance", "names", "quotations", "collocations", "frequencies"})
"""Endpoints of views that also show the query of a form submitted on them."""
_WITHOUT_QUERY = frozenset({"names", "quotations"})
"""The members of _KEPT_VIEWS that need no query."""


class CallingContext(Context):
    """Calls the functions in templates without checking whether they take the context: none does."""

    @internalcode
    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        # Only functions that take the context get these.
        kwargs.pop("_block_vars", None)
        kwargs.pop("_loop_vars", None)
        return function(*args, **kwargs)


class PageRenderer:
    """Renders the pages, including the form and the links of each."""

    def __init__(self, settings: Settings, indexes: ServedIndexes) -> None:
        self.settings = settings
        self.indexes = indexes
        self._views: dict[tuple[str, str], tuple[float, frozenset[str]]] = {}
        """By index and visible part: the time of the last lookup, and the views found."""

    def __call__(
        self, visit: Visit | None, template: str, *, searched: str | None = None, **values: Any
    ) -> Response:
        """A page. Error pages have no visit, since a failing engine must not be called again.

        `searched`: the query that takes the place of that of the address, in the form and in links.
        """
        arguments = clean_arguments(request.query_string, self.settings)
        if searched is not None and dict(arguments).get("q") != searched:
            arguments = change_arguments(arguments, q=searched)
        features = _index_features(visit) if visit else ()
        stored = _stored_parts(visit) if visit else ()
        is_comparison = request.endpoint == "compare"
        without_versus = [pair for pair in arguments if not pair[0].startswith(VERSUS)]
        html = render_template(
            template,
            form=build_form(arguments, self.settings, features, stored, _default_label(visit)),
            versus=rankings.ranking_controls(arguments, features, VERSUS, stored) if is_comparison else None,
            links=Links(arguments if is_comparison else without_versus),
            presets=rankings.available_presets([*BUILTIN_FEATURES, *features, *stored]),
            views=self._find_views(visit) if visit else (),
            settings=self.settings,
            index_names=self.indexes.visible_names,
            render_controls=render_controls,
            **values,
        )
        # UTF-8 cannot encode lone surrogates: they become question marks.
        return Response(html.encode("utf-8", "replace"), mimetype="text/html")

    def forget_views(self) -> None:
        """Look up the views again, since an index has changed."""
        self._views.clear()

    def _find_views(self, visit: Visit) -> Collection[str]:
        """The optional views that the index has data for and the sender may see; empty if unknown."""
        try:
            index = visit.searcher.index
            key, now = (index.where, self.indexes.guard.part), time.monotonic()
            since, views = self._views.get(key, (-math.inf, frozenset()))
            if now - since > _VIEWS_SECONDS:
                has_data = {
                    "names": bool(index.vocabulary(NamesWithPrefix("", 1))),
                    "quotes": any(index.count([HasQuote()], NO_FILTERS)),
                    WHOLE: not self.indexes.guard.part,
                }
                views = frozenset(name for name, has_any in has_data.items() if has_any)
                if len(self._views) >= _MOST_VIEWS:
                    self._views.clear()
                self._views[key] = now, views
        except EsrError:
            return ()
        return views

    def redirect_form(self, endpoint: str) -> Redirect | None:
        """Redirect a submitted form to its short address, and a search without a query to the first page.

        A form submitted on a view redirects to this view. Returns None if no redirection is needed.
        """
        pairs = split_pairs(request.query_string, self.settings)
        short = shorten(pairs, self.settings, self.indexes.visible_names[0])
        has_query = any(name == "q" and value.strip() for name, value in pairs)
        if short is None and has_query:
            return None
        arguments = pairs if short is None else short
        view = dict(pairs).get(VIEW) if short is not None else None
        if view in _KEPT_VIEWS and (has_query or view in _WITHOUT_QUERY):
            return redirect(Links(arguments).without("arrangement", view))
        if has_query:
            return redirect(Links(arguments).to(endpoint))
        return redirect(Links([pair for pair in arguments if pair[1].strip()]).to("home"))


def _index_features(visit: Visit) -> Sequence[str]:
    """The features that the form offers; empty if the engine does not answer."""
    try:
        return visit.searcher.index.status(Features())
    except EsrError:
        return ()


def _default_label(visit: Visit | None) -> str:
    """The label of the ranking of searches that name none."""
    try:
        ranking = choose_ranking(DEFAULT, visit.searcher.index, 0) if visit else DEFAULT
    except EsrError:
        ranking = DEFAULT
    return rankings.ranking_label(ranking) or rankings.WORDS


def _stored_parts(visit: Visit) -> Sequence[str]:
    """The stored parts of enrichment that some rankings need; empty if the engine does not answer."""
    try:
        index = visit.searcher.index
        has_parts = {PARSE: index.status(HasParses()), VECTORS: index.status(MainEncoder()) is not None}
    except EsrError:
        return ()
    return [part for part, has_part in has_parts.items() if has_part]


def render_controls(controls: rankings.RankingControls, title: str) -> Markup:
    """The controls of a ranking as HTML. Cached: they are half of a page's markup, and most are equal."""
    return _render_controls(controls, title, current_language())


@lru_cache(rankings.CACHED_RANKINGS)
def _render_controls(controls: rankings.RankingControls, title: str, language: Language) -> Markup:
    template: Any = current_app.jinja_env.get_template("ranking.html")
    return Markup(template.module.ranking(controls, title))  # nosec B704  # a template has escaped it


# Filters of templates. Some cache their results, since sources, dates and languages recur.

_REMEMBERED = 4096


def install_filters(app: Flask) -> None:
    """Add filters, tests and global functions to the templates of the application."""
    app.jinja_env.filters.update(
        web_url=web_url,
        end_of=end_of,
        day=write_day,
        describe_place=write_place,
        month=write_month,
        weekday=name_weekday,
        model_default=translate_default,
        copy_text=write_copies,
        day_month=write_day_month,
        term_set=describe_term_set,
        split_end=split_end,
        text_attributes=text_attributes,
        shorten_title=shorten_title,
        lang_attribute=lang_attribute,
        duration=duration,
        score=score,
        plain_number=rankings.plain_number,
        without_remarks=without_remarks,
        short_number=short_number,
        nonzero_features=nonzero_features,
        first_phrase=rankings.first_phrase,
        signed=signed,
        finite=math.isfinite,
        metadata_rows=metadata_rows,
    )
    app.jinja_env.context_class = CallingContext
    app.jinja_env.tests["full_date"] = is_full_date
    app.jinja_env.globals.update(
        words_alone=rankings.preset_arguments(rankings.WORDS),
        count=count,
        record=answers.require_record,
        path_to=path_to,
        kept_views=_KEPT_VIEWS,
    )


def metadata_rows(metadata: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Each key of the metadata with its values as texts. Keys of nested objects are joined."""
    return list(flat_metadata(metadata).items())


@lru_cache(_REMEMBERED)
def lang_attribute(language: str | None) -> Markup:
    """The attribute `lang` for a text in a document's language.

    It is empty, as HTML prescribes, if the language is unknown. Without the attribute, the text would inherit
    the language of the page, English.
    """
    return Markup(' lang="{}"').format(language if is_language_tag(language) else "")


@lru_cache(_REMEMBERED)
def text_attributes(language: str | None) -> Markup:
    """The attributes `lang` and `dir` for a text in a document's language.

    The direction is that of the language. dir="auto" would use the first letter, so an Arabic sentence that
    begins with a Latin name would run from left to right.
    """
    return lang_attribute(language) + Markup(' dir="{}"').format(text_direction(language))


def translate_default(label: str) -> str:
    """The label of the default of a model, such as "the model's default (both)"."""
    name = label.partition("(")[2].removesuffix(")")
    return _("the model's default (%(name)s)", name=_(name))


def duration(milliseconds: float) -> str:
    """A time for readers: under 1 ms, 12 ms, 1.4 s."""
    if milliseconds < 1:
        return _("under 1 ms")
    if milliseconds < 1000:
        return _("%(number)s ms", number=number(milliseconds))
    return _("%(number)s s", number=number(milliseconds / 1000, 1))


def score(value: float) -> str:
    """A score to three decimal places, with a proper minus sign."""
    return f"{value:z.3f}".replace("-", "−")


def signed(value: float) -> str:
    """A part of a score to three decimal places, with its sign; a dash if it is not finite."""
    return f"{value:+.3f}".replace("-", "−") if math.isfinite(value) else "–"


def short_number(value: float) -> str:
    """A number to two decimal places, without trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def nonzero_features(features: Mapping[str, float]) -> dict[str, str]:
    """The non-zero features of a sentence, as texts."""
    return {name: short_number(value) for name, value in features.items() if value}


def without_remarks(description: str) -> str:
    """A description without the remarks in brackets or after a semicolon."""
    return re.split(r" \((?=[a-z ]{4})|;", description, maxsplit=1)[0]


# Highlighting


class Highlighter:
    """Escapes texts and marks the words whose term is in the query.

    Terms come from the index's analyzer, so words with the same stem are marked too. No other function
    converts the text of a document to markup.
    """

    def __init__(self, analyzer: Analyzer, terms: Iterable[str]) -> None:
        self._analyzer = analyzer
        self._terms = frozenset(terms)
        self._marked: dict[str, str] = {}

    def __call__(self, text: str) -> Markup:
        """The text as HTML. The text between two chunks with a term is escaped in one piece."""
        chunks = text.split(" ")
        pieces: list[str] = []
        done = 0
        has_none = map(self._terms.isdisjoint, self._analyzer.terms_of_chunks(chunks))
        for n in [n for n, is_plain in enumerate(has_none) if not is_plain]:
            pieces += [escape(" ".join(chunks[done:n]))] if n > done else []
            chunk = chunks[n]
            pieces.append(self._marked.get(chunk) or self._marked.setdefault(chunk, self._mark(chunk)))
            done = n + 1
        pieces += [escape(" ".join(chunks[done:]))] if done < len(chunks) else []
        return Markup(" ".join(pieces))  # nosec B704  # each piece is escaped

    def _mark(self, chunk: str) -> str:
        """The chunk as HTML. Each piece is escaped before its word is wrapped in a mark."""
        pieces: list[str] = []
        done = 0
        for start, end in find_spans(chunk, self._analyzer.tokens(chunk), self._terms):
            pieces += escape(chunk[done:start]), "<mark>", escape(chunk[start:end]), "</mark>"
            done = end
        return "".join([*pieces, escape(chunk[done:])])


SENTENCE_WORDS = 60
"""Words of a matched sentence that are always shown."""
_AFTER_MARK = 10
"""Words shown after the first mark if it is beyond these."""


def split_end(shown: Markup) -> tuple[Markup, Markup]:
    """A sentence in two parts: what is always shown, and an end that is hidden until the context is opened.

    The beginning is never hidden, since a sentence without it may say the opposite. Only an end beyond
    SENTENCE_WORDS is, and never the first mark.
    """
    words = shown.split(" ")
    first = next((place for place, word in enumerate(words) if "<mark>" in word), 0)
    number = max(SENTENCE_WORDS, first + 1 + _AFTER_MARK)
    if len(words) <= number + _AFTER_MARK:  # a few words more take no more space than the sign for them
        return shown, Markup()
    space = Markup(" ")
    return space.join(words[:number]), space + space.join(words[number:])


def describe_term_set(part: TermSet | Relation) -> str:
    """A set of query terms that added to the score, in a few words."""
    kind = "" if isinstance(part, TermSet) else f"{part.potential}: "
    distance = "alone" if len(part.terms) == 1 else f"{part.distance:g} apart"
    height = "" if isinstance(part, TermSet) else f", height {part.height:g}"
    return f"{kind}{' + '.join(part.terms)}, {distance}{height}"
