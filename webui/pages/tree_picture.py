"""The dependency tree of an explained sentence, drawn; and the term sets that scored, in words."""

from __future__ import annotations

from markupsafe import Markup

from esr.dependency.explain import Relation, TermSet
from esr.dependency.svg_tree import svg_tree
from webui.answers.explanation import ExplainedSentence


def tree_picture(explained: ExplainedSentence) -> Markup | None:
    """The tree with the paths between the words that scored, or between all query words if none did.

    None where there is no tree to draw.
    """
    tree, second = explained.tree, explained.explanation.second
    if tree is None or not tree.words:
        return None
    scored_words = second.chosen if second else tree.marked
    return Markup(svg_tree(tree.words, tree.marked, scored_words, standalone=False))  # it escapes the words


def describe_term_set(part: TermSet | Relation) -> str:
    """A set of query terms that scored, in a few words."""
    kind = "" if isinstance(part, TermSet) else f"{part.potential}: "
    distance = "alone" if len(part.terms) == 1 else f"{part.distance:g} apart"
    height = "" if isinstance(part, TermSet) else f", height {part.height:g}"
    return f"{kind}{' + '.join(part.terms)}, {distance}{height}"
