"""What ``kubeclassic serve`` does."""

from __future__ import annotations

import asyncio
import gc

from ...engines.setup import Setup
from .serveoptions import ServeOptionError, ServeOptions


def run(setup: Setup, asked: ServeOptions) -> int:
    """Serve until a signal says that it is enough; the exit status."""
    asked.check()
    try:
        from .serving import ServerSite
    except ModuleNotFoundError as error:
        raise ServeOptionError(f"serve needs {error.name}: pip install 'kubeclassic[serve]'") from None
    site = ServerSite.of(setup, asked)
    gc.collect()
    gc.freeze()  # the cluster stays: to scan it again and again would delay answers
    if asyncio.run(site.serve()):
        raise KeyboardInterrupt
    return 0
