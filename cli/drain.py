"""``kubeclassic drain``: names of nodes, and on standard error the outcome and the nodes to add."""

from __future__ import annotations

import shlex
import sys
from typing import IO

from ..exceptions import visible
from ..questions.drain.ask import DrainResult, summary_lines
from .answering import answer, tell_unread
from .commands import Asking
from .console.output import note, note_lines
from .report.page.document import discreet
from .report.tables import width_of, wrapped


def answered(asking: Asking) -> int:
    """Drain, and print; the exit status."""
    result: DrainResult = asking.answer()

    def write_names(stream: IO[str]) -> None:
        stream.writelines(f"{visible(node)}\n" for node in result.can)

    origin = asking.about(result)
    status = answer(result, asking.output, lambda: origin, unread=False, forms={"name": write_names})
    lines = [*summary_lines(result.answer), *filter(None, [result.about_reasons])]
    note_lines(wrapped(lines, width_of(sys.stderr), "  "))
    if result.answer.add_nodes:
        # A page leaves out the folders of paths; a command that is run here wants them.
        whole = {discreet(word): word for word in (*map(str, asking.paths), *sys.argv[1:])}
        words = origin.asking("capacity", *result.answer.add_nodes)
        note(f"which nodes to add: {shlex.join(whole.get(word, word) for word in words)}")
    tell_unread(asking.inputs.scenario.warnings)
    return status
