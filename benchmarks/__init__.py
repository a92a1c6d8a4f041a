"""Speed: Tumble against its peers and against itself. `tumble bench` is the way in.

| file | what |
|---|---|
| `main` | the command line: one row for each benchmark |
| `timing` | sides that take turns; medians and spreads |
| `results` | tables, verdicts, JSON with command, date and machine |
| `models` | the models of the comparisons, their settings and states |
| `physics`, `workload` | physics steps against `mujoco.rollout`; whether both sides do the same work |
| `envs`, `peers` | environment steps against envpool and Gymnasium's vector environment |
| `duels`, `duel_side`, `plain_ppo`, `duels_page` | seconds of training to scores, beside other learners; the page |
| `gradients`, `mjx_peer` | derivatives of steps, beside mjd_transitionFD and MJX |
| `processes` | one run by two processes beside one; clusters, simulated |
| `single` | one environment against Gymnasium's own |
| `start`, `first_step` | seconds from the shell to the first step, and peak memory |
| `start_cpu`, `start_models` | CPU seconds up to the first step of a solver, against another version of Tumble |
| `lanes`, `operations`, `smooth` | the vocabulary of lanes against one lane and numpy; kinematics to solve |
| `stages` | a physics step stage by stage (`tumble bench profile`) |
| `inside` | the internals of the engine that benchmarks use, in one place |

Every comparison runs both sides in the same process, taking turns; a figure is the median over rounds. Nothing else
may run on the machine meanwhile.
"""
