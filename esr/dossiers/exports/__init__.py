"""Dossiers as files: Word, Markdown, HTML, plain text, and the formats of citations and of tables."""
