"""What schedulers and questions give: ``Decision``, and one class for each question, which is a ``Result``.

``Replay`` is what ``new_replay`` gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .core.decision.decision import Decision as Decision
    from .questions.capacity import CapacityResult as CapacityResult
    from .questions.compare import CompareResult as CompareResult
    from .questions.conform import ConformResult as ConformResult
    from .questions.drain import DrainResult as DrainResult
    from .questions.explain import ExplainResult as ExplainResult
    from .questions.migrate import MigrateResult as MigrateResult
    from .questions.newnodes import NewNodesResult as NewNodesResult
    from .questions.replay import ReplayResult as ReplayResult
    from .questions.result import Result as Result
    from .questions.simulate import SimulationResult as SimulationResult
    from .questions.sweep import SweepResult as SweepResult
    from .questions.upgrade import UpgradeResult as UpgradeResult
    from .questions.whatif import WhatIfResult as WhatIfResult
    from .simulation.replay.replay import Replay as Replay
else:
    from .exports import lazy

    __getattr__, __dir__ = lazy(__name__)
