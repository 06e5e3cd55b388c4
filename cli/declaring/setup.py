"""The scheduler that a command line asks for: the values of its options, before the cluster is read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from ...api.objects import Node
from ...api.reading import shown
from ...choices import LEAVE_OUT, TIE_BREAKS
from ...core.engine import Engine
from ...exceptions import KubeclassicError, RuleError, UnknownNameError, did_you_mean
from ...extenders.choice import ConfiguredExtenders
from ...framework.options import (
    FIELDS,
    Called,
    OptionValues,
    declared_of,
    default_release,
    follows_nodes,
    options_of,
    version_of,
)
from ...framework.releases import AUTO, is_auto, telling_versions
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec


def flag_of(name: str) -> str:
    """An option as the command line calls it.

    >>> flag_of("gates")
    '--feature-gates'
    """
    return declared_of(FIELDS[name]).flags[0]


@attrs.frozen(slots=False, repr=False)
class Setup:
    """The options that make a scheduler. *values*: by the names that Python has; what is not there is the
    default."""

    values: OptionValues
    called: Called = flag_of
    """The name of an option in messages."""

    def get(self, name: str) -> Any:
        """The value of an option, or its default."""
        return self.values.get(name, FIELDS[name].default)

    def with_(self, **changes: Any) -> Setup:
        """The same with other values of some options."""
        return attrs.evolve(self, values={**self.values, **changes})

    def lasting(self) -> Setup:
        """The same for a process that runs on and on: it caches less where no option says how much."""
        return self.with_(memory_bytes=1 << 28) if self.get("memory_bytes") is None else self

    @property
    def release(self) -> str | None:
        """The release as it was given; ``auto`` where the nodes say it, too."""
        return AUTO if follows_nodes(self.values) else self.get("release")

    @property
    def version(self) -> str:
        """The release without a patch level; raises :class:`~kubeclassic.exceptions.UnknownNameError` for an
        unknown release."""
        return version_of(self.values)

    def settled(self, nodes: Iterable[Node], server: str = "") -> Setup:
        """The same, with the release that *nodes* run in place of ``auto``, or else that of the API
        *server*."""
        if not is_auto(self.release):
            return self
        versions = telling_versions([node.status.kubelet_version for node in nodes], server)
        return self.with_(release=default_release(self.values, versions))

    def check(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.UnknownNameError` for options that the release does not have;
        no file is read."""
        options_of(self.values, self.called)

    def refuse_early(self) -> None:
        """Raise what :attr:`spec` raises, as far as that can be said before the release of the nodes is
        known."""
        if not is_auto(self.release):
            self.spec  # noqa: B018

    @cached_property
    def spec(self) -> SchedulerSpec:
        """The scheduler of these options. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what
        is refused."""
        return SchedulerSpec.of(
            options_of(self.values, self.called), ConfiguredExtenders(self.get("extenders")), self.called
        )

    @property
    def may_call_extenders(self) -> bool:
        """Whether extenders may be configured, as far as is known before the cluster is read."""
        is_configured = any(
            self.get(name) is not None for name in ("policy_configmap", "policy", "profile", "config")
        )
        return (
            is_configured
            and self.get("extenders") not in ("off", None)
            and (is_auto(self.release) or self.spec.may_call_extenders)
        )


OPTIONS = {declared_of(field).key: name for name, field in FIELDS.items() if declared_of(field).key}
"""Key in a configuration's text -> the name of its option."""
RELEASE = re.compile(r"v?[0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,3})?|auto")
"""A configuration that is a release alone."""
NUMBER = re.compile("[0-9]{1,18}")
"""ASCII digits alone: other digits are numbers to Python, too."""


@contextmanager
def of_configuration(name: str) -> Iterator[None]:
    """A context whose errors say that they are about the configuration *name*."""
    try:
        yield
    except KubeclassicError as error:
        text = str(error).removeprefix(f"--{name}: ").removeprefix("--")
        named = f"--{name}: {text}"
        error.args = (named, *error.args[1:])
        if isinstance(error, RuleError):
            error.text = named
        raise


@attrs.frozen(repr=False)
class NamedSetup:
    """One configuration as it was given under *name*."""

    name: str
    text: str
    setup: Setup

    @classmethod
    def parse(cls, name: str, text: str, max_pd_vols: int | None = None) -> NamedSetup:
        """Read *text*; *max_pd_vols* is the limit of disks where it says none.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` unless it is a release or ``key=value`` with
        known keys and values.
        """
        text = f"release={text}" if RELEASE.fullmatch(text) else text
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UnknownNameError(f"--{name}: got {shown(text)}: {str(error).lower()}") from None
        texts = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or key not in OPTIONS:
                raise UnknownNameError(
                    f"--{name}: expected KEY=VALUE with {', '.join(OPTIONS)}, got {shown(word)}{did_you_mean(key, OPTIONS)}"
                )
            if key in texts:
                raise UnknownNameError(f"--{name}: got {key} twice")
            if not value:
                declared = declared_of(FIELDS[OPTIONS[key]])
                raise UnknownNameError(
                    f"--{name}: expected {key}={declared.example or declared.metavar or 'FILE'}, got {key} without a value"
                )
            if "\0" in value:
                raise UnknownNameError(f"--{name}: {key}: expected a value, got {shown(value)}")
            texts[key] = value
        values = {OPTIONS[key]: _read(name, key, value) for key, value in texts.items()}
        if max_pd_vols is not None:
            values = {"max_pd_vols": max_pd_vols, **values}
        named = cls(
            name, text, Setup(values, lambda option: f"--{name}: {declared_of(FIELDS[option]).key or option}")
        )
        if not is_auto(values.get("release")):
            with of_configuration(name):
                named.setup.check()
        return named

    def engine(self, config_maps: ConfigMaps | None = None) -> Engine:
        """A new scheduler; raises :class:`~kubeclassic.exceptions.KubeclassicError`, with the option's name,
        for what is refused."""
        with of_configuration(self.name):
            return self.setup.spec.engine(config_maps)


def _read(name: str, key: str, text: str) -> Any:
    """*text* as the option of that *key* takes it."""
    takes = declared_of(FIELDS[OPTIONS[key]]).takes
    expected = ""
    if takes == "file":
        return Path(text)
    if takes == "places":
        return tuple(text.split(","))
    if takes == "choice" and text not in TIE_BREAKS:
        expected = ", ".join(TIE_BREAKS)
    elif takes == "plugins" and text != LEAVE_OUT:
        expected = LEAVE_OUT
    elif takes in ("whole", "positive"):
        if NUMBER.fullmatch(text) and (takes == "whole" or int(text)):
            return int(text)
        expected = "a number above 0" if takes == "positive" else "a number from 0 to 100"
        text = text[:20] + "..." * (len(text) > 20)
    if expected:
        raise UnknownNameError(f"--{name}: {key}: expected {expected}, got {shown(text)}")
    return text
