"""Kubeconfigs for the API server of the tests."""

import yaml


def kubeconfig(folder, cluster, user=None, **more):
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
    path.write_text(yaml.safe_dump(document))
    return path
