"""MuJoCo's C instead of a `RigidSolver`: the same task code, judged by a simulator that others wrote.

| file | what |
|---|---|
| `solver` | `MujocoSolver`: a batch of environments, with the names that tasks, views, rays and pictures ask for |
| `world` | one environment: `MjModel`, `MjData`, a step, a reset, per-environment parameters, faults |
| `stepping` | steps of all environments, in several threads |
| `warned` | MuJoCo's warnings, passed on once |
| `readout` | quantities by MuJoCo's names in the shapes of `RigidSolver.get` |
| `rays` | rays at chosen geoms |
| `saved` | states, saved and taken |
| `limits` | mechanisms of Tumble's own that MuJoCo does not have: such models are refused |

Numbers are in double precision, on a processor, whatever `tumble.init` chose for Tumble's solver.
"""
