"""What 1.30 and 1.31 decide differently from the release before, a sentence a test."""

from __future__ import annotations

from typing import Any

from kubeclassic import Plugin, Template
from kubeclassic.framework.cycle.state import PreFilterResult
from kubeclassic.framework.status import Code, Status
from tests.support.releasewalk import (
    profile,
)

MIB = 1 << 20
OFF = "Pod has a restartable init container and the SidecarContainers feature is disabled"


def ebs(number: int) -> dict[str, Any]:
    return {"name": f"v{number}", "awsElasticBlockStore": {"volumeID": f"vol-{number}"}}




class RejectsFirst(Plugin):
    name = "RejectsFirst"

    def pre_filter(self, pod: Template, cycle: Any) -> Status:
        return Status(Code.UNSCHEDULABLE, ("first",), self.name)


class RejectsSecond(RejectsFirst):
    name = "RejectsSecond"

    def pre_filter(self, pod: Template, cycle: Any) -> Status:
        return Status(Code.UNSCHEDULABLE, ("second",), self.name)


class NamesFirst(Plugin):
    name = "NamesFirst"

    def pre_filter(self, pod: Template, cycle: Any) -> PreFilterResult:
        return PreFilterResult(frozenset({"a"}))


class NamesSecond(NamesFirst):
    name = "NamesSecond"

    def pre_filter(self, pod: Template, cycle: Any) -> PreFilterResult:
        return PreFilterResult(frozenset({"b"}))


def with_plugins(*names: str) -> dict[str, Any]:
    return profile(plugins={"preFilter": {"enabled": [{"name": name} for name in names]}})










