"""What the lab saves: rules, manifests, a report, commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from ....simulation.lab.saved import SCENARIO_FILE, Given, commands, rules_file, scenario_file
from ....simulation.lab.session import Session
from ...answering import about
from ...report.lab.report import report_html

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


def _report(session: Session, given: Given) -> Saved:
    state, bench = session.state, session.bench
    scenario, record = attrs.evolve(bench.scenario(state), warnings=session.answer.notices), session.record()
    told = about(
        scenario, [Path(path) for path in (*given.paths, *given.pods)], releases=[state.configuration.release],
        rules=[state.configuration.source.name], arguments=shlex.split(commands(state, session.material, given).splitlines()[-1])[1:],
    )  # fmt: skip
    pins = {name: bench.answer(pinned) for name, pinned in session.pins.items()}
    return "lab-report.html", HTML, report_html(record, bench.answer(session.history[0]), session.answer, pins, told)


SAVES: Mapping[str, Callable[[Session, Given], Saved]] = {
    "rules": _rules, "scenario": _scenario, "report": _report, "command": _command,
}  # fmt: skip
