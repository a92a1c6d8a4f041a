"""What is started in place of the process that compiles: it takes units from a store, and fails as it is told.

FAKE_COMPILER in the environment is a JSON object: "store": a folder with the units, or the names of units, whose code
is their names; "fails": how, from job number "after" on; "seconds": that each job takes; "plan_seconds": what the plan
takes beyond them.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from tumble.physics.machine.codegen.keys import key_of
from tumble.physics.machine.codegen.store import Store


def main():
    how = json.loads(os.environ["FAKE_COMPILER"])
    for count, line in enumerate(sys.stdin.buffer):
        job = json.loads(line)
        time.sleep(how.get("seconds", 0.0) + (how.get("plan_seconds", 0.0) if job["do"] == "plan" else 0.0))
        answer, code = _answer(job, how["store"])
        if how.get("fails") and count >= how["after"]:
            _fail(how["fails"], code)
        else:
            _send({**answer, "length": len(code)}, code)


def _answer(job, store):
    if isinstance(store, list):
        plan = {"units": {name: key_of(name) for name in store}, "numbers": {name: k for k, name in enumerate(store)}}
        return (plan, b"") if job["do"] == "plan" else ({}, job["unit"].encode())
    plan = json.loads(
        Store(Path(store)).load(key_of("program", {k: job[k] for k in ("width", "precision", "features")}))
    )
    return (plan, b"") if job["do"] == "plan" else ({}, Store(Path(store)).load(plan["units"][job["unit"]]))


def _send(answer, code):
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + code)
    sys.stdout.buffer.flush()


def _fail(how, code):
    if how == "says so":
        _send({"error": "no such thing", "length": 0}, b"")
    elif how == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "dies while it writes":
        _send({"length": len(code) + 1}, code)
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "leaves":
        sys.exit("these are my last words")
    else:
        print(how, flush=True)
