"""``kubeclassic conform``: counts, and the first cases that differ."""

from __future__ import annotations

import json

import attrs

from ..api.record import as_document
from ..questions.conform.ask import families_in
from .answering import answer
from .commands import Asking


def answered(asking: Asking) -> int:
    """Run the cases, and print; the exit status."""
    options = asking.options
    asking = attrs.evolve(asking, inputs=families_in(asking.paths, options))
    result = attrs.evolve(asking.answer(), show=options.show)
    in_a_line = {"json": lambda stream: stream.write(json.dumps(as_document(result.document)) + "\n")}
    return answer(result, asking.output, forms=in_a_line)
