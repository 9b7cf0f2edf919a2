"""Topics that must not be on both sides of a fold, since one gives the other away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from esr.learning.gather import TopicSignals


def groups(topics: Sequence[TopicSignals], given: Mapping[str, str]) -> dict[str, str]:
    """A group for each topic: the given ones, and together what asks the same or has the same answer.

    Topics are in one group if they are given so, have the same words, or share a relevant sentence; and so
    are the topics of two groups that a topic belongs to.
    """
    parent = {each.topic: each.topic for each in topics}

    def root(topic: str) -> str:
        while parent[topic] != topic:
            parent[topic] = topic = parent[parent[topic]]
        return topic

    first: dict[tuple[str, str], str] = {}
    for each in topics:
        signs = [("words", " ".join(sorted(each.query.casefold().split())))]
        signs += [("sentence", sentence) for sentence in each.grades_of]
        signs += [("given", given[each.topic])] if each.topic in given else []
        for sign in signs:
            parent[root(each.topic)] = root(first.setdefault(sign, each.topic))
    return {topic: root(topic) for topic in parent}
