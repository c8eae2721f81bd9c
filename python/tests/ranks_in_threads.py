"""Runs a function once per worker, each on a thread of its own."""

from __future__ import annotations

import threading
from typing import Any, Callable

import inart


def run(workers: list[inart.Worker], body: Callable[[inart.Worker], Any]) -> list[Any]:
    """Returns the result of ``body`` for each worker, or its exception."""
    results: list[Any] = [None] * len(workers)

    def work(index: int) -> None:
        try:
            results[index] = body(workers[index])
        except Exception as error:
            results[index] = error

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(workers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def right(results: list[Any]) -> list[Any]:
    """The results, none of which is an exception."""
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def close(workers: list[inart.Worker]) -> None:
    """Ends all workers, in turn."""
    for worker in workers:
        worker.shutdown()
