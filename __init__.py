"""The Kubernetes scheduler, releases 1.12 to 1.36: clusters, schedulers and questions, each loaded at first
use.

``Cluster`` and ``Scheduler`` decide; ``Classic`` and ``Framework`` are the options of a scheduler.
``simulate``, ``explain`` and the other functions do what the commands of these names do, in one call each.

Their options are in ``kubeclassic.options``, their results in ``kubeclassic.results``, and their errors in
``kubeclassic.exceptions``. ``kubeclassic.rules`` and ``kubeclassic.plugins`` have the building blocks of
rules and plugins of your own; ``kubeclassic.traces`` reads published traces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import exceptions as exceptions
    from . import options as options
    from . import plugins as plugins
    from . import results as results
    from . import rules as rules
    from . import traces as traces
    from .api.cluster import Cluster as Cluster
    from .api.objects import Node as Node
    from .api.objects import Pod as Pod
    from .exceptions import KubeclassicError as KubeclassicError
    from .framework.options import Classic as Classic
    from .framework.options import Framework as Framework
    from .questions.capacity.ask import capacity as capacity
    from .questions.compare.ask import compare as compare
    from .questions.conform.ask import conform as conform
    from .questions.drain.ask import drain as drain
    from .questions.explain.ask import explain as explain
    from .questions.migrate.ask import migrate as migrate
    from .questions.newnodes.ask import add_nodes as add_nodes
    from .questions.replay.ask import new_replay as new_replay
    from .questions.replay.ask import replay as replay
    from .questions.simulate.ask import simulate as simulate
    from .questions.sweep.ask import sweep as sweep
    from .questions.upgrade.ask import upgrade as upgrade
    from .questions.whatif.ask import what_if as what_if
    from .scheduler import Scheduler as Scheduler
else:
    from .exports import lazy

    __getattr__, __dir__ = lazy(__name__)
