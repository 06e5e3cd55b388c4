"""Runs ``kubeclassic lab``: reads the cluster once, and serves its page until it is told to end."""

from __future__ import annotations

import asyncio
import gc

from ....exceptions import KubeclassicError
from ...engines.setup import Setup
from .asked import LabOptions


class LabOptionError(KubeclassicError):
    """A library that is not there."""


def run(setup: Setup, asked: LabOptions) -> int:
    """Serve until a signal says that it is enough; the exit status."""
    try:
        from .serving import LabSite
    except ModuleNotFoundError as error:
        raise LabOptionError(f"lab needs {error.name}: pip install 'kubeclassic[lab]'") from None
    site = LabSite.of(setup, asked)
    gc.collect()
    gc.freeze()  # the cluster stays: to scan it again and again would delay answers
    asyncio.run(site.serve())
    return 0
