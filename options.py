"""What questions take: a class of options for each, as in ``capacity(cluster, CapacityOptions(pod="web.yaml"))``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .questions.options.capacity import CapacityOptions as CapacityOptions
    from .questions.options.capacity import NewNodesOptions as NewNodesOptions
    from .questions.options.compare import CompareOptions as CompareOptions
    from .questions.options.conform import ConformOptions as ConformOptions
    from .questions.options.drain import DrainOptions as DrainOptions
    from .questions.options.explain import ExplainOptions as ExplainOptions
    from .questions.options.explain import WhatIfOptions as WhatIfOptions
    from .questions.options.migrate import MigrateOptions as MigrateOptions
    from .questions.options.replay import ReplayOptions as ReplayOptions
    from .questions.options.simulate import SimulationOptions as SimulationOptions
    from .questions.options.sweep import SweepOptions as SweepOptions
    from .questions.options.upgrade import UpgradeOptions as UpgradeOptions
else:
    from .exports import lazy

    __getattr__, __dir__ = lazy(__name__)
