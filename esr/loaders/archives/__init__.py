"""Files of archives and collections: recognised pages, editions, wikis, recordings, TREC, SQLite."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(
    name="archives",
    formats={
        "tei": "esr.loaders.archives.tei:TEI",
        "alto": "esr.loaders.archives.ocr:ALTO",
        "mets": "esr.loaders.archives.ocr:METS",
        "mediawiki": "esr.loaders.archives.mediawiki:MEDIAWIKI",
        "sqlite": "esr.loaders.archives.sqlite:SQLITE",
        "reuters": "esr.loaders.archives.sgml:REUTERS",
        "trec": "esr.loaders.archives.sgml:TREC",
        "vtt": "esr.loaders.archives.subtitles:VTT",
        "srt": "esr.loaders.archives.subtitles:SRT",
    },
)
