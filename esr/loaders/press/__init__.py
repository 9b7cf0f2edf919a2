"""What agencies send, and exports of press databases."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(
    name="press",
    formats={
        "nitf": "esr.loaders.press.newsml:NITF",
        "newsml": "esr.loaders.press.newsml:NEWSML_G2",
        "newsml1": "esr.loaders.press.newsml:NEWSML_1",
        "factivaxml": "esr.loaders.press.factiva_xml:FACTIVA_XML",
        "lexisnexis": "esr.loaders.press.databases:LEXISNEXIS",
        "factiva": "esr.loaders.press.databases:FACTIVA",
        "proquest": "esr.loaders.press.databases:PROQUEST",
    },
    refinements={
        "europresse": "esr.loaders.press.europresse:EUROPRESSE",
        "databases": "esr.loaders.press.databases:DATABASE_EXPORTS",
    },
)
