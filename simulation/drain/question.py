"""What is asked: whether some nodes can go, or as many as possible."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ...api.meaning.labels import Matcher, SelectorError, parse_selector
from ...api.objects import Node
from ...exceptions import UnknownNameError, did_you_mean
from .auto import DrainWish, zone_of
from .plan import DrainPlan, plan_for, search_for
from .rules import DrainFlags
from .steadystate import SteadyState
from .verification import OnNode, ignored


@attrs.frozen(kw_only=True)
class DrainQuestion:
    """Nodes by name; or, without names, those of a zone or with labels; or with *auto* as many of these as possible."""

    nodes: tuple[str, ...] = ()
    auto: bool = False
    keep: int = 0
    zone: str | None = None
    node_selector: str | None = None
    mark: str = ""
    """What stands before the names of options in errors."""

    def checked(self, nodes: Sequence[Node]) -> DrainQuestion:
        """The same, with the names of the nodes that are asked about; nodes that are looked for have no names.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` for what does not go together or does not exist.
        """
        self._check_options()
        wish = self.wish()
        if self.zone is not None:
            zones = dict.fromkeys(sorted(zone for node in nodes if (zone := zone_of(node)) is not None))
            if self.zone not in zones:
                wanted = f"wanted one of {', '.join(zones)}" if zones else "wanted nodes with a zone, of which there are none"
                raise UnknownNameError(f'{self.mark}zone: got "{self.zone}", {wanted}{did_you_mean(self.zone, zones)}')
        known = {node.name for node in nodes}
        for name in self.nodes:
            if name not in known:
                raise UnknownNameError(f'node: got "{name}", wanted a node of the cluster{did_you_mean(name, known)}')
        if self.auto or self.nodes:
            return self
        chosen = tuple(node.name for node in nodes if wish.chooses(node))
        if not chosen:
            raise UnknownNameError(f'{self._name("node_selector")}: got "{self.node_selector}", which chooses no node')
        return attrs.evolve(self, nodes=chosen)

    def _check_options(self) -> None:
        is_choice = self.zone is not None or self.node_selector is not None
        if self.node_selector is not None and not self.node_selector.strip():
            raise UnknownNameError(f'{self._name("node_selector")}: got "", wanted labels such as pool=general')
        if self.nodes and (self.auto or is_choice):
            other = f"{self.mark}auto" if self.auto else f"{self.mark}zone or {self._name('node_selector')}"
            raise UnknownNameError(f'node: got "{self.nodes[0]}" beside {other}, wanted one of them')
        if not (self.nodes or self.auto or is_choice):
            choices = f"{self.mark}zone, {self._name('node_selector')} or {self.mark}auto"
            raise UnknownNameError(f"node: got none, wanted the names of nodes, {choices}")
        if self.keep < 0 or (self.keep and not self.auto):
            wanted = f"{self.mark}auto too" if self.keep > 0 else "0 or more"
            raise UnknownNameError(f"{self.mark}keep: got {self.keep}, wanted {wanted}")

    def _name(self, option: str) -> str:
        return f"{self.mark}{option.replace('_', '-') if self.mark else option}"

    def wish(self) -> DrainWish:
        """Which nodes may go."""
        return DrainWish(keep=self.keep, zone=self.zone, selector=matcher(self._name("node_selector"), self.node_selector))

    def answer(self, steady: SteadyState, flags: DrainFlags, on_node: OnNode = ignored) -> DrainPlan:
        """The answer to a question that was :meth:`checked`."""
        if self.auto:
            return search_for(steady, self.wish(), flags, on_node)
        return plan_for(steady, self.nodes, flags, on_node)


def matcher(name: str, text: str | None) -> Matcher:
    """The test that a selector *text* describes. Raises :class:`~kubeclassic.exceptions.UnknownNameError` with *name*."""
    try:
        return parse_selector(text or "")
    except SelectorError as error:
        raise UnknownNameError(f"{name}: {error}") from None
