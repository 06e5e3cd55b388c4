"""Configurations in words: ``release=1.16 policy=p.json``, quoted as in a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import attrs

from ...algorithmprovider.tiebreak import TIE_BREAKS
from ...api.objects import Node
from ...api.reading.fields import shown
from ...core.engine import Engine
from ...exceptions import PolicyError, UnknownNameError, did_you_mean
from ...framework.config.configuration import KubeSchedulerConfiguration
from ...framework.recipe import ConfigMaps
from ...framework.releases import is_auto
from ..declaring.paramtypes import plain_number
from .setup import Setup

KEYS = (
    "release", "policy", "profile", "config", "provider", "feature-gates", "percentage", "tie-break", "rules", "max-pd-vols",
    "extenders",
)  # fmt: skip
EXAMPLES = {
    "release": "RELEASE", "policy": "FILE", "profile": "FILE", "config": "FILE", "provider": "NAME", "feature-gates": "GATE=true",
    "percentage": "100", "tie-break": "random", "rules": "MODULE:NAME",
    "max-pd-vols": "16", "extenders": "off",
}  # fmt: skip
"""Key -> a value for it."""
NUMBER = re.compile("[0-9]{1,9}")
"""ASCII digits alone: other digits are numbers to Python, too."""
OLDER_ALONE = ("policy", "provider")


@attrs.frozen
class Wanted:
    """One configuration as it was given under *name*: a value by key."""

    name: str
    text: str
    values: dict[str, str]
    default_max_pd_vols: int | None = None
    """The limit of disks where it has none of its own."""

    @classmethod
    def parse(cls, name: str, text: str, max_pd_vols: int | None = None) -> Wanted:
        """Read *text*; raises :class:`~kubeclassic.exceptions.UnknownNameError` unless it is ``key=value`` with known keys."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UnknownNameError(f"--{name}: got {shown(text)}: {str(error).lower()}") from None
        values: dict[str, str] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or key not in KEYS:
                raise UnknownNameError(f"--{name}: got {shown(word)}, wanted KEY=VALUE with {', '.join(KEYS)}{did_you_mean(key, KEYS)}")
            if key in values:
                raise UnknownNameError(f"--{name}: got {key} twice")
            if not value:
                raise UnknownNameError(f"--{name}: got {key} without a value, wanted {key}={EXAMPLES[key]}")
            if "\0" in value:
                raise UnknownNameError(f"--{name}: {key}: got {shown(value)}, wanted a value")
            values[key] = value
        wanted = cls(name, text, values, max_pd_vols)
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
            gates=self.values.get("feature-gates"), percentage=self.percentage, tie_break=self.tie_break, rules=self.rules,
            max_pd_vols=self.max_pd_vols,
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
    def rules(self) -> tuple[str, ...]:
        """The places of the user's own rules."""
        return tuple(self.values["rules"].split(",")) if "rules" in self.values else ()

    @property
    def percentage(self) -> int | None:
        """The share of nodes to look for, if given."""
        text = self.values.get("percentage", "")
        return plain_number(text) if text[:1].isdigit() else None

    @property
    def max_pd_vols(self) -> int | None:
        """How many cloud disks of each type a node takes that does not say so, if given."""
        return int(self.values["max-pd-vols"]) if "max-pd-vols" in self.values else self.default_max_pd_vols

    def _check(self) -> None:
        if self.tie_break not in TIE_BREAKS:
            raise UnknownNameError(f'--{self.name}: tie-break: got {shown(self.tie_break)}, wanted {", ".join(TIE_BREAKS)}')
        self._check_number("percentage", "a number from 0 to 100")
        self._check_number("max-pd-vols", "a number above 0")
        setup = self.setup
        strange = [key for key in (OLDER_ALONE if self.runs_profiles else ("profile",)) if key in self.values]
        if strange:
            raise UnknownNameError(f"--{self.name}: got {strange[0]}, which release {setup.version} does not have")
        if "profile" in self.values and "config" in self.values:
            raise UnknownNameError(f"--{self.name}: got profile and config, wanted one of them")

    def _check_number(self, key: str, wanted: str) -> None:
        written = self.values.get(key, "0")
        if not NUMBER.fullmatch(written):
            told = written[:20] + "..." * (len(written) > 20)
            raise UnknownNameError(f'--{self.name}: {key}: got "{told}", wanted {wanted}')

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
