"""Training with Stable-Baselines3: the bridge, runs that can be stopped and resumed, evaluation, the `tumble` command.

From the outside in: `cli` (the command) calls `train`, `evaluate` and `video`; `train` drives a `learner` (environments
behind `sb3_bridge`, normaliser, algorithm) built from a `config`, and keeps its `checkpoint`s in a folder of `runs`;
`policy` is the result. `rsl_rl` and `rllib` are bridges to libraries that nothing else here needs.
"""
