"""The page docs/reference/duels.md, from `results/duels.json`: `python -m tumble.benchmarks.duels_page`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .duel_side import EPISODES, FIRST, GROWTH
from .duels import SCORES, name
from .history import RESULTS

RECORD, PAGE = RESULTS / "duels.json", RESULTS.parents[1] / "docs" / "reference" / "duels.md"
START = """# Duels

Written by `python -m tumble.benchmarks.duels_page` from `benchmarks/results/duels.json`; do not edit.

How long learners train until their policies reach scores, on one machine, one after the other: `{command}` on
{cores} cores of {processor}, {date}, {busy}. Tumble {tumble}, torch {torch}, Stable-Baselines3 {stable-baselines3},
Gymnasium {gymnasium}, MuJoCo {mujoco-core}, envpool {envpool}.

Gymnasium's own v5 task judges every policy: the mean return of {episodes} episodes from the same starts, with the most
likely actions. A policy is judged after {first:g} CPU s of training and whenever training has taken {growth:.0%}
longer. The clocks stand still meanwhile; they start when imports, environments and networks are made, and compiled code
is in the cache. A side ends at the last score, after {limit:,.0f} CPU seconds or with the steps of its recipe. Networks
and solvers of each side have {threads}; one seed ({seed}). In brackets: how many times as long as Tumble it took; "-":
the score was not reached.
{notes}"""
SIDES = """
## The sides

- Tumble trained as `tumble train TASK` did at the time of the record, with as many environments as the column "batch"
  says; later packaged settings may be faster ([Learning](learning.md)).
- Stable-Baselines3 has the numbers of the packaged configuration ("with Tumble's numbers"), or those of
  [RL Zoo][zoo]: one environment, a million steps.
- The single file is `benchmarks/plain_ppo.py`: torch's autograd as in [CleanRL][cleanrl], with its numbers, but 64
  environments of 32 steps an iteration and 3 million steps.
- mjbatch's Go1 example does not run here: mjbatch 0.1.4 is linked with MuJoCo 3.14 and Tumble needs MuJoCo 4, and its
  recipe (a mirrored policy, its own rewards) is no task of Tumble's.

## Published elsewhere

Others' numbers, on their machines, with their networks and settings; they were not measured here.

"""
LINKS = """
[zoo]: https://github.com/DLR-RM/rl-baselines3-zoo/blob/22e3ff24/hyperparams/ppo.yml
[cleanrl]: https://github.com/vwxyzjn/cleanrl/blob/016ca33a/cleanrl/ppo_continuous_action.py
[rl_games]: https://github.com/Denys88/rl_games/blob/037a0dab/docs/ENVPOOL.md
[torchrl]: https://github.com/BY571/rl/blob/9f25f87b/examples/mjwarp/RESULTS.md
"""
RL_GAMES = "[rl_games, envpool][rl_games]", "Apple M5 Max, 16 cores and its GPU"
TORCHRL = "[TorchRL, MuJoCo Warp][torchrl]", "RTX 4060 of a laptop, 4,096 environments"
PUBLISHED = (
    ("learner, environments", "machine", "task", "steps/s", "return after minutes"),
    (*RL_GAMES, "HalfCheetah", "34,000", "best 1,688 in 8.1"),
    (*RL_GAMES, "Ant", "27,000", "best 4,429 in 5.3"),
    (*RL_GAMES, "Walker2d", "31,400", "best 5,186 in 4.6"),
    (*RL_GAMES, "Hopper", "32,300", "best 3,485 in 2.2"),
    (*TORCHRL, "HalfCheetah", "97,500", "1,941 in 0.6, 3,998 in 4.0, 5,043 in 8.2"),
)
"""Numbers of the linked pages."""


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table; the first row has the headings."""
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body]) + "\n"


def section(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the heading and the table of a task."""
    task, first = rows[0]["task"], rows[0]
    names = [name(score) for score in SCORES[task]]

    def time(row: Mapping[str, Any], column: str) -> str:
        if column not in row:
            return "-"
        ratio = f" ({row[column] / first[column]:.1f})" if row is not first and column in first else ""
        return f"{row[column]:,.{0 if row[column] >= 10 else 1}f}{ratio}"

    lines = [["environments", "learner", "batch", *names, "steps a CPU second", "return at the end"]]
    for row in rows:
        end = f"{row['return']:,.0f} after {row['CPU seconds']:,.0f} s, {row['steps']:,} steps"
        head = [row["environments"], row["learner"], str(row["num_envs"]), *(time(row, column) for column in names)]
        lines.append([*head, f"{row['steps a CPU second']:,.0f}", end])
    return f"\n## {task}\n\n{table(lines)}"


def page(record: Mapping[str, Any]) -> str:
    """Return the text of the page for a record of `tumble bench duels`."""
    machine, options = record["machine"], record["options"]
    busy, threads = machine["busy before"], options["threads"]
    words = record["versions"] | options | {"command": record["command"], "date": record["date"][:10]}
    words |= {"processor": machine["processor"], "cores": machine["cores"]}
    words |= {"episodes": EPISODES, "first": FIRST, "growth": GROWTH - 1}
    words["threads"] = "one thread" if threads == 1 else f"{threads} threads"
    words["busy"] = "others kept them busy" if busy is None or busy > 0.05 else "which did nothing else"
    words["notes"] = "".join(f"{note}\n" for note in record["notes"])
    words["busy"] += "" if busy is None else f" ({busy:.0%} before)"
    measured = "".join(section(one["rows"]) for one in record["tables"])
    return START.format(**words) + measured + SIDES + table(PUBLISHED) + LINKS


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(json.loads(RECORD.read_text("utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
