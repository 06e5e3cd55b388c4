"""The rules of each release and their weights: releases, gates, providers and Policies."""

from __future__ import annotations

from .catalogue import CATALOGUE, Catalogue
from .policy import Policy, read_policy, resolve
from .releases import DEFAULT_RELEASE, RELEASES

__all__ = ["CATALOGUE", "DEFAULT_RELEASE", "RELEASES", "Catalogue", "Policy", "read_policy", "resolve"]
