"""The classic Kubernetes scheduler, releases 1.12 to 1.16 and 1.27 to 1.34: the public names, each loaded at first use.

``Cluster`` and ``Scheduler`` decide; ``predicate``, ``priority`` and ``CATALOGUE`` are for your own rules, together with what rules
get (``Template``, ``Batch``, ``Cycle``) and return (``Failures``, ``Reason``, ``Reads``). ``Plugin`` is the base of plugins for
the framework, ``each_node`` makes one that looks at one node at a time, which answers ``unschedulable`` or ``unresolvable``;
``wait`` is Permit's answer for a pod that has to wait on its node.

``simulate``, ``capacity``, ``capacity_curve``, ``sweep``, ``add_nodes``, ``drain``, ``explain``, ``what_if``, ``compare``, ``replay``,
``migrate``, ``conform`` and ``import_openb`` do what the commands do, in one call each.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algorithmprovider.catalogue import CATALOGUE, Catalogue
    from .api.cluster import Cluster
    from .api.objects import Node, Pod
    from .core.arrays.batch import Batch
    from .core.cycle import Cycle
    from .core.decision.decision import Decision
    from .core.failures import Failures, Reason
    from .core.pods.template import Template
    from .core.rule import Reads
    from .exceptions import ExtenderError, KubeclassicError, ManifestError, PolicyError, UnknownNameError, WrongTypeError
    from .framework.options import Classic, Framework
    from .framework.plugin import Plugin, each_node
    from .framework.status import Status, unresolvable, unschedulable, wait
    from .predicates.rule import predicate
    from .priorities.rule import priority
    from .questions.capacity import CapacityResult, capacity
    from .questions.capacitycurve import CapacityCurveResult, capacity_curve
    from .questions.compare import CompareResult, compare
    from .questions.conform import ConformResult, conform
    from .questions.drain import DrainResult, drain
    from .questions.explain import ExplainResult, explain
    from .questions.importing import (
        ImportResult,
        import_alibaba2025,
        import_alibaba2026,
        import_azure_packing,
        import_csv,
        import_google2019,
        import_openb,
        import_simkube,
    )
    from .questions.migrate import MigrateResult, migrate
    from .questions.newnodes import NewNodesResult, add_nodes
    from .questions.replay import ReplayResult, replay
    from .questions.simulate import SimulationResult, simulate
    from .questions.sweep import SweepResult, sweep
    from .questions.whatif import WhatIfResult, what_if
    from .scheduler import Scheduler

__version__ = "0.1.0"

__all__ = [
    "CATALOGUE",
    "Batch",
    "CapacityCurveResult",
    "CapacityResult",
    "Catalogue",
    "Classic",
    "Cluster",
    "CompareResult",
    "ConformResult",
    "Cycle",
    "Decision",
    "DrainResult",
    "ExplainResult",
    "ExtenderError",
    "Failures",
    "Framework",
    "ImportResult",
    "KubeclassicError",
    "ManifestError",
    "MigrateResult",
    "NewNodesResult",
    "Node",
    "Plugin",
    "Pod",
    "PolicyError",
    "Reads",
    "Reason",
    "ReplayResult",
    "Scheduler",
    "SimulationResult",
    "Status",
    "SweepResult",
    "Template",
    "UnknownNameError",
    "WhatIfResult",
    "WrongTypeError",
    "__version__",
    "add_nodes",
    "capacity",
    "capacity_curve",
    "compare",
    "conform",
    "drain",
    "each_node",
    "explain",
    "import_alibaba2025",
    "import_alibaba2026",
    "import_azure_packing",
    "import_csv",
    "import_google2019",
    "import_openb",
    "import_simkube",
    "migrate",
    "predicate",
    "priority",
    "replay",
    "simulate",
    "sweep",
    "unresolvable",
    "unschedulable",
    "wait",
    "what_if",
]

_HOMES = {
    "algorithmprovider.catalogue": ("CATALOGUE", "Catalogue"),
    "api.cluster": ("Cluster",),
    "api.objects": ("Node", "Pod"),
    "core.arrays.batch": ("Batch",),
    "core.cycle": ("Cycle",),
    "core.decision.decision": ("Decision",),
    "core.failures": ("Failures", "Reason"),
    "core.rule": ("Reads",),
    "core.pods.template": ("Template",),
    "exceptions": ("ExtenderError", "KubeclassicError", "ManifestError", "PolicyError", "UnknownNameError", "WrongTypeError"),
    "framework.plugin": ("Plugin", "each_node"),
    "framework.options": ("Classic", "Framework"),
    "scheduler": ("Scheduler",),
    "questions.capacity": ("CapacityResult", "capacity"),
    "questions.capacitycurve": ("CapacityCurveResult", "capacity_curve"),
    "questions.compare": ("CompareResult", "compare"),
    "questions.conform": ("ConformResult", "conform"),
    "questions.drain": ("DrainResult", "drain"),
    "questions.explain": ("ExplainResult", "explain"),
    "questions.migrate": ("MigrateResult", "migrate"),
    "questions.newnodes": ("NewNodesResult", "add_nodes"),
    "questions.importing": (
        "ImportResult",
        "import_alibaba2025",
        "import_alibaba2026",
        "import_azure_packing",
        "import_csv",
        "import_google2019",
        "import_openb",
        "import_simkube",
    ),
    "questions.replay": ("ReplayResult", "replay"),
    "questions.simulate": ("SimulationResult", "simulate"),
    "questions.whatif": ("WhatIfResult", "what_if"),
    "questions.sweep": ("SweepResult", "sweep"),
    "framework.status": ("Status", "unresolvable", "unschedulable", "wait"),
    "predicates.rule": ("predicate",),
    "priorities.rule": ("priority",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name from where it lives."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
