"""The results of schedulers and questions: ``Decision``, and one class for each question, which is a
``Result``.

``Replay`` is the result of ``new_replay``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .core.decision.decision import Decision as Decision
    from .questions.asking import Result as Result
    from .questions.capacity.ask import CapacityResult as CapacityResult
    from .questions.compare.ask import CompareResult as CompareResult
    from .questions.conform.ask import ConformResult as ConformResult
    from .questions.drain.ask import DrainResult as DrainResult
    from .questions.explain.ask import ExplainResult as ExplainResult
    from .questions.migrate.ask import MigrateResult as MigrateResult
    from .questions.newnodes.ask import NewNodesResult as NewNodesResult
    from .questions.replay.ask import ReplayResult as ReplayResult
    from .questions.replay.replay import Replay as Replay
    from .questions.simulate.ask import SimulationResult as SimulationResult
    from .questions.sweep.ask import SweepResult as SweepResult
    from .questions.upgrade.ask import UpgradeResult as UpgradeResult
    from .questions.whatif.ask import WhatIfResult as WhatIfResult
else:
    from .exports import lazy

    __getattr__, __dir__ = lazy(__name__)
