"""Which taints a pod's tolerations cover."""

from __future__ import annotations

from collections.abc import Iterable

from ..objects import Taint, Toleration


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether one of *tolerations* covers *taint*.

    Upstream: pkg/apis/core/v1/helper/helpers.go TolerationsTolerateTaint
    """
    return any(toleration_tolerates(toleration, taint) for toleration in tolerations)


def toleration_tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether *toleration* covers *taint*: an empty effect or key covers any; seconds do not count.

    Upstream: k8s.io/api core/v1/toleration.go ToleratesTaint
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        # Upstream: an empty key with operator Equal covers every key that has this value.
        return toleration.value == taint.value
    return toleration.operator == "Exists"
