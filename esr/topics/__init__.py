"""Topics and runs: the files of many queries and their answers, as in evaluation campaigns.

A topic is an information need. Files of topics are TSV, JSON Lines or TREC SGML, recognised by the first
character. A run has lines of `qid Q0 sentence_id rank score tag`. A restriction names the documents that a
topic's sentences may come from. Files are plain or compressed text, and errors name the file and the line.
"""

from esr.topics.runs import read_run
from esr.topics.topic_files import read_topics

__all__ = ["read_run", "read_topics"]
