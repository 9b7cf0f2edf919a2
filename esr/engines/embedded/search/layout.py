"""How the tables that the compiled kernel reads are laid out."""

MIXTURE, LOGARITHM, HYPERBOLA = 0, 1, 2
"""Shapes of a plan's transform."""
WHOLE, MATCHING, AROUND = 0, 1, 2
"""Candidates: all sentences of a document, those with an own term, those and their neighbours."""
ROWS, ROW_COUNTS, ENTRIES, ENTRY_COUNTS, LENGTHS, DOCUMENT_OF = range(0, 12, 2)
SENTENCES, DOCUMENTS = 12, 13
"""Of a segment: addresses of postings (rows: numbers of sentences; entries: of documents), of their counts,
of the sentences' lengths and documents, each followed by how many bytes a number has; the segment's first
sentence and document."""
FIRST, SIZE, TERMS, SHORTEST, LONGEST = range(5)
"""Of a document: its first sentence in the commit, its sentences, its terms, the terms in the shortest and in
the longest of its sentences."""
HERE, NEAR, WIDE, EMPTY = range(4)
"""Of a length, as `Bound.lengths` gives it: what one occurrence is worth over the collection's weight, in the
sentence, per term of its surroundings, as a share of the document; the logarithm of that weight."""
WEIGHT, BACKGROUND, OWN = range(3)
"""Of a term of the plan."""
