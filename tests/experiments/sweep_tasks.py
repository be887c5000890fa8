"""Tasks and experiments for the tests of sweeps; as a script, a sweep to be interrupted."""

import os
import random
import signal
import sys
import time
from pathlib import Path

from experiments.declaration import Claim, Experiment, Verdict
from experiments.store import Store
from experiments.sweep import run_sweep


def make(task, points, **fields):
    """Build an experiment of one task over a list of points."""
    given = {
        "name": "selftest/points",
        "revision": 1,
        "summary": "tasks of the tests",
        "paper": "none",
        "figure": "sweep_tasks:draw",
        "seeds": 2,
    }
    if "claims" not in fields:
        own = fields.get("name", given["name"]).rpartition("/")[2]
        given["claims"] = (Claim(own, "A statement.", "none", "sweep_tasks:judge"),)
    return Experiment(**{**given, "grid": lambda _quick: points, "task": task, **fields})


def draw(rows, destination, context):
    destination.write_text(f"{len(rows)} rows, quick={context.quick}")


def judge(rows):
    return Verdict(f"{len(rows)} rows", "partly", {"n": len(rows)})


def draws(parameters, seed):
    """Return numbers that depend on everything a task may depend on."""
    generator = random.Random(f"{parameters} {seed}")
    return {"value": generator.random(), "cost": parameters["x"] + seed}


def counted(parameters, seed):
    """Leave a line in a file for every time a point is computed."""
    time.sleep(parameters.get("pause", 0))
    with open(parameters["calls"], "a") as stream:
        stream.write(f"{parameters['x']} {seed}\n")
    return {"cost": 1}


def fails_at_two(parameters, seed):
    if parameters["x"] == 2:
        raise ValueError(f"two is\nnot wanted (seed {seed})")
    return {"cost": 1}


def exits(parameters, seed):
    sys.exit("done for today")


def lacks_cost(parameters, seed):
    return {"value": 1}


def returns_list(parameters, seed):
    return {"value": [1, 2], "cost": 1}


def overwrites_parameter(parameters, seed):
    return {"x": 1, "cost": 1}


def special(parameters, seed):
    return {
        "nan": float("nan"),
        "infinity": float("inf"),
        "minus": float("-inf"),
        "zero": -0.0,
        "tenth": 0.1 + 0.2,
        "none": None,
        "truth": True,
        "text": "ä\n\u2028",
        "big": 2**70,
        "cost": 0,
    }


def numpy_scalars(parameters, seed):
    import numpy as np

    return {"a": np.float64(0.1), "b": np.int64(3), "c": np.bool_(True), "cost": np.float32(0.5)}


def kills_worker(parameters, seed):
    """End the worker process at the points that say so."""
    if parameters["x"] in parameters["killers"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"cost": 1}


def kills_worker_twice(parameters, seed):
    """End the worker process the first two times, in the middle of a task; others are slower."""
    deaths = Path(parameters["deaths"])
    if parameters["x"] == 1 and len(deaths.read_bytes()) < 2:
        with deaths.open("ab") as stream:
            stream.write(b"x")
        os._exit(7)
    return counted({"pause": 0.05, **parameters}, seed)


def sleeps(parameters, seed):
    """Take no time for small x and for ever for large x."""
    time.sleep(0.01 if parameters["x"] < 4 else 600)
    return {"cost": 1}


def chatters(parameters, seed):
    sys.stdout.write("a library's banner\n")
    os.write(1, b"printed from C\n")
    return {"cost": 1}


if __name__ == "__main__":
    # Arguments: results folder, task, file for calls, number of points, pause, workers.
    folder, task, calls, count, pause, workers = sys.argv[1:]
    points = [{"x": x, "calls": calls, "pause": float(pause)} for x in range(int(count))]
    with Store.open(folder) as store:
        report = run_sweep(
            make(f"sweep_tasks:{task}", points, seeds=1),
            store,
            workers=int(workers),
            progress=False,
        )
    sys.stderr.write(f"{report}\n")
    sys.exit(report.exit_code)
