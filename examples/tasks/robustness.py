"""Train with each difference; draw the return over its strength, for the policies that met it and that did not."""

import argparse
from pathlib import Path

import robust
from matplotlib.figure import Figure

from tumble.training.config import RunConfig
from tumble.training.evaluate import evaluate
from tumble.training.runs import Run
from tumble.training.train import train

parser = argparse.ArgumentParser()
parser.add_argument("--terms", nargs="*", default=[*robust.DRAWN, "encoder", "delay", "noise"])
parser.add_argument("--strengths", nargs="*", type=float, default=[0.0, 0.5, 1.0, 1.5, 2.0])
parser.add_argument("--steps", type=int, default=2_506_752)
parser.add_argument("--episodes", type=int, default=100)
asked = parser.parse_args()
packaged = RunConfig.packaged("tumble/QuadrupedFlat-v0", "ppo").replace(
    task="robust:me/Robust-v0", total_steps=asked.steps
)


def trained(term):
    """The run of a term, trained unless it is there."""
    folder = Path("runs", term or "none")
    if not folder.exists():
        train(packaged.replace(env={"term": term, "strength": 1.0} if term else {}), folder, progress="lines")
    return Run.find(folder)


def returns(run, term):
    """Mean returns and their standard errors, by the term's strength."""
    scores = []
    for strength in asked.strengths:
        options = {"term": term, "strength": strength}
        scores.append(evaluate(run, episodes=asked.episodes, options=options))
    return [score.mean for score in scores], [score.standard_error for score in scores]


figure = Figure(figsize=(13, 8), layout="constrained")
panels = figure.subplots(-(-len(asked.terms) // 5), 5, sharex=True, sharey=True, squeeze=False).flat
for panel, term in zip(panels, asked.terms, strict=False):
    for label, run in (("never met it", trained("")), ("trained at 1", trained(term))):
        mean, error = returns(run, term)
        panel.errorbar(asked.strengths, mean, error, capsize=2, label=label)
        print(f"{term:15} {label:12}", *(f"{value:6.1f}" for value in mean), flush=True)
    panel.set_title(term)
    panel.grid(alpha=0.3)
panels[0].legend()
figure.supxlabel("strength")
figure.supylabel("return of an episode")
figure.savefig("robustness.png", dpi=90)
