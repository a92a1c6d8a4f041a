"""Faults of a URDF file: errors and notes of one sentence, with the file and the line."""

import difflib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

MOST_WARNED = 30
"""Notes about one file that a warning lists."""


class UrdfError(ValueError):
    """A URDF file is missing or broken, or describes no mechanism.

    Attributes:
        line: of the file; 0: the fault is that of the file.
        sentence: the message without the file and the line.
    """

    line = 0
    sentence = ""


class UrdfWarning(UserWarning):
    """A URDF file has parts that are not read, or that were read in another way than they may have been meant."""


@dataclass
class UrdfReport:
    """The findings about one file.

    Attributes:
        label: name of the file for messages.
        notes: sentences about parts that are not read or were changed, with their lines.
    """

    label: str
    notes: list[str] = field(default_factory=list)

    def fault(self, line: int, sentence: str) -> UrdfError:
        """Return the error about a line; 0: about the file."""
        error = UrdfError(f"{self.label}{f', line {line}' if line else ''}: {sentence}")
        error.line, error.sentence = line, sentence
        return error

    def note(self, line: int, sentence: str) -> None:
        """Keep a sentence about a line."""
        self.notes.append(f"line {line}: {sentence}" if line else sentence)

    def warn(self, stacklevel: int) -> None:
        """Warn once of all notes, of the first `MOST_WARNED` by their words.

        Args:
            stacklevel: as of `warnings.warn`, counted from the caller.
        """
        if self.notes:
            more = len(self.notes) - MOST_WARNED
            ending = f"; and {more} notes more" if more > 0 else ""
            text = f"{self.label}: {'; '.join(self.notes[:MOST_WARNED])}{ending}"
            warnings.warn(UrdfWarning(text), stacklevel=stacklevel + 1)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint with the known name that is nearest to a wrong one, to end a sentence with; "" without one."""
    candidates = list(known)
    near = difflib.get_close_matches(name, candidates, 1, 0.6)
    near = near or [each for each in candidates if each.lower() == name.lower()]
    return f"; did you mean '{near[0]}'?" if near else ""
