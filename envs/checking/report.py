"""The report of a conformance check: a result for each requirement, printed as a table."""

import textwrap
from dataclasses import dataclass

PASSED, FAILED, NOTED, NOT_APPLICABLE = "passed", "failed", "noted", "not applicable"
_WIDTH = 100


@dataclass(frozen=True)
class Result:
    """The end of one check.

    Attributes:
        name: the check's.
        requires: one sentence: the requirement.
        because: the words of Gymnasium's documentation.
        status: "passed", "failed", "noted" (allowed, and worth knowing) or "not applicable".
        seen: the observed fact, or the reason why the check does not apply.
        do: the advice after a failure.
    """

    name: str
    requires: str
    because: str
    status: str
    seen: str = ""
    do: str = ""

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.requires}", f"seen: {self.seen}", f"do: {self.do}", f"because: {self.because}"]
        return "\n".join(textwrap.fill(line, _WIDTH + 10, subsequent_indent="    ") for line in lines)


@dataclass(frozen=True)
class Report:
    """The results of all checks of some vector environments.

    Attributes:
        subject: the environments that were checked.
        results: one `Result` for each check, in order.
    """

    subject: str
    results: tuple[Result, ...]

    @property
    def failures(self) -> tuple[Result, ...]:
        """The results of checks that failed."""
        return self._of(FAILED)

    @property
    def notes(self) -> tuple[Result, ...]:
        """The results that Gymnasium allows, and that a user should know."""
        return self._of(NOTED)

    @property
    def passed(self) -> tuple[Result, ...]:
        """The results of checks that passed."""
        return self._of(PASSED)

    def __getitem__(self, name: str) -> Result:
        """Return the result of a check by its name.

        Raises:
            KeyError: no check has this name.
        """
        for result in self.results:
            if result.name == name:
                return result
        raise KeyError(name)

    def _of(self, status: str) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.status == status)

    def summary(self) -> str:
        """Return one line: how many checks ended how."""
        statuses = (PASSED, FAILED, NOTED, NOT_APPLICABLE)
        counts = ", ".join(f"{len(self._of(status))} {status}" for status in statuses)
        return f"{self.subject}: {counts}"

    def __str__(self) -> str:
        name = max((len(result.name) for result in self.results), default=0)
        status = max((len(result.status) for result in self.results), default=0)
        rows = []
        for result in self.results:
            head = f"{result.name:<{name}}  {result.status:<{status}}  "
            rows.append(textwrap.fill(head + result.seen, _WIDTH + 20, subsequent_indent=" " * len(head)).rstrip())
        return "\n".join([self.summary(), "", *rows, *(f"\n{failure}" for failure in self.failures)])


class NonconformanceError(AssertionError):
    """Vector environments differ from Gymnasium's documentation; `report` has all results."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report
