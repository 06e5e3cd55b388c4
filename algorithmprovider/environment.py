"""What kube-scheduler reads from its environment."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..api.objects.quantity import MAX_INT64

MAX_PD_VOLS = "KUBE_MAX_PD_VOLS"
"""How many cloud disks of each type a node can have that does not say so itself."""
_DIGITS = re.compile(r"\+?0*([0-9]{1,19})", re.ASCII)


def max_pd_vols(environment: Mapping[str, str]) -> int | None:
    """The limit in *environment*; None if there is none, or if it is no whole number above 0 of 64 bits.

    Upstream: getMaxVolLimitFromEnv in predicates.go, later in nodevolumelimits; what it cannot read it logs and ignores.
    """
    found = _DIGITS.fullmatch(environment.get(MAX_PD_VOLS, ""))
    limit = int(found[1]) if found else 0
    return limit if 0 < limit <= MAX_INT64 else None


def ignored_limit(environment: Mapping[str, str]) -> str | None:
    """A line about a limit that is there and does not count."""
    written = environment.get(MAX_PD_VOLS, "")
    if not written or max_pd_vols(environment) is not None:
        return None
    text = written[:40] + "..." * (len(written) > 40)
    return f"{MAX_PD_VOLS}: got {text!r}, wanted a whole number above 0; it is ignored, as the original does"
