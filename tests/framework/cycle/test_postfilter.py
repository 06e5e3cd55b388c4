"""PostFilter plugins in turn: what they are given, and which answer ends it."""

from kubeclassic.framework.plugin import Plugin, PostFilterResult, error, unresolvable, unschedulable
from tests.support.build import node, pod
from tests.support.frameworkbuild import decided, disabled, enabled, scheduler


class Answering(Plugin):
    """Answers what a test wants."""

    name = "Answering"
    answer = None

    def post_filter(self, pod, found, cycle):
        """The answer that a test sets, if the plugin was given something to work with."""
        assert cycle.post_filter.layout.table is cycle.table
        return self.answer


class Other(Answering):
    """Another such plugin."""

    name = "Other"


PROFILE = {"plugins": {"postFilter": enabled("Answering", "Other") | disabled("*")}}


def said(monkeypatch, first, second):
    """The end of the message where two plugins answer so."""
    monkeypatch.setattr(Answering, "answer", first)
    monkeypatch.setattr(Other, "answer", second)
    engine = scheduler(node("a", pods="0"), profile=PROFILE, plugins=(Answering, Other))
    return str(decided(engine, pod("p")).error).removeprefix("0/1 nodes are available: 1 Too many pods.")


def test_messages_are_joined(monkeypatch):
    """A plugin that cannot help lets the next one try."""
    assert said(monkeypatch, unschedulable("one"), PostFilterResult(message="two")) == " one, two."


def test_success_ends_it(monkeypatch):
    """None is success, after which no other plugin is asked and no message is added."""
    assert said(monkeypatch, None, unschedulable("two")) == ""
    assert said(monkeypatch, unschedulable("one"), None) == ""


def test_hopelessness_ends_it(monkeypatch):
    """A plugin that says that nothing can help has the last word, and the only one."""
    assert said(monkeypatch, unresolvable("one"), unschedulable("two")) == " one."
    assert said(monkeypatch, unschedulable("one"), unresolvable("two")) == " two."


def test_an_error_ends_it(monkeypatch):
    """An error ends PostFilter."""
    assert said(monkeypatch, error("broken"), unschedulable("two")) == " broken."
