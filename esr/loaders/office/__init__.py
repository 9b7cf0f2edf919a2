"""Documents and tables of office programs, PDF and ePub."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(
    name="office",
    formats={
        "docx": "esr.loaders.office.docx:DOCX",
        "odt": "esr.loaders.office.odt:ODT",
        "xlsx": "esr.loaders.office.xlsx:XLSX",
        "pdf": "esr.loaders.office.pdf:PDF",
        "epub": "esr.loaders.office.epub:EPUB",
    },
)
