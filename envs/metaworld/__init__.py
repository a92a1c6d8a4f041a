"""Meta-World's tasks: a Sawyer arm whose gripper follows a mocap body, by their ids there, and their sets.

| place | what |
|---|---|
| `table`, `names` | the tasks by their ids; which tasks a set has |
| `sawyer` | the base class: model, starts, goals, observation, info |
| `rewards`, `grips` | terms of rewards |
| `reaching`, `grasping`, `sweeping`, `buttons`, `doors`, `turning`, `plates`, `tools`, `pegs` | the tasks |
| `fixtures`, `poses` | bodies that an episode places; quaternions of observations |
| `goals` | the goals that Meta-World draws for a seed |
| `task_set` | environments of several tasks as one vector environment |
"""
