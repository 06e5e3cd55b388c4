"""Configurations in words: ``release=1.16 policy=p.json``, quoted as in a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

import attrs

from ..algorithmprovider.tiebreak import TIE_BREAKS
from ..api.objects import Node
from ..api.reading.fields import shown
from ..core.engine import Engine
from ..exceptions import PolicyError, UnknownNameError, did_you_mean
from ..framework.config.configuration import KubeSchedulerConfiguration
from ..framework.releases import is_auto
from .paramtypes import plain_number
from .setup import ConfigMaps, Setup

KEYS = ("release", "policy", "profile", "config", "provider", "feature-gates", "percentage", "tie-break", "extenders")
OLDER_ALONE = ("policy", "provider")


@attrs.frozen
class Wanted:
    """One configuration as it was given under *name*: a value by key."""

    name: str
    text: str
    values: dict[str, str]

    @classmethod
    def parse(cls, name: str, text: str) -> Wanted:
        """Read *text*; raises :class:`~kubeclassic.exceptions.UnknownNameError` unless it is ``key=value`` with known keys."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UnknownNameError(f"--{name}: got {text!r}: {str(error).lower()}") from None
        values: dict[str, str] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or key not in KEYS:
                raise UnknownNameError(f'--{name}: got "{word}", wanted KEY=VALUE with {", ".join(KEYS)}{did_you_mean(key, KEYS)}')
            if key in values:
                raise UnknownNameError(f"--{name}: got {key} twice")
            if not value or "\0" in value:
                raise UnknownNameError(f"--{name}: {key}: got {shown(value)}, wanted a value")
            values[key] = value
        wanted = cls(name, text, values)
        if not is_auto(values.get("release")):
            wanted._check()
        return wanted

    def settled(self, nodes: Iterable[Node]) -> Wanted:
        """The same, with the release that *nodes* run in place of ``auto``; raises as :meth:`parse`."""
        if not is_auto(self.values.get("release")):
            return self
        settled = attrs.evolve(self, values={**self.values, "release": self.setup.settled(nodes).version})
        settled._check()
        return settled

    @property
    def setup(self) -> Setup:
        """The same in the form of the options of other commands."""
        policy, profile, config = (Path(self.values[key]) if key in self.values else None for key in ("policy", "profile", "config"))
        return Setup(
            release=self.values.get("release"), provider=self.values.get("provider"), policy=policy, profile=profile, config=config,
            gates=self.values.get("feature-gates"), percentage=self.percentage, tie_break=self.tie_break,
            extenders=self.values.get("extenders"),
        )  # fmt: skip

    @property
    def runs_profiles(self) -> bool:
        """Whether it is a release of the framework."""
        return self.setup.runs_profiles

    @property
    def tie_break(self) -> str:
        """One of :data:`~kubeclassic.algorithmprovider.tiebreak.TIE_BREAKS`."""
        return self.values.get("tie-break", "release")

    @property
    def percentage(self) -> int | None:
        """The share of nodes to look for, if given."""
        text = self.values.get("percentage", "")
        return plain_number(text) if text[:1].isdigit() else None

    def _check(self) -> None:
        if self.tie_break not in TIE_BREAKS:
            raise UnknownNameError(f'--{self.name}: tie-break: got "{self.tie_break}", wanted {", ".join(TIE_BREAKS)}')
        if "percentage" in self.values and self.percentage is None:
            raise UnknownNameError(f'--{self.name}: percentage: got "{self.values["percentage"]}", wanted a number from 0 to 100')
        setup = self.setup
        strange = [key for key in (OLDER_ALONE if self.runs_profiles else ("profile",)) if key in self.values]
        if strange:
            raise UnknownNameError(f"--{self.name}: got {strange[0]}, which release {setup.version} does not have")
        if "profile" in self.values and "config" in self.values:
            raise UnknownNameError(f"--{self.name}: got profile and config, wanted one of them")

    # --- from words to a scheduler ------------------------------------------------------------------------------------

    def scheduler_name(self) -> str:
        """Whose pods it schedules; of several profiles, the first one's."""
        configuration = self.setup.configuration()
        if isinstance(configuration, KubeSchedulerConfiguration):
            return configuration.profiles[0].scheduler_name or "default-scheduler"
        return configuration.scheduler_name or "default-scheduler"

    def engine(self, config_maps: ConfigMaps | None = None) -> Engine:
        """A new scheduler; raises :class:`~kubeclassic.exceptions.KubeclassicError`, with the option's name, for what is refused."""
        setup = self.setup
        try:
            return setup.engine(setup.configuration(), config_maps)
        except PolicyError as error:
            raise PolicyError(f"--{self.name}: {error}") from None
