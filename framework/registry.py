"""Which plugins a profile may name. Upstream: pkg/scheduler/framework/plugins/registry.go."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .plugin import Plugin
from .plugins.nodename import NodeName

DEFAULT_REGISTRY: Mapping[str, type[Plugin]] = MappingProxyType({plugin.name: plugin for plugin in (NodeName,)})
"""Name -> class; a user's own mapping may be given beside it."""
