"""The names for rules of your own, for releases 1.12 to 1.16.

``predicate`` and ``priority`` declare a rule, and ``CATALOGUE.with_`` adds it to upstream's. A rule gets
``Template``, ``Batch`` and ``Cycle``; a predicate returns ``Failures`` with a ``Reason``. ``Reads`` says what
of the cluster a rule depends on; ``Clause``, ``DomainSum`` and ``Sums`` say what it counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .algorithmprovider.catalogue import CATALOGUE as CATALOGUE
    from .algorithmprovider.catalogue import Catalogue as Catalogue
    from .core.arrays.batch import Batch as Batch
    from .core.arrays.census import PodsMatching as PodsMatching
    from .core.arrays.counts import Clause as Clause
    from .core.arrays.counts import DomainSum as DomainSum
    from .core.arrays.counts import Sums as Sums
    from .core.arrays.counts import judged as judged
    from .core.arrays.failures import Failures as Failures
    from .core.arrays.failures import Reason as Reason
    from .core.cycle import Cycle as Cycle
    from .core.cycle import Reads as Reads
    from .core.pods.template import Template as Template
    from .predicates.rule import predicate as predicate
    from .priorities.rule import priority as priority
else:
    from .exports import lazy

    __getattr__, __dir__ = lazy(__name__)
