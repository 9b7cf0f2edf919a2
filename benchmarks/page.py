"""Response times of the search page with many concurrent readers, measured by locust.

    pip install -e .[bench]
    esr serve --index WHERE --port 8080
    QUERIES=queries.tsv locust -f benchmarks/page.py --headless --users 50 --spawn-rate 10 --run-time 60s \\
        --host http://127.0.0.1:8080 --only-summary

Each reader requests a page of results, reads for about a second, and requests another. QUERIES has lines
"id<TAB>query". An incomplete page counts as a failure.
"""

from __future__ import annotations

import os
import random

from locust import HttpUser, between, task

from esr.topics.topic import TITLE
from esr.topics.topic_files import read_topics

QUERIES = [topic.fields[TITLE] for topic in read_topics(os.environ["QUERIES"])]


class Reader(HttpUser):
    """A user who searches, reads, and searches again."""

    wait_time = between(0.5, 1.5)

    @task
    def search(self) -> None:
        query = random.choice(QUERIES)
        with self.client.get("/search", params={"q": query}, name="/search", catch_response=True) as answer:
            if "This answer is not complete" in answer.text:
                answer.failure("incomplete")
            elif answer.status_code == 400:  # the correct answer to a query of stop words only
                answer.success()
