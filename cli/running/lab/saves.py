"""What the lab saves: rules, manifests, a report, commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ....simulation.lab.saved import SCENARIO_FILE, Given, commands, rules_file, scenario_file
from ....simulation.lab.session import Session

Saved = tuple[str, str, str]
"""Name, media type, text."""
YAML, JSON, PLAIN, HTML = "application/yaml", "application/json", "text/plain", "text/html"


def saved(what: str, session: Session, given: Given) -> Saved:
    """The current state as the file *what*, one of :data:`SAVES`."""
    return SAVES[what](session, given)


def _rules(session: Session, given: Given) -> Saved:
    name, text = rules_file(session.state.configuration)
    return name, JSON if name.endswith(".json") else YAML, text


def _scenario(session: Session, given: Given) -> Saved:
    return SCENARIO_FILE, YAML, scenario_file(session.bench.scenario(session.state))


def _command(session: Session, given: Given) -> Saved:
    return "lab-command.sh", PLAIN, commands(session.state, session.material, given)


SAVES: Mapping[str, Callable[[Session, Given], Saved]] = {"rules": _rules, "scenario": _scenario, "command": _command}
