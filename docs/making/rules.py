"""The pages of predicates, priorities and plugins: what each is, its formula, an example, and how releases differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import attrs
from making import examples
from making.markdown import block, code, escaped, first_sentence, prose, table, upstream
from making.rulewords import FORMULAS, words_of

from kubeclassic.algorithmprovider.gates import resolved_gates
from kubeclassic.framework.config.args import takes_args
from kubeclassic.framework.config.fielderrors import Context
from kubeclassic.framework.describe import (
    DescribedPlugin,
    Successor,
    describe_any,
    diff_any,
    has_plugins,
    plugin_in_words,
    points_of,
)
from kubeclassic.framework.registry import DEFAULT_REGISTRY
from kubeclassic.framework.releases import ALL_RELEASES, life_of
from kubeclassic.predicates import CATALOGUE as PREDICATES
from kubeclassic.predicates.checknodelabelpresence import node_label_presence
from kubeclassic.predicates.checkserviceaffinity import service_affinity
from kubeclassic.priorities import CATALOGUE as PRIORITIES
from kubeclassic.priorities.nodelabel import node_label
from kubeclassic.priorities.requestedtocapacityratio import requested_to_capacity_ratio_of
from kubeclassic.priorities.serviceantiaffinity import service_anti_affinity

RELEASES = tuple(ALL_RELEASES)
OLDER = tuple(release for release in RELEASES if not has_plugins(release))
WITH_PLUGINS = tuple(release for release in RELEASES if has_plugins(release))
FIRST = WITH_PLUGINS[0]
"""The release in which plugins replaced rules."""
NEWEST = Context(ALL_RELEASES[RELEASES[-1]], resolved_gates(ALL_RELEASES[RELEASES[-1]]))
FOLDER = "reference"


@attrs.frozen
class Rule:
    """A predicate, a priority or a plugin, and where its documentation comes from."""

    kind: str
    """``predicate``, ``priority`` or ``plugin``."""
    name: str
    documented: Any
    """The function, class or maker with the docstring."""
    told: Any
    """What has the docstring that its page begins with."""

    @property
    def text(self) -> str:
        """That docstring."""
        return self.told.__doc__ or ""

    @property
    def folder(self) -> str:
        """The folder of its page."""
        return {"predicate": "predicates", "priority": "priorities", "plugin": "plugins"}[self.kind]

    @property
    def path(self) -> str:
        """Its page."""
        return f"{FOLDER}/{self.folder}/{self.name}.md"


def predicates() -> Iterator[Rule]:
    """Every predicate: upstream's, and those that a Policy makes by an argument."""
    for name, found in PREDICATES.items():
        yield Rule("predicate", name, found.check, found.check)
    yield Rule(
        "predicate", "CheckNodeLabelPresence", node_label_presence, node_label_presence("x", (), True).check
    )
    yield Rule("predicate", "CheckServiceAffinity", service_affinity, service_affinity("x", ()).check)


def priorities() -> Iterator[Rule]:
    """Every priority: upstream's, and those that a Policy makes by an argument."""
    for name, found in PRIORITIES.items():
        made = requested_to_capacity_ratio_of if name == "RequestedToCapacityRatioPriority" else found.score
        yield Rule(
            "priority",
            name,
            made,
            PRIORITIES["SelectorSpreadPriority" if name == "ServiceSpreadingPriority" else name].score,
        )
    yield Rule("priority", "labelPreference", node_label, node_label("x", "y", True).score)
    yield Rule(
        "priority", "serviceAntiAffinity", service_anti_affinity, service_anti_affinity("x", "y").score
    )


def plugins() -> Iterator[Rule]:
    """Every plugin of the framework."""
    for name, found in DEFAULT_REGISTRY.items():
        if name not in PRIORITIES:  # some of those ran as if they were plugins, but no profile can name them
            yield Rule("plugin", name, found, found)


def all_rules() -> Iterator[Rule]:
    """Predicates, priorities and plugins."""
    yield from predicates()
    yield from priorities()
    yield from plugins()


# --- pages ----------------------------------------------------------------------------------------------------------


def pages() -> Iterator[tuple[str, str]]:
    """(path, text) of the page of each rule, and of the three lists."""
    described = {release: describe_any(release) for release in RELEASES}
    replaced = diff_any(OLDER[-1], FIRST).successors
    for rule in all_rules():
        yield rule.path, page(rule, described, replaced)
    yield f"{FOLDER}/predicates/index.md", _list("Predicates", _PREDICATES, list(predicates()), described)
    yield f"{FOLDER}/priorities/index.md", _list("Priorities", _PRIORITIES, list(priorities()), described)
    yield f"{FOLDER}/plugins/index.md", _plugin_list()


_PREDICATES = """A predicate is a question that each node has to pass. Releases 1.12 to 1.16 ask them in the order of this table, and
stop at the first that a node fails, unless a Policy has `alwaysCheckAllPredicates`."""
_PRIORITIES = """A priority scores the nodes that fit, from 0 to 10. The total of a node is the sum of its scores, each times the priority's
weight."""
_PLUGINS = f"""A plugin joins one or more extension points. Filter plugins turn nodes down, score plugins give 0 to 100. Releases from
{FIRST} on have plugins."""


