"""The scheduler that a command line asks for: the values of its options, before the cluster is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs

from ...api.objects import Node
from ...choices import DEFAULT_FRAMEWORK, DEFAULT_RELEASE
from ...extenders.choice import ConfiguredExtenders
from ...framework.options import FIELDS, declared_of, in_words, options_of, version_of
from ...framework.releases import AUTO, FRAMEWORK_RELEASES, chosen_release, is_auto
from ...framework.schedulerspec import SchedulerSpec


def flag_of(name: str) -> str:
    """An option as the command line calls it.

    >>> flag_of("gates")
    '--feature-gates'
    """
    return declared_of(FIELDS[name]).flags[0]


@attrs.frozen(slots=False)
class Setup:
    """What a scheduler is made from, as far as options say. *values*: by the names that Python has; what is not there is the default."""

    values: Mapping[str, Any] = attrs.field(factory=dict)
    called: Callable[[str], str] = flag_of
    """How messages name an option."""

    def get(self, name: str) -> Any:
        """The value of an option, or its default."""
        return self.values.get(name, FIELDS[name].default)

    def with_(self, **changes: Any) -> Setup:
        """The same with other values of some options."""
        return attrs.evolve(self, values={**self.values, **changes})

    @property
    def release(self) -> str | None:
        """The release as it was given."""
        found: str | None = self.get("release")
        return found

    @property
    def version(self) -> str:
        """The release without a patch level; raises :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown release."""
        return version_of(self.values)

    @property
    def runs_profiles(self) -> bool:
        """Whether it is a release of the framework."""
        return self.version in FRAMEWORK_RELEASES

    def settled(self, nodes: Iterable[Node]) -> Setup:
        """The same, with the release that *nodes* run in place of ``auto``."""
        if not is_auto(self.release):
            return self
        default = DEFAULT_RELEASE if self.get("profile") is None else DEFAULT_FRAMEWORK
        return self.with_(release=chosen_release(AUTO, (node.status.kubelet_version for node in nodes), default).version)

    def in_words(self) -> list[str]:
        """The options that choose rules, a line each; empty where all is as the release does it."""
        return list(in_words(self.values))

    def check(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.UnknownNameError` for options that the release does not have; no file is read."""
        options_of(self.values, self.called)

    @cached_property
    def spec(self) -> SchedulerSpec:
        """What the scheduler is made from. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what is refused."""
        return SchedulerSpec.of(options_of(self.values, self.called), ConfiguredExtenders(self.get("extenders")), self.called)

    @property
    def may_call_extenders(self) -> bool:
        """Whether extenders may be configured, as far as is known before the cluster is read."""
        given = any(self.get(name) is not None for name in ("policy_configmap", "policy", "profile", "config"))
        return given and self.get("extenders") != "off" and (is_auto(self.release) or self.spec.may_call_extenders)
