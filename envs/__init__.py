"""Environments: tasks as batched functions, a vector environment and a single one over the same solver.

| file | what |
|---|---|
| `registry` | the table of tasks; registration with Gymnasium |
| `task`, `runner`, `terms` | what a task is, and what tasks share |
| one file a task | options, start, observation, reward terms, termination |
| `arena` | one task on one solver |
| `vector_env`, `single_env` | Gymnasium's two faces |
| `noise`, `seeds`, `actions`, `infos`, `faults`, `spaces`, `pictures`, `arrays` | one idea each, used by those |

Importing this package imports neither torch nor Taichi; Gymnasium loads the rest when an environment is made.
"""
