"""What runs, as the metric ``kubernetes_build_info`` says it."""

from __future__ import annotations

import platform

from ...framework.releases import ALL_PATCH_LEVELS
from ..client.http import user_agent

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Processors that Go calls otherwise."""


def build_values(version: str) -> dict[str, str]:
    """Label of the metric -> its value, for the release *version*; nothing here was built with Go.

    >>> found = build_values("1.15")
    >>> found["major"], found["minor"], found["git_version"].startswith("v1.15."), found["go_version"]
    ('1', '15', True, '')
    """
    major, _, minor = version.partition(".")
    empty = dict.fromkeys(("git_commit", "git_tree_state", "build_date", "go_version"), "")
    machine = platform.machine()
    return {
        **empty, "major": major, "minor": minor, "compiler": platform.python_implementation().lower(),
        "git_version": f"v{ALL_PATCH_LEVELS[version]}+{user_agent().replace('/', '.')}",
        "platform": f"{platform.system().lower()}/{_MACHINES.get(machine, machine)}",
    }  # fmt: skip
