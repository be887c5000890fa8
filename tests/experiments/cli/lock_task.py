"""A task in a module that makes a lock, as Pyomo does when it is imported."""

import multiprocessing

LOCK = multiprocessing.Lock()


def task(_parameters, _seed):
    """Return a row; the lock stays."""
    with LOCK:
        return {"cost": 1}
