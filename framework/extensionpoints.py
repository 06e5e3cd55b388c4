"""The extension points; the methods of a plugin at each of them are described in :mod:`.plugin`.

Upstream: pkg/scheduler/framework/interface.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OURS = f"{__package__}.plugins."
"""Where upstream's plugins are."""
POINTS: Mapping[str, str] = {
    "preEnqueue": "pre_enqueue",
    "queueSort": "less",
    "preFilter": "pre_filter",
    "filter": "filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
}
"""Extension point as a configuration names it -> the method that makes a plugin join it."""
Points = Mapping[str, tuple[Any, ...]]
"""Extension point -> the plugins of a profile there, in running order. Filter and Score plugins run as rules: ``Profile.algorithm``."""
