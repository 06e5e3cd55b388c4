"""Which makes of devices the selectors of classes and requests match. Each selector is asked once about each make.

Upstream: isSelectable and selectorsMatch in structured/internal/experimental/allocator_experimental.go.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ...api.objects import DeviceClass, DeviceSelector, ExactDeviceRequest
from .celfunctions import DeviceSelectorError
from .expressions import compiled
from .makes import Make

MOST_KEPT = 1 << 20
"""Answers that are kept."""


class AllocationError(Exception):
    """An allocation ends with an error; the text is upstream's."""


@attrs.define(eq=False, repr=False)
class Judge:
    """Asks selectors, and remembers what they answered."""

    _known: dict[tuple[str, int], bool | str] = attrs.field(factory=dict)
    """Expression and number of a make -> whether it matches, or the text of the error."""

    def matches(self, make: Make, device_class: DeviceClass, request: ExactDeviceRequest, claim: str) -> bool:
        """Whether the selectors of the class and of the request of *claim* match. Raises AllocationError."""
        of_class = self.refusing(make, device_class.spec.selectors, f"class {device_class.name}")
        return of_class is None and self.refusing(make, request.selectors, f"claim {claim}") is None

    def refusing(self, make: Make, selectors: Sequence[DeviceSelector], where: str) -> int | None:
        """The first of *selectors* that does not match *make*; None if all do. Raises AllocationError, which begins with *where*."""
        for number, selector in enumerate(selectors):
            found = self._ask(selector.expression or "", make)
            if isinstance(found, str):
                raise AllocationError(f"{where}: selector #{number}: {found}")
            if not found:
                return number
        return None

    def _ask(self, expression: str, make: Make) -> bool | str:
        found = self._known.get((expression, make.number))
        if found is None:
            try:
                found = compiled(expression).matches(make)
            except DeviceSelectorError as error:
                found = str(error)
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            self._known[expression, make.number] = found
        return found