def page(rule: Rule, described: Mapping[str, Any], replaced: Sequence[Successor]) -> str:
    """The page of *rule*."""
    formula = words_of(FORMULAS, rule.name, "FORMULAS of docs/making/rulewords.py")
    parts = [f"# {rule.name}\n", prose(rule.text), "## Formula\n", block(formula)]
    parts += [
        "## By release\n",
        *(_plugin_releases(rule, described) if rule.kind == "plugin" else _releases(rule, described)),
    ]
    parts += _successors(rule, replaced)
    parts += _life(rule)
    parts += ["## Example\n", *_example(rule), "## Where it is\n", _place(rule)]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _releases(rule: Rule, described: Mapping[str, Any]) -> Iterator[str]:
    how = {
        release: getattr(described[release], rule.folder).get(rule.name, _absent(rule)) for release in OLDER
    }
    yield table(["release", "how it runs"], together(how))


def _absent(rule: Rule) -> str:
    return (
        "a Policy makes it by an argument, under a name of its own"
        if rule.name in examples.ARGUMENTS
        else "unknown"
    )


def together(values: Mapping[str, str]) -> list[list[str]]:
    """Release -> text as rows, those of neighbours with the same text as one.

    >>> together({"1.12": "on", "1.13": "on", "1.14": "off"})
    [['1.12 to 1.13', 'on'], ['1.14', 'off']]
    """
    groups = [
        (text, [release for release, _ in found])
        for text, found in groupby(values.items(), key=itemgetter(1))
    ]
    return [
        [releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}", text]
        for text, releases in groups
    ]


def _plugin_releases(rule: Rule, described: Mapping[str, Any]) -> Iterator[str]:
    how = {release: _how(described[release].plugins.get(rule.name)) for release in WITH_PLUGINS}
    yield table(["release", "how it runs"], together(how))
    yield f"Its extension points: {', '.join(points_of(rule.name))}."
    if takes_args(rule.name, NEWEST):
        yield f"Its arguments: [{rule.name}Args](../configuration/profile.md#{rule.name.lower()}args)."


def _how(plugin: DescribedPlugin | None) -> str:
    return "-" if plugin is None else plugin_in_words(plugin)


def _successors(rule: Rule, replaced: Sequence[Successor]) -> Iterator[str]:
    """What took the place of a predicate or priority in the first release with plugins; of a plugin, what it took the place of."""
    if rule.kind == "plugin":
        rows = [
            [_linked(found), found.words]
            for found in replaced
            if rule.name in [one.plugin for one in found.plugins]
        ]
        head = f"What it took the place of, and what became different since {OLDER[-1]}:"
        headers = ["rule", "what is different"]
    else:
        rows = [[_plugins_of(found), found.words] for found in replaced if found.rule == rule.name]
        head, headers = f"In {FIRST} there are plugins instead:", ["plugin", "what is different"]
    if rows:
        yield head
        yield table(headers, rows)


def _life(rule: Rule) -> Iterator[str]:
    """What releases do otherwise about *rule*, oldest first."""
    facts = [fact for fact in life_of(rule.name) if fact.decides]
    if facts:
        yield "## Its life\n"
        taken = [f" (a bug, which {fact.fixed} took back)" if fact.fixed else "" for fact in facts]
        yield "\n".join(
            f"* {fact.release}: {escaped(fact.sentence)}{told}"
            for fact, told in zip(facts, taken, strict=True)
        )


def _linked(found: Successor) -> str:
    if found.rule is None:
        return "-"
    folder = "predicates" if found.kind == "predicate" else "priorities"
    return f"[{found.rule}](../{folder}/{found.rule}.md)"


def _plugins_of(found: Successor) -> str:
    return (
        ", ".join(f"{plugin_link(one.plugin)} ({', '.join(one.points)})" for one in found.plugins) or "none"
    )


def plugin_link(name: str) -> str:
    """A link to the page of a plugin, from that of another rule or a release; a priority that ran as if it were one has none."""
    return code(name) if name in PRIORITIES else f"[{name}](../plugins/{name}.md)"


def _example(rule: Rule) -> Iterator[str]:
    made = {
        "predicate": examples.of_predicate,
        "priority": examples.of_priority,
        "plugin": examples.of_plugin,
    }[rule.kind](rule.name)
    for name, text in made.files.items():
        yield block(text, "python" if name.endswith(".py") else "yaml", name)
    yield block(f"$ {made.command}\n{made.printed()}", "console")


def _place(rule: Rule) -> str:
    module = rule.documented.__module__.partition(".")[2].replace(".", "/")
    source = f"In the source: [`{module}.py`](../../../{module}.py)."
    told = upstream(rule.text) or upstream(rule.documented.__doc__)
    return f"{source} The original: {told.rstrip('.')}." if told else source


def _list(title: str, about: str, rules: list[Rule], described: Mapping[str, Any]) -> str:
    order = list(getattr(described[OLDER[-1]], rules[0].folder))
    rules = sorted(rules, key=lambda rule: order.index(rule.name) if rule.name in order else len(order))
    rows = [
        [f"[{rule.name}]({rule.name}.md)", first_sentence(rule.text), _default(rule, described)]
        for rule in rules
    ]
    return f"# {title}\n\n{about}\n\n{table(['name', 'what it does', f'in {OLDER[-1]}'], rows)}"


def _default(rule: Rule, described: Mapping[str, Any]) -> str:
    found: str = getattr(described[OLDER[-1]], rule.folder).get(rule.name, "by an argument")
    return found


def _plugin_list() -> str:
    rows = [
        [f"[{rule.name}]({rule.name}.md)", first_sentence(rule.text), code(", ".join(points_of(rule.name)))]
        for rule in plugins()
    ]
    return f"# Plugins\n\n{_PLUGINS}\n\n{table(['name', 'what it does', 'extension points'], rows)}"
