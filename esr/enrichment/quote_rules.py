"""The words and marks by which quotations and their speakers are found, by language.

Languages without rules of their own get `OTHER`: their quotations are found by marks and length, without
speakers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CLOSING_MARKS: Mapping[str, str] = {
    "“": "”“",  # English, Spanish, Turkish, Chinese; twice the same where it was typed wrongly
    "„": "“”",  # German, Czech; Polish, Romanian, Dutch
    "”": "”",  # Swedish, Finnish
    "«": "»",  # French, Italian, Russian, Arabic
    "»": "«»",  # Danish, German in print; Finnish
    "「": "」",  # Japanese, Chinese
    "『": "』",
    "＂": "＂",
    '"': '"',
    "``": "''",
    "‘": "’",  # British English
    "‚": "‘",  # German
    "‹": "›",
    "›": "‹",
}
"""The marks that may close a quotation, by the mark that opens it."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What one language needs. All values are words separated by spaces, in lower case unless noted."""

    cues: str = ""
    """Verbs of speech in all their forms. A star stands for any ending."""
    weak_cues: str = ""
    """Verbs that report only directly beside a quotation."""
    after_cues: str = ""
    """Verbs that report only after a quotation."""
    by: str = ""
    """Words before a speaker that need no verb: "so Merkel", "according to Merkel", with _ for a space."""
    new_cue: str = ""
    """A pattern of verbs that are not listed, directly after a quotation that ends in a comma.

    Group `before` is the speaker and `cue` the verb, or `after` is the verb and the speaker follows.
    """
    pronouns: str = ""
    """Pronouns of one person, which may stand for a name."""
    other_pronouns: str = ""
    """Other pronouns that may be a speaker."""
    fillers: str = ""
    """Words between a speaker and a verb: auxiliaries, adverbs."""
    openers: str = ""
    """Words that may stand before a speaker at the beginning of a clause."""
    prepositions: str = ""
    """Words that end a speaker after the verb, and do not begin one."""
    articles: str = ""
    """Words that begin a speaker who is not named."""
    relatives: str = ""
    """Pronouns of relative clauses."""
    titles: str = ""
    """Titles that are not part of a name."""
    common: str = ""
    """Capitalized words at the beginning of a sentence that are no names."""


ENGLISH = Rules(
    cues="""
        said say says saying told tells tell telling added adds adding asked asks asking wrote writes writing
        tweeted tweets tweeting explained explains explaining noted notes noting argued argues arguing
        insisted insists replied replies responded responds responding declared declares declaring stated
        states stating continued continues concluded concludes warned warns warning claimed claims claiming
        exclaimed joked jokes joking quipped quips recalled recalls remarked remarks observed observes
        admitted admits admitting acknowledged acknowledges announced announces announcing shouted shouts
        shouting yelled yells testified suggested suggests suggesting predicted predicts pledged vowed vows
        promised promises urged urges complained complains lamented laments confirmed confirms boasted boasts
        charged countered counters conceded concedes contended contends asserted asserts asserting opined
        opines posted fumed cautioned cautions read reads reading answered answers mused muses muttered
        reiterated reiterates proclaimed proclaims blasted agreed agrees commented comments pressed
        interjected retorted thundered implored pleaded stressed stresses emphasized emphasised maintained
        maintains alleged alleges emailed texted
        called calls calling described describes describing mocked mocks slammed accused accuses praised
        dismissed denounced criticized referred labeled dubbed deemed ripped believes believed
        thinks thought feels felt""",
    weak_cues="""
        began begin begins goes went pointed offered offers put puts saw reported reports reporting shared
        shot fired wondered wonders tell cried
        demanded demands attacked invoked repeated repeats repeating quoted quoting quotes cited citing
        hailed chanted chanting chants signed issued released made used using deleted
        tweet statement email interview letter speech text memo ad post message report headline sign
        slogan words comments remarks question answer response warning""",
    after_cues="""
        state write argue explain insist note add claim reply respond recall warn ask declare announce
        remembered remember remembers asks questioned chanted shared reported reports report sang began begins
        cried boomed offered repeated chimed shot allowed scoffed sighed laughed snapped urged demanded
        quoted pointed went goes""",
    by="according_to in_the_words_of per",
    new_cue=r"(?P<after>[a-z]+(?:ed|s))\s+(?=[A-Z])"
    r"|(?P<before>(?:[A-Z][\w.’'-]*\s+){1,4}|[Ss]?[Hh]e\s+)(?P<cue>[a-z]+ed)\b",
    pronouns="he she",
    relatives="who which whose",
    other_pronouns="i we they you it who",
    fillers="""
        has had have is was were are been would will could might may must can should did does do also later
        then once again recently reportedly previously simply just even always often never still already now
        himself herself themselves itself only first famously repeatedly publicly further quickly finally
        immediately flatly bluntly not n't actually really sarcastically reportedly allegedly apparently all
        both himself subsequently initially openly""",
    openers="""
        and but so yet or as when while because although though that if after before since until where which
        then thus still however meanwhile later afterward now today yesterday instead also even what how why
        just there here nor""",
    prepositions="""
        in on at during after before when while as to with who about from by into through over since because
        if where but and via following earlier later last this sunday monday tuesday wednesday thursday
        friday saturday again that then early late citing referring adding pointing noting using back for
        outside inside amid under speaking recently yesterday today against upon near between which""",
    articles="""the a an his her their its our my your one another some many several two three four most
        other both any no""",
    titles="""
        mr mrs ms miss dr sir dame lord lady baroness judge justice prof professor rep reps sen sens gov lt
        gen col capt maj sgt adm rev fr president vice chairman chairwoman chair secretary senator congressman
        congresswoman representative governor mayor general admiral colonel captain major sergeant officer
        attorney speaker prime minister chancellor king queen prince princess pope bishop archbishop cardinal
        sheriff ambassador former ex-president democratic republican state house senate spokesman spokeswoman
        spokesperson director commissioner pastor reverend professor analyst candidate nominee leader u.s
        us""",
    common="""
        the a an this that these those he she it they we i you his her their its our my your and but so yet or
        as when while because although though if after before since until where which then thus still however
        meanwhile later now today yesterday instead also even what how why who there here nor in on at for
        from by with about into of to during under over not no yes some many most all both each another other
        one two three asked speaking monday tuesday wednesday thursday friday saturday sunday january february
        march april june july august september october november december according""",
)

