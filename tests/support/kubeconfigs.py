"""Kubeconfigs for the API server of the tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def kubeconfig(
    folder: Path, cluster: Mapping[str, Any], user: Mapping[str, Any] | None = None, **more: Any
) -> Path:
    """A kubeconfig with one context, ``there``."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": dict(cluster)}],
        "users": [{"name": "u", "user": dict(user or {})}],
        "contexts": [{"name": "there", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "there",
        **more,
    }
    path = folder / "kubeconfig.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path
