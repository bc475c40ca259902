"""Folkmoot from Python: runs, sweeps, tables, deciders and agents. See docs/python.md."""
from .agent import AgentClient, ApiError, UnreachableError
from .command import use
from .decide import Decider, Question, decider, vote
from .errors import DeciderError, FolkmootError
from .keys import Keys
from .runs import Replay, Run, Sweep, fork, load, read, recount, replay, run, sweep
from .tables import measures, set_frames

__version__ = "0.1.0"
__all__ = [
    "AgentClient",
    "ApiError",
    "Decider",
    "DeciderError",
    "FolkmootError",
    "Keys",
    "Question",
    "Replay",
    "Run",
    "Sweep",
    "UnreachableError",
    "decider",
    "fork",
    "load",
    "measures",
    "read",
    "recount",
    "replay",
    "run",
    "set_frames",
    "sweep",
    "use",
    "vote",
]
