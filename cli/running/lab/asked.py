"""What the options of ``kubeclassic lab`` say."""

from __future__ import annotations

from pathlib import Path

import attrs

from ...declaring.options import ClusterChoice


@attrs.frozen(kw_only=True)
class LabOptions:
    """What the command line asks for, besides the scheduler."""

    paths: tuple[Path, ...]
    cluster: ClusterChoice
    live: tuple[str, ...] = ()
    """The words that name a live cluster, which is then the first of *paths*; none without one."""
    replays: tuple[Path, ...] = ()
    port: int = 0
    opens: bool = True
    """Open the page in the browser."""
    verbose: bool = False
