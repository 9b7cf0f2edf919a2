"""Names that only the plug-ins of esr itself have needed so far, without a promise: see docs/plugins.md.

A minor version may change them at once. Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from esr.plugin import import_name

if TYPE_CHECKING:
    from esr.arguments import types as argument_types
    from esr.arguments.argument import Argument as ArgumentRow
    from esr.arguments.tables.commands import COMMANDS
    from esr.arguments.tables.common import QUERY
    from esr.arguments.tables.table import TABLE, tool_arguments
    from esr.arguments.types import UsualLimits
    from esr.cli.arguments import add_arguments, build_option, collect_options
    from esr.cli.listings import print_entries
    from esr.cli.options import as_json as as_json_option
    from esr.cli.options import optional_index as optional_index_option
    from esr.cli.options import read_standard_input
    from esr.cli.output import (
        check_output,
        data_format_option,
        note_unknown,
        open_output,
        print_answer,
        write_table,
    )
    from esr.cli.ranking_options import ReadQuery, filter_options, query_argument, ranking_options
    from esr.deprecation import find_moved
    from esr.encoders.cross_encoder import shorten_name
    from esr.encoders.loaded_models import load_cross_encoder
    from esr.enrichment.quotations.marks import JoinedText, pair_marks
    from esr.enrichment.quotations.speakers import is_pronoun, is_title
    from esr.errors import unknown
    from esr.extras import missing as missing_package
    from esr.extras import require
    from esr.features import FEATURES
    from esr.following.exports import Article, cite
    from esr.following.overlap import find_overlaps, group_repeats
    from esr.following.timeline import Interval, count_periods, name_of, period_of
    from esr.index import questions
    from esr.index.contract import Index as EngineIndex
    from esr.index.contract import check_sentences
    from esr.index.copies import CopyGroup
    from esr.index.factory import open_writer
    from esr.index.filters import NO_FILTERS, Filters, find_meant, find_unknown_filters, resolve_speaker
    from esr.index.hits import (
        EVIDENCE_COLUMNS,
        CandidateEvidence,
        Hit,
        LazyIds,
        SearchResult,
        SentenceRecord,
        SentenceTexts,
        WindowSentence,
        WordNumbers,
    )
    from esr.index.limits import DEFAULT_CACHE_LIMIT
    from esr.index.login_variables import redact
    from esr.index.names import Name, NameKey, name_key, parse_name_filter
    from esr.index.questions import (
        ByDay,
        ByField,
        ByName,
        ByTerm,
        ByValue,
        DayCounts,
        EvidenceOf,
        Features,
        HasParses,
        Hits,
        NameForms,
        Names,
        NameUnit,
        Quotes,
        Records,
        SimilarWords,
        TermsBy,
        Texts,
        Windows,
        WordCounts,
        WrittenForms,
    )
    from esr.index.questions import Values as StoredValues
    from esr.index.view import chosen_language
    from esr.index.writer import LoadOptions
    from esr.library.options import SearchOptions, check_names, read_search_options
    from esr.loaders import html_tree, markup
    from esr.loaders.adapter import EMBARGO_REASON, is_embargoed
    from esr.loaders.encoding import decode_cell
    from esr.loaders.feed import MAX_FEED_BYTES, is_feed
    from esr.loaders.feed import read as read_feed
    from esr.loaders.fields import is_in_field
    from esr.loaders.files import DEFAULT_LIMITS, Budget, ExpansionError, FileFilter, is_hidden
    from esr.loaders.format import WITHDRAWN, WITHDRAWN_STATUSES
    from esr.loaders.html_page import extract_article
    from esr.loaders.ir_datasets import is_dataset, read_entries
    from esr.loaders.reader import read_documents
    from esr.models import MODELS
    from esr.models.adjustments import BUILTIN_FEATURES, Adjustment, feature_column
    from esr.models.curves import fit_curve
    from esr.models.forms import FORMS, get_form
    from esr.models.language_models import MU_GRID
    from esr.models.model import get as get_model
    from esr.models.tfidf_models import rarity
    from esr.plans.evaluate import (
        Array,
        Evidence,
        GroupedEvidence,
        add_static_scores,
        apply_static_score,
        concatenate,
        no_evidence,
        score_sentences,
        top_k,
    )
    from esr.plans.plan import (
        FIELDS,
        AllOf,
        CandidateRule,
        CollectionStatistics,
        Condition,
        Curve,
        HasEntity,
        HasQuote,
        HasTerm,
        HasWords,
        Not,
        Plan,
        SaidBy,
        StaticScore,
        TermStatistics,
        all_of,
        any_of,
    )
    from esr.processes import defer_interrupt, end_with_parent, scratch_folder, set_at_end
    from esr.progress import count_topics, show_steps
    from esr.query import TEXT, Clause, Group, ParsedQuery, write_value
    from esr.query import literal as literal_query
    from esr.query import parse as parse_query
    from esr.ranking.answers import best_of_documents, hit_dict, require_record
    from esr.ranking.boosts import WEIGHT as BOOST_WEIGHT
    from esr.ranking.boosts import get as get_boost
    from esr.ranking.prepared_query import Answer, PreparedQuery, score_given, score_nearest
    from esr.ranking.query_report import count_matches
    from esr.ranking.ranking import DEFAULT as DEFAULT_RANKING
    from esr.ranking.ranking import SHIPPED, Ranking, choose_ranking, read_json
    from esr.ranking.searcher import Searcher, UnsearchableQuery, open_searcher
    from esr.ranking.second_stage.query_encoder import ENTAILMENT_VARIABLE
    from esr.ranking.second_stage.regression_trees import (
        RegressionTree,
        TreeEnsemble,
        relative_to_best,
        trees_from_dict,
    )
    from esr.ranking.second_stage.rerank_context import RerankContext
    from esr.ranking.second_stage.reranker import Reranker, merge_scores
    from esr.ranking.second_stage.signal_types import FEATURE, PRIOR, signal_types
    from esr.ranking.second_stage.signals import RankingSignal, signal_from_dict
    from esr.ranking.speakers import Speaker, find_form, suggest_speakers
    from esr.registry import Value
    from esr.stdlib import batched, cached_property, compile_lazily, hash64, import_lazily
    from esr.tables import Table, to_columns
    from esr.text.addresses import web_url
    from esr.text.analyzer import Analyzer, get_analyzer
    from esr.text.analyzer_definitions import BY_LANGUAGE, WORDS_ANALYZER
    from esr.text.dates import date_key
    from esr.text.document import CERTAIN, PROBABLE, Located, ParseWord, Quote
    from esr.text.placed_text import CONFIDENCE, PlacedText
    from esr.text.sentences import split_sentences
    from esr.text.splitting.printed_lines import find_uncut_words, join_lines
    from esr.text.term_spans import word_span
    from esr.text.validate import InvalidDocument, build_document
    from esr.text.written_dates import UnclearDate, read_date
    from esr.threads import Repeated, take_turns
    from esr.topics.lines import Line, line_error, malformed_line
    from esr.topics.lines import read_lines as read_topic_lines
    from esr.topics.restrictions import Restrictions, choose_restrictions, read_restrictions
    from esr.topics.runs import (
        Scores,
        check_tag,
        display_names,
        format_lines,
        read_run,
        remove_duplicates,
        sort_sentences,
    )
    from esr.topics.topic import TITLE, Topic, split_fields
    from esr.topics.topic_files import read_topic_kinds, read_topics
    from esr.wording import align_columns, count, flatten_row, list_examples, remove_non_xml, table_lines
    from esr.worker_processes import SPAWN, open_pools, translate_death


__all__ = [
    "BOOST_WEIGHT",
    "BUILTIN_FEATURES",
    "BY_LANGUAGE",
    "CERTAIN",
    "COMMANDS",
    "CONFIDENCE",
    "DEFAULT_CACHE_LIMIT",
    "DEFAULT_LIMITS",
    "DEFAULT_RANKING",
    "EMBARGO_REASON",
    "ENTAILMENT_VARIABLE",
    "EVIDENCE_COLUMNS",
    "FEATURE",
    "FEATURES",
    "FIELDS",
    "FORMS",
    "MAX_FEED_BYTES",
    "MODELS",
    "MU_GRID",
    "NO_FILTERS",
    "PRIOR",
    "PROBABLE",
    "QUERY",
    "SHIPPED",
    "SPAWN",
    "TABLE",
    "TEXT",
    "TITLE",
    "WITHDRAWN",
    "WITHDRAWN_STATUSES",
    "WORDS_ANALYZER",
    "Adjustment",
    "AllOf",
    "Analyzer",
    "Answer",
    "ArgumentRow",
    "Array",
    "Article",
    "Budget",
    "ByDay",
    "ByField",
    "ByName",
    "ByTerm",
    "ByValue",
    "CandidateEvidence",
    "CandidateRule",
    "Clause",
    "CollectionStatistics",
    "Condition",
    "CopyGroup",
    "Curve",
    "DayCounts",
    "EngineIndex",
    "Evidence",
    "EvidenceOf",
    "ExpansionError",
    "Features",
    "FileFilter",
    "Filters",
    "Group",
    "GroupedEvidence",
    "HasEntity",
    "HasParses",
    "HasQuote",
    "HasTerm",
    "HasWords",
    "Hit",
    "Hits",
    "Interval",
    "InvalidDocument",
    "JoinedText",
    "LazyIds",
    "Line",
    "LoadOptions",
    "Located",
    "Name",
    "NameForms",
    "NameKey",
    "NameUnit",
    "Names",
    "Not",
    "ParseWord",
    "ParsedQuery",
    "PlacedText",
    "Plan",
    "PreparedQuery",
    "Quote",
    "Quotes",
    "Ranking",
    "RankingSignal",
    "ReadQuery",
    "Records",
    "RegressionTree",
    "Repeated",
    "RerankContext",
    "Reranker",
    "Restrictions",
    "SaidBy",
    "Scores",
    "SearchOptions",
    "SearchResult",
    "Searcher",
    "SentenceRecord",
    "SentenceTexts",
    "SimilarWords",
    "Speaker",
    "StaticScore",
    "StoredValues",
    "Table",
    "TermStatistics",
    "TermsBy",
    "Texts",
    "Topic",
    "TreeEnsemble",
    "UnclearDate",
    "UnsearchableQuery",
    "UsualLimits",
    "Value",
    "WindowSentence",
    "Windows",
    "WordCounts",
    "WordNumbers",
    "WrittenForms",
    "add_arguments",
    "add_static_scores",
    "align_columns",
    "all_of",
    "any_of",
    "apply_static_score",
    "argument_types",
    "as_json_option",
    "batched",
    "best_of_documents",
    "build_document",
    "build_option",
    "cached_property",
    "check_names",
    "check_output",
    "check_sentences",
    "check_tag",
    "choose_ranking",
    "choose_restrictions",
    "chosen_language",
    "cite",
    "collect_options",
    "compile_lazily",
    "concatenate",
    "count",
    "count_matches",
    "count_periods",
    "count_topics",
    "data_format_option",
    "date_key",
    "decode_cell",
    "defer_interrupt",
    "display_names",
    "end_with_parent",
    "extract_article",
    "feature_column",
    "filter_options",
    "find_form",
    "find_meant",
    "find_moved",
    "find_overlaps",
    "find_uncut_words",
    "find_unknown_filters",
    "fit_curve",
    "flatten_row",
    "format_lines",
    "get_analyzer",
    "get_boost",
    "get_form",
    "get_model",
    "group_repeats",
    "hash64",
    "hit_dict",
    "html_tree",
    "import_lazily",
    "is_dataset",
    "is_embargoed",
    "is_feed",
    "is_hidden",
    "is_in_field",
    "is_pronoun",
    "is_title",
    "join_lines",
    "line_error",
    "list_examples",
    "literal_query",
    "load_cross_encoder",
    "malformed_line",
    "markup",
    "merge_scores",
    "missing_package",
    "name_key",
    "name_of",
    "no_evidence",
    "note_unknown",
    "open_output",
    "open_pools",
    "open_searcher",
    "open_writer",
    "optional_index_option",
    "pair_marks",
    "parse_name_filter",
    "parse_query",
    "period_of",
    "print_answer",
    "print_entries",
    "query_argument",
    "questions",
    "ranking_options",
    "rarity",
    "read_date",
    "read_documents",
    "read_entries",
    "read_feed",
    "read_json",
    "read_restrictions",
    "read_run",
    "read_search_options",
    "read_standard_input",
    "read_topic_kinds",
    "read_topic_lines",
    "read_topics",
    "redact",
    "relative_to_best",
    "remove_duplicates",
    "remove_non_xml",
    "require",
    "require_record",
    "resolve_speaker",
    "score_given",
    "score_nearest",
    "score_sentences",
    "scratch_folder",
    "set_at_end",
    "shorten_name",
    "show_steps",
    "signal_from_dict",
    "signal_types",
    "sort_sentences",
    "split_fields",
    "split_sentences",
    "suggest_speakers",
    "table_lines",
    "take_turns",
    "to_columns",
    "tool_arguments",
    "top_k",
    "translate_death",
    "trees_from_dict",
    "unknown",
    "web_url",
    "word_span",
    "write_table",
    "write_value",
]
_MODULES = {
    "esr.arguments": "argument_types=types",
    "esr.arguments.argument": "ArgumentRow=Argument",
    "esr.arguments.tables.commands": "COMMANDS",
    "esr.arguments.tables.common": "QUERY",
    "esr.arguments.tables.table": "TABLE tool_arguments",
    "esr.arguments.types": "UsualLimits",
    "esr.cli.arguments": "add_arguments build_option collect_options",
    "esr.cli.listings": "print_entries",
    "esr.cli.options": "as_json_option=as_json optional_index_option=optional_index read_standard_input",
    "esr.cli.output": "check_output data_format_option note_unknown open_output print_answer write_table",
    "esr.cli.ranking_options": "ReadQuery filter_options query_argument ranking_options",
    "esr.deprecation": "find_moved",
    "esr.enrichment.quotations.marks": "JoinedText pair_marks",
    "esr.enrichment.quotations.speakers": "is_pronoun is_title",
    "esr.encoders.cross_encoder": "shorten_name",
    "esr.encoders.loaded_models": "load_cross_encoder",
    "esr.errors": "unknown",
    "esr.extras": "missing_package=missing require",
    "esr.features": "FEATURES",
    "esr.following.exports": "Article cite",
    "esr.following.overlap": "find_overlaps group_repeats",
    "esr.following.timeline": "Interval count_periods name_of period_of",
    "esr.index": "questions",
    "esr.index.contract": "EngineIndex=Index check_sentences",
    "esr.index.copies": "CopyGroup",
    "esr.index.factory": "open_writer",
    "esr.index.filters": "NO_FILTERS Filters find_meant find_unknown_filters resolve_speaker",
    "esr.index.hits": "EVIDENCE_COLUMNS CandidateEvidence Hit LazyIds SearchResult SentenceRecord "
    "SentenceTexts WindowSentence WordNumbers",
    "esr.index.limits": "DEFAULT_CACHE_LIMIT",
    "esr.index.login_variables": "redact",
    "esr.index.names": "Name NameKey name_key parse_name_filter",
    "esr.index.questions": "ByDay ByField ByName ByTerm ByValue DayCounts EvidenceOf Features "
    "HasParses Hits NameForms NameUnit Names Quotes Records SimilarWords StoredValues=Values "
    "TermsBy Texts Windows WordCounts WrittenForms",
    "esr.index.view": "chosen_language",
    "esr.index.writer": "LoadOptions",
    "esr.library.options": "SearchOptions check_names read_search_options",
    "esr.loaders": "html_tree markup",
    "esr.loaders.adapter": "EMBARGO_REASON is_embargoed",
    "esr.loaders.encoding": "decode_cell",
    "esr.loaders.feed": "MAX_FEED_BYTES is_feed read_feed=read",
    "esr.loaders.fields": "is_in_field",
    "esr.loaders.files": "DEFAULT_LIMITS Budget ExpansionError FileFilter is_hidden",
    "esr.loaders.format": "WITHDRAWN WITHDRAWN_STATUSES",
    "esr.loaders.ir_datasets": "is_dataset read_entries",
    "esr.loaders.html_page": "extract_article",
    "esr.loaders.reader": "read_documents",
    "esr.models": "MODELS",
    "esr.models.language_models": "MU_GRID",
    "esr.models.model": "get_model=get",
    "esr.models.adjustments": "BUILTIN_FEATURES Adjustment feature_column",
    "esr.models.curves": "fit_curve",
    "esr.models.forms": "FORMS get_form",
    "esr.models.tfidf_models": "rarity",
    "esr.plans.evaluate": "Array Evidence GroupedEvidence add_static_scores apply_static_score concatenate "
    "no_evidence score_sentences top_k",
    "esr.plans.plan": "FIELDS AllOf CandidateRule CollectionStatistics Condition Curve HasEntity "
    "HasQuote HasTerm HasWords Not Plan SaidBy StaticScore TermStatistics all_of any_of",
    "esr.processes": "defer_interrupt end_with_parent scratch_folder set_at_end",
    "esr.progress": "count_topics show_steps",
    "esr.query": "TEXT Clause Group ParsedQuery literal_query=literal parse_query=parse write_value",
    "esr.ranking.answers": "best_of_documents hit_dict require_record",
    "esr.ranking.boosts": "BOOST_WEIGHT=WEIGHT get_boost=get",
    "esr.ranking.prepared_query": "Answer PreparedQuery score_given score_nearest",
    "esr.ranking.query_report": "count_matches",
    "esr.ranking.speakers": "Speaker find_form suggest_speakers",
    "esr.ranking.ranking": "DEFAULT_RANKING=DEFAULT SHIPPED Ranking choose_ranking read_json",
    "esr.ranking.second_stage.query_encoder": "ENTAILMENT_VARIABLE",
    "esr.ranking.second_stage.regression_trees": "RegressionTree TreeEnsemble relative_to_best "
    "trees_from_dict",
    "esr.ranking.second_stage.rerank_context": "RerankContext",
    "esr.ranking.second_stage.reranker": "Reranker merge_scores",
    "esr.ranking.searcher": "Searcher UnsearchableQuery open_searcher",
    "esr.ranking.second_stage.signal_types": "FEATURE PRIOR signal_types",
    "esr.ranking.second_stage.signals": "RankingSignal signal_from_dict",
    "esr.registry": "Value",
    "esr.stdlib": "batched cached_property compile_lazily hash64 import_lazily",
    "esr.tables": "Table to_columns",
    "esr.text.addresses": "web_url",
    "esr.text.analyzer": "Analyzer get_analyzer",
    "esr.text.analyzer_definitions": "BY_LANGUAGE WORDS_ANALYZER",
    "esr.text.dates": "date_key",
    "esr.text.document": "CERTAIN PROBABLE Located ParseWord Quote",
    "esr.text.placed_text": "CONFIDENCE PlacedText",
    "esr.text.splitting.printed_lines": "find_uncut_words join_lines",
    "esr.text.sentences": "split_sentences",
    "esr.text.term_spans": "word_span",
    "esr.text.validate": "InvalidDocument build_document",
    "esr.text.written_dates": "UnclearDate read_date",
    "esr.topics.lines": "Line line_error malformed_line read_topic_lines=read_lines",
    "esr.topics.restrictions": "Restrictions choose_restrictions read_restrictions",
    "esr.topics.runs": "Scores check_tag display_names format_lines read_run remove_duplicates "
    "sort_sentences",
    "esr.topics.topic": "TITLE Topic split_fields",
    "esr.topics.topic_files": "read_topic_kinds read_topics",
    "esr.threads": "Repeated take_turns",
    "esr.worker_processes": "SPAWN open_pools translate_death",
    "esr.wording": "align_columns count flatten_row list_examples remove_non_xml table_lines",
}
"""The names by module. A module is imported when one of its names is first used."""


if not TYPE_CHECKING:

    def __getattr__(name):
        value = globals()[name] = import_name(__name__, _MODULES, name)
        return value


def __dir__() -> list[str]:
    return __all__
