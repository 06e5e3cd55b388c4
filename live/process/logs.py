"""Log lines: when, how severe, where in the program, and what; in klog's form, or as JSON.

Upstream: k8s.io/klog, and k8s.io/component-base/logs.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import PurePath
from threading import Lock

from attrs import Factory, define

from ...exceptions import visible

INFO = "INFO"
WARNING = "WARNING"
ERROR = "ERROR"
TEXT_LINES = "text"
JSON_LINES = "json"
FORMS = (TEXT_LINES, JSON_LINES)
"""The values of ``--logging-format``."""
OUTCOMES = 2
ATTEMPTS = 3
REQUESTS = 6
"""Levels: the outcome of each pod, each attempt to schedule one, each request to the API server."""
SAME_AGAIN = 60.0
"""Seconds for which :meth:`Log.again` does not write the same text again."""
_CALLER = 2


def to_standard_error(line: str) -> None:
    """Write *line* to standard error, for programs that print nothing else there."""
    sys.stderr.write(f"{line}\n")


@define(eq=False)
class Log:
    """The log of one process. *write* gets each finished line; it may be called from several threads."""

    write: Callable[[str], None] = lambda line: None
    level: int = 0
    """``--v``: lines of higher levels are left out. Warnings and errors have no level."""
    form: str = TEXT_LINES
    wall: Callable[[], float] = time.time
    _last_news: str = ""
    _recent: dict[str, float] = Factory(dict)
    _lock: Lock = Factory(Lock)

    def info(self, text: str, level: int = 0) -> None:
        """Something happened; *level*: the lowest ``--v`` that shows it."""
        if self.shows(level):
            self._line(INFO, text, level)

    def news(self, text: str, severity: str = INFO) -> None:
        """Something happened; left out if it was the last news: a waiting replica tries every few seconds."""
        if text != self._last_news:
            self._last_news = text
            self._line(severity, text, 0)

    def warning(self, text: str) -> None:
        """Something went wrong, and it goes on."""
        self._line(WARNING, text, 0)

    def again(self, text: str) -> None:
        """Something goes wrong, perhaps again and again: the same text is written once a minute."""
        now = self.wall()
        with self._lock:
            self._recent = {line: at for line, at in self._recent.items() if 0 <= now - at < SAME_AGAIN}
            is_new = text not in self._recent
            self._recent.setdefault(text, now)
        if is_new:
            self._line(WARNING, text, 0)

    def error(self, text: str) -> None:
        """Something went wrong, and it is the end."""
        self._line(ERROR, text, 0)

    def shows(self, level: int) -> bool:
        """Whether lines of *level* are written."""
        return level <= self.level

    def _line(self, severity: str, text: str, level: int) -> None:
        frame = sys._getframe(_CALLER)
        now = self.wall()
        file = PurePath(frame.f_code.co_filename)
        if self.form == JSON_LINES:
            caller = f"{file.parent.name}/{file.name}:{frame.f_lineno}"
            record = {"ts": round(now * 1000, 3), "severity": severity, "caller": caller, "msg": text}
            if severity == INFO:
                record["v"] = level
            self.write(json.dumps(record, separators=(",", ":")))
        else:
            when = datetime.fromtimestamp(now).strftime("%m%d %H:%M:%S.%f")
            # In klog's form, in local time; what a terminal would obey is escaped.
            self.write(f"{severity[0]}{when} {os.getpid():7} {file.name}:{frame.f_lineno}] {visible(text)}")
