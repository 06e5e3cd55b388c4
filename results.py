"""What schedulers and questions give: ``Decision``, and one class for each question. All but decisions are a ``Result``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .core.decision.decision import Decision as Decision
    from .simulation.functions.capacity import CapacityResult as CapacityResult
    from .simulation.functions.capacitycurve import CapacityCurveResult as CapacityCurveResult
    from .simulation.functions.compare import CompareResult as CompareResult
    from .simulation.functions.conform import ConformResult as ConformResult
    from .simulation.functions.drain import DrainResult as DrainResult
    from .simulation.functions.explain import ExplainResult as ExplainResult
    from .simulation.functions.migrate import MigrateResult as MigrateResult
    from .simulation.functions.newnodes import NewNodesResult as NewNodesResult
    from .simulation.functions.replay import ReplayResult as ReplayResult
    from .simulation.functions.results import Result as Result
    from .simulation.functions.simulate import SimulationResult as SimulationResult
    from .simulation.functions.sweep import SweepResult as SweepResult
    from .simulation.functions.whatif import WhatIfResult as WhatIfResult
else:
    from .exports import lazy

    __getattr__, __dir__ = lazy(__name__)
