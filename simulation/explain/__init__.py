"""Why a pod goes where it goes: explanations as values, of which the command line makes tables and JSON."""

from .explain import explain, explain_in, explain_placed
from .explanation import Explanation, Question
from .values import NodeReport, Score, Shortage

__all__ = ["Explanation", "NodeReport", "Question", "Score", "Shortage", "explain", "explain_in", "explain_placed"]
