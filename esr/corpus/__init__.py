"""Corpus linguistics: how words, names and quotations are used, and the commands for it."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(
    name="corpus",
    commands={
        "concordance": "esr.corpus.commands.concordance:concordance",
        "collocations": "esr.corpus.commands.collocations:collocations",
        "quotes": "esr.corpus.commands.quotes:quotes",
        "names": "esr.corpus.commands.names:names",
        "name": "esr.corpus.commands.names:name",
        "contrast": "esr.corpus.commands.collocations:contrast",
        "frequencies": "esr.corpus.commands.frequencies:frequencies",
        "keyness": "esr.corpus.commands.frequencies:keyness",
    },
)
