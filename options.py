"""Options of questions: a class for each, as in ``capacity(cluster, CapacityOptions(pod="web.yaml"))``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .questions.capacity.options import CapacityOptions as CapacityOptions
    from .questions.capacity.options import NewNodesOptions as NewNodesOptions
    from .questions.compare.options import CompareOptions as CompareOptions
    from .questions.conform.options import ConformOptions as ConformOptions
    from .questions.drain.options import DrainOptions as DrainOptions
    from .questions.explain.options import ExplainOptions as ExplainOptions
    from .questions.explain.options import WhatIfOptions as WhatIfOptions
    from .questions.migrate.options import MigrateOptions as MigrateOptions
    from .questions.replay.options import ReplayOptions as ReplayOptions
    from .questions.simulate.options import SimulationOptions as SimulationOptions
    from .questions.sweep.options import SweepOptions as SweepOptions
    from .questions.upgrade.options import UpgradeOptions as UpgradeOptions
else:
    from .exports import lazy

    __getattr__, __dir__ = lazy(__name__)
