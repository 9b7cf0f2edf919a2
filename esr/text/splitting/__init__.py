"""The rules by which text is split into paragraphs and sentences."""
