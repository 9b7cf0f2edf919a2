from __future__ import annotations

import time

from flask import Flask

from webui.running.gate import REST, stage_times, time_stage


def test_the_time_of_a_stage_is_added_up() -> None:
    with Flask(__name__).test_request_context():
        for _ in range(2):
            with time_stage("engine"):
                time.sleep(0.01)
        stages = stage_times(1.0)
    assert list(stages) == ["engine", REST]
    assert 0.02 <= stages["engine"] < 0.9
    assert abs(sum(stages.values()) - 1.0) < 1e-9


def test_outside_of_requests_nothing_is_timed() -> None:
    with time_stage("engine"):
        pass
    with Flask(__name__).test_request_context():
        assert list(stage_times(1.0)) == [REST]
