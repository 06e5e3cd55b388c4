"""What a page asks of a session, by name: plain data is asked, and plain data is the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import process_time

import attrs

from .labconfiguration import Json, LabError
from .labrun import LabRun
from .podquestions import by_release, form_of, how_many_more, what_helps, why
from .session import Session


@attrs.define(eq=False)
class LabQuestions:
    """The questions about *session*. Nothing here is for two threads at a time."""

    session: Session

    @property
    def by_name(self) -> Mapping[str, Callable[[Json], Json]]:
        """Each question by its name. They raise :class:`~kubeclassic.exceptions.KubeclassicError` for what cannot be done."""
        return {
            "session": self.look, "do": self.do, "why": self.why, "placement": self.placement,
            "form": self.form, "help": self.help, "more": self.more, "releases": self.releases,
        }  # fmt: skip

    def look(self, asked: Json) -> Json:
        """The session as it is: for a page that saw state *seen* and knows the layout *layout*."""
        began = process_time()
        session, answer = self.session, self.session.answer
        seen = session.known(asked.get("seen"))
        before = None if seen is None else session.bench.answer(seen)
        difference = session.difference(asked.get("against", "step"), seen)
        found: Json = {
            "session": session.record(), "summary": answer.summary, "placement": answer.record(before),
            "difference": None if difference is None else difference.record(),
            "plot": self._plot(answer, asked),
        }  # fmt: skip
        return {**found, "seconds": round(process_time() - began, 4)}

    def do(self, asked: Json) -> Json:
        """Do something, and look."""
        began = process_time()
        self.session.do(asked)
        return {**self.look(asked), "seconds": round(process_time() - began, 4)}

    def placement(self, asked: Json) -> Json:
        """Another state's placement, whole: the start, or a pinned one."""
        other = self.session.other(str(asked.get("of")))
        if other is None:
            raise LabError(f"of: expected start or a pinned configuration, got {asked.get('of')!r}", "pin")
        answer = self.session.bench.answer(other)
        return {"placement": answer.record(None), "summary": answer.summary, "plot": self._plot(answer, asked), "number": other.number}

    def _plot(self, answer: LabRun, asked: Json) -> Json | None:
        """The layout of *answer* for a page that has another one; None if it has this one."""
        known = asked.get("plot")
        if known == answer.layout.number:
            return None
        return answer.layout.record(self.session.bench.layouts.get(known) if type(known) is int else None)

    def why(self, asked: Json) -> Json:
        """Why a pod goes where it goes."""
        pod, node = _pod(asked), asked.get("node")
        if not isinstance(node, str | None):
            raise LabError("why: expected the name of a node, or none", "why")
        return why(self.session.bench, self.session.state, pod, node)

    def form(self, asked: Json) -> Json:
        """The fields of a pod or a node, for a form."""
        kind, name = asked.get("kind"), asked.get("name")
        if kind not in ("pod", "node") or not isinstance(name, str):
            raise LabError("form: expected kind and name of one, got no pod and no node", "why")
        return form_of(self.session.bench.scenario(self.session.state), kind, name)

    def help(self, asked: Json) -> Json:
        """What would help a pod that waits."""
        return what_helps(self.session.bench, self.session.state, _pod(asked))

    def more(self, asked: Json) -> Json:
        """How many more pods like one fit."""
        return how_many_more(self.session.bench, self.session.state, _pod(asked))

    def releases(self, asked: Json) -> Json:
        """Where each release puts a pod."""
        return {"pod": _pod(asked), "releases": by_release(self.session.bench, self.session.state, _pod(asked))}


def _pod(asked: Json) -> str:
    pod = asked.get("pod")
    if not isinstance(pod, str):
        raise LabError("pod: expected the name of a pod", "why")
    return pod
