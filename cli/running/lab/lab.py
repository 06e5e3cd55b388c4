"""Runs ``kubeclassic lab``: reads the cluster once, and serves its page until it is told to end."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import attrs

from ....exceptions import KubeclassicError
from ...declaring.options import ClusterChoice
from ...engines.setup import Setup


class LabOptionError(KubeclassicError):
    """A library that is not there."""


@attrs.frozen(kw_only=True)
class Asked:
    """What the command line asks for, besides the scheduler."""

    paths: tuple[Path, ...]
    cluster: ClusterChoice
    replays: tuple[Path, ...] = ()
    port: int = 0
    opens: bool = True
    """Open the page in the browser."""
    verbose: bool = False


def run(setup: Setup, asked: Asked) -> int:
    """Serve until a signal says that it is enough; the exit status."""
    try:
        from .serving import Site
    except ModuleNotFoundError as error:
        raise LabOptionError(f"lab needs {error.name}: pip install 'kubeclassic[lab]'") from None
    site = Site.of(setup, asked)
    gc.collect()
    gc.freeze()  # the cluster stays: to scan it again and again would delay answers
    asyncio.run(site.serve())
    return 0
