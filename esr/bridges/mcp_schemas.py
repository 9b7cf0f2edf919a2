"""The schemas of the answers that assistants get, as typed dictionaries."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from esr.plugin.provisional import Interval


class Source(TypedDict):
    """An article that a sentence is from. Unknown fields are left out."""

    citation: Annotated[str, Field(description="One line with authors, title, source, day and address.")]
    title: NotRequired[str]
    authors: NotRequired[list[str]]
    date: NotRequired[Annotated[str, Field(description="ISO 8601, as the source wrote it.")]]
    source: NotRequired[Annotated[str, Field(description="Such as a newspaper.")]]
    url: NotRequired[Annotated[str, Field(description="An address of http or https.")]]


class Cut(TypedDict):
    """An item that is longer than the budget."""

    cut: NotRequired[Annotated[bool, Field(description="Neighbours and the ends of texts are left out.")]]


class FoundSentence(Source, Cut):
    """A sentence with its neighbours and its article."""

    id: Annotated[str, Field(description="Finds the sentence again.")]
    text: Annotated[str, Field(description="The sentence as it was printed: quote it as it is.")]
    before: NotRequired[Annotated[str, Field(description="The sentences before it.")]]
    after: NotRequired[Annotated[str, Field(description="The sentences after it.")]]
    document_id: str
    repeats: NotRequired[Annotated[int, Field(description="Later sentences that repeat it.")]]


class Answer(TypedDict):
    """An answer."""

    left_out: NotRequired[Annotated[int, Field(description="Items that the budget has no room for.")]]
    cut: NotRequired[bool]


class FoundSentences(Answer):
    """Sentences, best or newest first."""

    total: Annotated[int, Field(description="Sentences that the ranking considered, or that match.")]
    note: NotRequired[Annotated[str, Field(description="What is unknown or missing.")]]
    hits: list[FoundSentence]


class SentenceOfArticle(Cut):
    """A sentence of an article."""

    id: str
    text: str


class ArticlePart(Answer, Source):
    """A part of an article."""

    document_id: str
    total: Annotated[int, Field(description="Sentences of the article.")]
    start: Annotated[int, Field(description="Position of the first sentence that is shown, from 0.")]
    next: Annotated[int | None, Field(description="Start to continue from; null at the end.")]
    sentences: list[SentenceOfArticle]


class Peak(Source, Cut):
    """A period with more sentences than its neighbours, and its best sentence."""

    period: str
    count: int
    id: str
    text: str


class Timeline(Answer):
    """Counts of sentences with all words of a query."""

    interval: Interval
    total: Annotated[int, Field(description="Sentences with a date.")]
    undated: int
    counts: Annotated[dict[str, int], Field(description="By period, without empty periods.")]
    peaks: list[Peak]


class CountedName(TypedDict):
    """A name and the number of sentences with it."""

    name: str
    type: str
    sentences: int
    filter: Annotated[str, Field(description="Add it to a query.")]


class Names(Answer):
    """Names, most frequent first."""

    total: int
    names: list[CountedName]


class FoundQuotation(Source, Cut):
    """What somebody said, and the sentence that quotes it."""

    id: Annotated[str, Field(description="The id of the sentence.")]
    text: Annotated[str, Field(description="The quotation with its marks, as it was printed.")]
    speaker: NotRequired[Annotated[str, Field(description="As written; left out if unknown.")]]
    name: NotRequired[Annotated[str, Field(description="The speaker's full name in lower case, if known.")]]
    certainty: NotRequired[
        Annotated[
            Literal["certain", "probable"],
            Field(description="How surely this is the speaker. Check a probable one before you name it."),
        ]
    ]
    all_words: NotRequired[
        Annotated[bool, Field(description="Whether the sentence has all words of the query; with a query.")]
    ]
    sentence: str
    document_id: str


class FoundQuotations(Answer):
    """Quotations, newest or best first."""

    total: Annotated[int, Field(description="Sentences with such quotations.")]
    quotations: list[FoundQuotation]


class FoundContrast(TypedDict):
    """A difference between a text and the claim."""

    rule: Annotated[str, Field(description="The rule that found it, such as negation or number.")]
    text: Annotated[str, Field(description="The words of the text.")]
    claimed: Annotated[str, Field(description="The words of the claim; may be empty.")]


class EvidenceText(Source, Cut):
    """A text about a claim, the first of its copies."""

    group: Annotated[
        Literal["says_so", "says_otherwise", "near"],
        Field(description="Found by rules that can be wrong: read the text before you rely on it."),
    ]
    id: Annotated[str, Field(description="The id of the sentence.")]
    text: Annotated[str, Field(description="The sentence as it was printed: quote it as it is.")]
    speaker: NotRequired[Annotated[str, Field(description="Who says it in quotation marks, if known.")]]
    certainty: NotRequired[
        Annotated[Literal["certain", "probable"], Field(description="How surely this is the speaker.")]
    ]
    contrasts: Annotated[list[FoundContrast], Field(description="How it differs from the claim.")]
    copies: Annotated[int, Field(description="Later sentences in nearly the same words.")]
    sources: Annotated[int, Field(description="Sources that print it or a copy.")]
    opinion: NotRequired[
        Annotated[float, Field(description="A model's number: greater where the text supports the claim.")]
    ]
    document_id: str


class FoundEvidence(Answer):
    """Texts about a claim. They are evidence, not a verdict."""

    total: Annotated[int, Field(description="Sentences, with copies.")]
    texts: Annotated[int, Field(description="Sentences without copies.")]
    sources: Annotated[int, Field(description="Sources that print them.")]
    opinion_by: NotRequired[Annotated[str, Field(description="The model whose opinions the texts have.")]]
    evidence: list[EvidenceText]


class Taking(TypedDict):
    """A source that has sentences which another had on an earlier day."""

    origin: Annotated[str, Field(description="The source that had them first.")]
    taker: Annotated[str, Field(description="The source that had them later.")]
    sentences: int


class FoundReuse(Answer):
    """Pairs of sources, most sentences first."""

    total: Annotated[int, Field(description="Pairs of sources in all.")]
    pairs: list[Taking]


class DifferingWords(TypedDict):
    """Words of a quotation, and those in their place in the original; one of both may be empty."""

    text: str
    original: str


class Appearance(TypedDict):
    """A sentence that has a quotation, or words like it."""

    sentence_id: Annotated[str, Field(description="Finds the sentence again.")]
    date: str | None
    source: str | None
    text: Annotated[str, Field(description="As it was printed.")]
    verdict: Literal["exact", "near", "none"]
    speaker: str | None
    certainty: Literal["certain", "probable"] | None
    differences: list[DifferingWords]


class CheckedQuotation(Cut):
    """A quotation, and what the index has of it."""

    text: str
    verdict: Annotated[
        Literal["exact", "near", "none"],
        Field(description="Printed in these words, nearly so, or not found: it may still have been said."),
    ]
    speaker: Annotated[str | None, Field(description="A name if it is known, or else as written.")]
    certainty: Annotated[
        Literal["certain", "probable"] | None,
        Field(description="How surely this is the speaker. Check a probable one before you name it."),
    ]
    first: Annotated[Appearance | None, Field(description="The oldest with the fewest differences.")]
    later: Annotated[list[Appearance], Field(description="Others, oldest first, as far as there is room.")]
    differences: Annotated[list[DifferingWords], Field(description="From the first appearance.")]
    nearest: Annotated[list[Appearance], Field(description="Similar sentences if it was not found.")]


class CheckedQuotations(Answer):
    """Quotations, in the order of the text."""

    total: int
    quotations: list[CheckedQuotation]


class DraftEvidence(TypedDict):
    """A sentence of the index with words of a sentence of the draft."""

    sentence_id: str
    date: str | None
    source: str | None
    text: Annotated[str, Field(description="As it was printed.")]
    share: Annotated[float, Field(description="How much of the sentence's words it has, by their rarity.")]


class DraftNumber(TypedDict):
    """A number of a draft."""

    text: str
    verdict: Annotated[
        Literal["same", "other", "none"],
        Field(description="The evidence has it, has others for the same unit, or has none."),
    ]
    beside: Annotated[list[str], Field(description="The numbers of the evidence.")]


class DraftSentence(Cut):
    """A sentence of a draft."""

    text: str
    evidence: DraftEvidence | None
    numbers: list[DraftNumber]


class SimilarName(TypedDict):
    """A form of a name and the number of sentences with it."""

    name: str
    sentences: int


class DraftName(TypedDict):
    """A name of a draft that may be misspelt, or that no sentence has."""

    text: str
    sentences: int
    nearest: Annotated[list[SimilarName], Field(description="More frequent names that are nearly the same.")]


class CheckedDraft(Answer):
    """What an index has on a draft. It says nothing about whether the draft is right."""

    total: Annotated[int, Field(description="Sentences of the draft.")]
    quotations: list[CheckedQuotation]
    names: list[DraftName]
    sentences: list[DraftSentence]


class CountedSource(TypedDict):
    """A source and its number of documents."""

    source: str
    documents: int


class Contents(Answer):
    """What an index holds."""

    documents: int
    sentences: int
    first: NotRequired[Annotated[str, Field(description="The oldest day of a document.")]]
    last: NotRequired[Annotated[str, Field(description="The newest day.")]]
    undated: Annotated[int, Field(description="Sentences without a date.")]
    years: NotRequired[Annotated[dict[str, int], Field(description="Sentences of each year.")]]
    languages: Annotated[dict[str, int], Field(description="Documents that declare each language.")]
    has_names: Annotated[bool, Field(description="Whether `names` answers.")]
    has_quotations: Annotated[bool, Field(description="Whether `quotes` answers.")]
    total: Annotated[int, Field(description="Sources.")]
    sources: Annotated[list[CountedSource], Field(description="Most documents first.")]


class ListedDossier(TypedDict):
    """A dossier in a list."""

    id: str
    name: str
    description: str
    owner: str
    role: Annotated[Literal["owner", "writer", "reader"], Field(description="Yours; readers add nothing.")]
    items: Annotated[int, Field(description="How many sentences and documents it has.")]


class Dossiers(Answer):
    """Dossiers, those that changed last first."""

    total: int
    dossiers: list[ListedDossier]


class DossierItem(Cut):
    """A sentence or document of a dossier."""

    number: int
    status: Annotated[
        Literal["same", "changed", "removed", "unknown", "withheld"],
        Field(description="Whether the index still has the text; withheld: you may not see it."),
    ]
    id: NotRequired[Annotated[str, Field(description="Of the sentence or the document.")]]
    text: NotRequired[Annotated[str, Field(description="As it was when it was added.")]]
    now: NotRequired[Annotated[str, Field(description="The later wording.")]]
    title: NotRequired[str]
    date: NotRequired[str]
    source: NotRequired[str]
    url: NotRequired[str]
    note: NotRequired[Annotated[str, Field(description="What somebody wrote about it.")]]
    tags: NotRequired[list[str]]


class ReadDossier(Answer):
    """A dossier with its items, in their order."""

    id: str
    name: str
    description: str
    role: str
    version: int
    total: int
    items: list[DossierItem]


class ListedAlert(Cut):
    """An alert: a search whose new sentences are delivered."""

    id: str
    name: str
    arguments: Annotated[dict[str, list[str]], Field(description="Its conditions, as an address has them.")]
    to: Annotated[list[str], Field(description="Where it is delivered to.")]
    every: str
    zone: str
    paused: bool
    failure: NotRequired[Annotated[str, Field(description="Why its last run failed.")]]


class Alerts(Answer):
    """Alerts of the owner of the key, and those that are shared with them."""

    total: int
    alerts: list[ListedAlert]


class KeptAlert(Answer):
    """The alert as it is now."""

    total: int
    alerts: list[ListedAlert]


class PreviewedSentence(Cut):
    """A sentence that an alert would have told."""

    sentence_id: str
    text: str
    date: NotRequired[str]
    source: NotRequired[str]
    score: float
    similarity: NotRequired[float]


class PreviewedAlert(Answer):
    """What an alert would have told."""

    first: Annotated[str, Field(description="The first of the days.")]
    last: Annotated[str, Field(description="The last of the days.")]
    sentences: int
    by_similarity: Annotated[
        dict[str, int], Field(description="With `like`, the number of sentences at each least similarity.")
    ]
    unusual: Annotated[list[str], Field(description="With `unusual`, the days that it would have told.")]
    total: Annotated[int, Field(description="Examples.")]
    examples: Annotated[
        list[PreviewedSentence], Field(description="The newest, or with `like` those that just suffice.")
    ]


class AddedItem(Cut):
    """An item that was added."""

    id: Annotated[str, Field(description="Of the item.")]
    text: str


class AddedItems(Answer):
    """What was added to a dossier."""

    version: int
    total: int
    known: Annotated[int, Field(description="Sentences that were there already.")]
    items: list[AddedItem]