GERMAN = Rules(
    cues="""
        sagte sagt sagten sagen gesagt erklärte erklärt erklärten erklären betonte betont betonten meinte
        meint meinten schrieb schreibt schrieben geschrieben fragte fragt fragten antwortete antwortet
        erwiderte erwidert fügte fügt ergänzte ergänzt kritisierte kritisiert forderte fordert forderten
        warnte warnt warnten kündigte kündigt behauptete behauptet berichtete berichtet twitterte twittert
        teilte mitteilte äußerte äußert unterstrich unterstreicht versicherte versichert bekräftigte
        bekräftigt
        stellte verkündete verkündet räumte beklagte beklagt lobte lobt urteilte urteilt rief ruft nannte
        nennt bezeichnete bezeichnet begründete begründet entgegnete entgegnet gab erzählte erzählt bestätigte
        bestätigt konstatierte konstatiert mahnte mahnt resümierte zitierte zitiert heißt hieß führte
        glaubt glaubte hofft hoffte findet fand""",
    weak_cues="sprach spricht verwies verweist wies zeigte ließ lässt machte macht",
    by="so laut zufolge nach_angaben_von",
    pronouns="er sie",
    relatives="welcher welche",
    other_pronouns="ich wir es man",
    fillers="""
        hat hatte haben hatten habe ist war wurde wird werde auch dann später zudem weiter noch einmal bereits
        schon nun jetzt gestern heute nur wieder selbst außerdem erneut sich dazu dem der ihm ihr""",
    openers="und aber doch oder dass als wenn während weil obwohl wie denn dann dazu zudem so da",
    prepositions="""
        in im am an auf bei beim während nach vor gegenüber mit über von vom zu zum zur aus durch seit für der
        die das dem den dass weil wenn und aber als laut unter bis dazu am auch weiter zudem heute gestern
        montag dienstag mittwoch donnerstag freitag samstag sonntag sonnabend später bereits schon nun jetzt
        noch wieder selbst jedoch daraufhin außerdem erneut""",
    articles="der die das ein eine einer sein seine ihr ihre mehrere viele einige zwei drei des dem den",
    titles="""
        herr herrn frau dr prof professor professorin präsident präsidentin kanzler kanzlerin bundeskanzler
        bundeskanzlerin minister ministerin ministerpräsident ministerpräsidentin bundespräsident papst
        sprecher sprecherin chef chefin vorsitzende vorsitzender general könig königin bürgermeister
        bürgermeisterin abgeordnete abgeordneter trainer trainerin direktor direktorin geschäftsführer
        parteichef parteichefin außenminister außenministerin innenminister innenministerin finanzminister
        finanzministerin us-präsident polizeisprecher polizeisprecherin regierungssprecher""",
    common="""
        der die das ein eine einer dieser diese dieses er sie es wir ich ihr sein seine ihre und aber doch
        oder als wenn während weil obwohl wie was wer wo dann dazu zudem so da auch noch nicht nach vor bei
        mit im in am an auf für von zu zum zur montag dienstag mittwoch donnerstag freitag samstag sonntag
        laut heute gestern""",
)

OTHER = Rules()
LANGUAGES: Mapping[str, Rules] = {"en": ENGLISH, "de": GERMAN}
"""By language code."""
