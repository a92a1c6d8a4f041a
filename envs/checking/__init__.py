"""A conformance suite for vector environments of any project: `check_vector_env`.

It knows only Gymnasium and numpy: neither tasks nor solvers, and it loads neither torch nor Taichi.

| file | what |
|---|---|
| `suite` | `check_vector_env`: all checks in order |
| `outcomes`, `report` | checks, and their results |
| `source`, `subject`, `rollouts`, `trees` | environments, episodes of them, and nested arrays |
| `spaces` | checks of attributes, spaces and metadata |
| `results` | checks of the results of resets and steps |
| `seeding` | checks of seeds |
| `modes` | checks of the three autoreset modes |
| `resets` | checks of partial resets, whose actions reach whom, and time limits |
| `life` | checks of specs, pictures and `close` |
"""

from .report import NonconformanceError, Report, Result
from .suite import CHECKS, check_vector_env

__all__ = ["CHECKS", "NonconformanceError", "Report", "Result", "check_vector_env"]
