"""What an index can be asked: the typed arguments of the general methods of `Index`.

A question is data. Its type names the answer, so `index.read(ids, Quotes())` is checked as a method would be.
`stage` names the question in metrics and logs. Each engine has tables of the functions that answer questions
by type, and a view (`esr/index/view.py`) decides for each type how it is restricted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from msgspec import Struct

from esr.index.copies import CopyGroup
from esr.index.hits import Histogram, SearchResult, SentenceRecord, SentenceTexts, WindowSentence
from esr.index.names import Name
from esr.index.similarities import Similarities
from esr.index.values import ValueTable
from esr.plans.evaluate import Evidence
from esr.text.document import Quote
from esr.text.sentence_enrichment import QuantizedVector

Answer = TypeVar("Answer")
Kind = TypeVar("Kind", covariant=True)
"""What the answer to a question is."""
LengthGroups = Literal["day", "source"]
NameUnit = Literal["sentences", "documents"]
"""The unit in which names are counted."""
DayCounts = Mapping[int, int]
"""The number of sentences by day, in days since 1970-01-01 in UTC."""
FacetCounts = list[tuple[str, int]]
"""Values of a field, each with the number of candidates that have it."""


class Column(Struct, Generic[Kind], frozen=True):
    """What to read of sentences."""

    stage: ClassVar[str]


class Records(Column[list[SentenceRecord]], frozen=True):
    """The sentences with the fields of their documents."""

    stage: ClassVar[str] = "sentences"


class Parses(Column[list[bytes | None]], frozen=True):
    """The stored parses, encoded by `esr.dependency.parses`; None for a sentence without one."""

    stage: ClassVar[str] = "parses"


class Quotes(Column[list[tuple[Quote, ...]]], frozen=True):
    """The stored quotations in each sentence."""

    stage: ClassVar[str] = "quotes"


class Windows(Column[list[tuple[WindowSentence, ...]]], frozen=True):
    """Each sentence with those around it in its document, in order, and the stored quotations in them.

    `places` are the sentences' documents and positions there, from 0, and `around` the numbers of sentences
    before and after each. A sentence at another place than the given one is unknown.
    """

    stage: ClassVar[str] = "windows"
    places: Sequence[tuple[str, int]]
    around: Sequence[int]


class Copies(Column[list[CopyGroup | None]], frozen=True):
    """The group of copies of each sentence, None for a sentence without copies in other documents."""

    stage: ClassVar[str] = "copies"


class Vectors(Column[list[QuantizedVector | None]], frozen=True):
    """The vectors that an encoder made; None for a sentence without one."""

    stage: ClassVar[str] = "vectors"
    encoder: str


class VectorOrigins(Column[list[str | None]], frozen=True):
    """What made the vectors for an encoder: the digest of the table that imitates it, "" for the encoder.

    None for a sentence without a vector.
    """

    stage: ClassVar[str] = "vector_origins"
    encoder: str


class SimilaritiesTo(Column[Similarities], frozen=True):
    """The products of a query's vector with the vectors of the sentences and of their `contexts`.

    Vectors of other encoders are ignored. Contexts are `neighbours` and `document`.
    """

    stage: ClassVar[str] = "similarities"
    encoder: str
    query: QuantizedVector
    contexts: Collection[str] = ()


class EvidenceOf(Column[Evidence], frozen=True):
    """The exact counts of terms, the lengths and the stored columns that a plan's scores are computed from.

    The columns are EVIDENCE_COLUMNS and those named in `columns`, such as `features.subj`.
    """

    stage: ClassVar[str] = "evidence"
    terms: Sequence[str]
    columns: Iterable[str] = ()


class Selection(Struct, Generic[Kind], frozen=True):
    """What to return of selected sentences."""

    stage: ClassVar[str]


class Hits(Selection[SearchResult], frozen=True):
    """Hits with the score 0, with their records or only their ids.

    `terms` are terms of a search that follows: a server reads their statistics in the same request.
    """

    stage: ClassVar[str] = "by_date"
    records: bool = True
    terms: Sequence[str] = ()


class Texts(Selection[SentenceTexts], frozen=True):
    """Their texts, and the days and sources of their documents."""

    stage: ClassVar[str] = "texts"


class Grouping(Struct, Generic[Kind], frozen=True):
    """What to count sentences by. The answer is one for each condition."""

    stage: ClassVar[str]


class ByDay(Grouping[DayCounts], frozen=True):
    """The number of sentences per day, without those of documents without a date."""

    stage: ClassVar[str] = "count_days"


class DocumentCounts(NamedTuple):
    """The number of documents with a sentence that is counted, and the number of these in some documents."""

    documents: int
    sentences: Mapping[str, int]


class ByDocument(Grouping[DocumentCounts], frozen=True):
    """How many documents there are, and the number of sentences of these `ids`, for those that have any.

    None stands for the ids of all documents. Otherwise Elasticsearch counts more than 40,000 documents
    approximately.
    """

    stage: ClassVar[str] = "count_documents"
    ids: Sequence[str] | None = ()


class ByField(Grouping[Mapping[str, FacetCounts]], frozen=True):
    """The most frequent values of fields of FACET_FIELDS, with their numbers of sentences.

    With `without_own`, each field is counted without the filters on itself, so that the counts say what its
    other values would give. All forms of a name or a source count as one value, under the displayed form.
    Values are ordered by count; ties by the source or month, or by the name's key. Raises UsageError for an
    unknown field.
    """

    stage: ClassVar[str] = "facets"
    fields: Sequence[str]
    size: int
    without_own: bool = False


class ByName(Grouping[Mapping[str, int]], frozen=True):
    """The most frequent names by key, with the number of sentences or documents that mention each.

    Documents satisfy the filters as a whole, so an entity may be anywhere in them; they take no condition.
    Only names with a key or alias with this `prefix`, or with these `keys`, are counted. Ties are in the
    order of keys.
    """

    stage: ClassVar[str] = "count_names"
    size: int
    unit: NameUnit = "sentences"
    prefix: str = ""
    keys: Collection[str] | None = None


class ByTerm(Grouping[Mapping[str, int]], frozen=True):
    """The number of occurrences of each term of the sentences.

    In an index by language, `language` is that of the sentences. Raises UsageError if the engine would have
    to read more than `most` sentences.
    """

    stage: ClassVar[str] = "count_terms"
    most: int
    language: str | None = None


class ByReuse(Grouping[Mapping[tuple[str, str], int]], frozen=True):
    """The number of groups of copies by the source where they stood first, and a source that took them later.

    The sentences are those that were taken. Without dates, or on the same date, nobody is said to have taken
    anything. A group counts once for each source.
    """

    stage: ClassVar[str] = "count_reuse"


class TermsBy(Grouping[Mapping[Any, int]], frozen=True):
    """The number of terms in the sentences, by day or by source as written.

    Days are numbers since 1970-01-01 in UTC. Documents without a date, or a source, are left out.
    """

    stage: ClassVar[str] = "sum_lengths"
    group: LengthGroups


class ByValue(Grouping[Histogram], frozen=True):
    """The distribution of a column over the sentences that have a value in it."""

    stage: ClassVar[str] = "histogram"
    column: str


class Lookup(Struct, Generic[Kind], frozen=True):
    """What to look up in the vocabulary."""

    stage: ClassVar[str]


class TermsWithPrefix(Lookup[list[str]], frozen=True):
    """The first `limit` terms with this prefix, in code point order."""

    stage: ClassVar[str] = "terms_with_prefix"
    prefix: str
    limit: int


class TermHolders(Lookup[Mapping[str, int]], frozen=True):
    """The number of sentences with each of these terms: only `sf` of `statistics`, for less."""

    stage: ClassVar[str] = "count_holders"
    terms: Sequence[str]


class WordsWithPrefix(Lookup[list[tuple[str, int]]], frozen=True):
    """The most frequent written words with this prefix, each with its approximate frequency."""

    stage: ClassVar[str] = "words_with_prefix"
    prefix: str
    limit: int


class WordCounts(Lookup[Mapping[str, int]], frozen=True):
    """The number of occurrences in sentences of each of these words of the analyzer `words`."""

    stage: ClassVar[str] = "count_words"
    words: Sequence[str]


class SimilarWords(Lookup[Mapping[str, int]], frozen=True):
    """The words within `max_edits` (1 or 2) edits of a word, each with its approximate frequency.

    Only words that occur at least `least` times are returned.
    """

    stage: ClassVar[str] = "similar_words"
    word: str
    max_edits: int
    least: int


class WrittenForms(Lookup[list[str]], frozen=True):
    """The usual spelling of words, given as terms of the analyzer `words`: Beyoncé for beyonce.

    It is the most frequent form in the first sentences of the collection that contain the word.
    """

    stage: ClassVar[str] = "written_forms"
    words: Sequence[str]


class Values(Lookup[ValueTable], frozen=True):
    """The values of the field `source` or of an attribute in the documents; for META, its keys."""

    stage: ClassVar[str] = "values"
    field: str


class Names(Lookup[Mapping[str, Name]], frozen=True):
    """The names with these keys, by key, without those that no sentence has."""

    stage: ClassVar[str] = "find_names"
    keys: Sequence[str]


class NamesWithPrefix(Lookup[list[str]], frozen=True):
    """The keys of names that have a key or alias with this prefix, most sentences first, ties by key."""

    stage: ClassVar[str] = "name_keys"
    prefix: str
    limit: int


class NameForms(Lookup[Mapping[str, int]], frozen=True):
    """The written forms of the name with this key, with their numbers of sentences, most first."""

    stage: ClassVar[str] = "name_forms"
    key: str


class FullNames(Lookup[Mapping[str, Sequence[str]]], frozen=True):
    """By short form or name: the keys of the other names that it stands for in some documents, sorted.

    Those that stand for no other name are left out.
    """

    stage: ClassVar[str] = "full_names"
    keys: Sequence[str]


class Fact(Struct, Generic[Kind], frozen=True):
    """What to tell of an index."""

    stage: ClassVar[str]


class Summary(Fact[Mapping[str, Any]], frozen=True):
    """Counts, sizes and settings, for people and programs."""

    stage: ClassVar[str] = "status"


class PeriodContent(Struct, frozen=True):
    """What a divided index has of a period: part of its Summary, as `periods`.

    `size_bytes` is None if it is unknown. `first` and `last` are the dates of its oldest and its newest
    document, None without a date.
    """

    period: str
    documents: int
    sentences: int
    size_bytes: int | None
    first: str | None
    last: str | None


class Readiness(Fact[None], frozen=True):
    """Nothing if the index can be searched, else EsrError is raised. It asks the engine, never a cache."""

    stage: ClassVar[str] = "check_ready"


class Languages(Fact[Mapping[str | None, int]], frozen=True):
    """The languages that documents declare, each with its number of documents; None for none declared."""

    stage: ClassVar[str] = "languages"


class Features(Fact[Sequence[str]], frozen=True):
    """The names of the features that the index stores."""

    stage: ClassVar[str] = "features"


class HasParses(Fact[bool], frozen=True):
    """Whether any sentence has a stored parse."""

    stage: ClassVar[str] = "has_parses"


class HasCopies(Fact[bool], frozen=True):
    """Whether copies were looked for in the sentences, or in some of them."""

    stage: ClassVar[str] = "has_copies"


class MainEncoder(Fact[str | None], frozen=True):
    """The id of the encoder that made most vectors of the index, None if it has no vectors."""

    stage: ClassVar[str] = "encoder"


class StoredTable(Fact[bytes | memoryview | None], frozen=True):
    """The stored form of the index's table of vectors (`esr.encoders.table`), None if it has none."""

    stage: ClassVar[str] = "table"


class DocumentMarks(Fact[Mapping[str, str]], frozen=True):
    """A mark of the content of each document, by id: what finds new and changed documents.

    Documents with equal marks have equal texts and fields. The reverse holds in one format of the index only.
    """

    stage: ClassVar[str] = "document_marks"


class DocumentsBefore(Fact[Mapping[str, int]], frozen=True):
    """The number of sentences of each document dated before a moment, by id, in the collection's order."""

    stage: ClassVar[str] = "documents_before"
    moment: int


class NearestIsExact(Fact[bool], frozen=True):
    """Whether `nearest` is exact.

    An index of vectors, built on request, may miss a few sentences, and so may the bits used for many
    vectors.
    """

    stage: ClassVar[str] = "nearest_is_exact"


class ContentMark(Fact[str], frozen=True):
    """A mark of what loads have made of the collection: each load, delivery and rollback changes it.

    Enrichment does not. It is empty if the engine shows no mark to the login.
    """

    stage: ClassVar[str] = "content_mark"
