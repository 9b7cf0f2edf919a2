from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from webui.running.fair_semaphore import FairSemaphore


def test_a_slot_that_becomes_free_at_the_last_moment_is_not_lost() -> None:
    semaphore = FairSemaphore(1)
    assert semaphore.acquire(0)

    def hold(n: int) -> bool:
        acquired = semaphore.acquire(0.001 * (n % 3))
        if acquired:
            semaphore.release()
        return acquired

    with ThreadPoolExecutor(8) as pool:
        waiting = pool.map(hold, range(2_000))
        semaphore.release()
        list(waiting)
    assert semaphore.acquire(0) and not semaphore.acquire(0)
