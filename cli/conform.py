"""``kubeclassic conform``: counts, the first cases that differ, or all answers."""

from __future__ import annotations

import json

import attrs

from ..api.record import as_document
from ..questions.conform.ask import families_in, manner_of
from ..simulation.conform import emitted, read_cases
from .answering import answer
from .commands import Asking
from .console.output import writing
from .console.progress import working


def answered(asking: Asking) -> int:
    """Run the cases, and print; the exit status."""
    options = asking.options
    families = families_in(asking.paths, asking.options)
    asking = attrs.evolve(asking, given=families)
    if not options.emit:
        found = attrs.evolve(asking.answer(), show=options.show)
        in_a_line = {"json": lambda stream: stream.write(json.dumps(as_document(found.document)) + "\n")}
        return answer(found, asking.output, forms=in_a_line)
    with (
        writing(asking.output.file) as stream,
        working("answering", len(families), "families", shown=not stream.isatty()) as work,
    ):
        for family in families:
            for case in read_cases(family.cases):
                stream.write(json.dumps(emitted(case, manner_of(options))) + "\n")
            work.done += 1
    return 0
