"""Folkmoot from Python: runs, sweeps, tables, deciders and agents. See docs/python.md."""
from .command import use
from .decide import Decider, Question, decider, vote
from .errors import DeciderError, FolkmootError
from .runs import Replay, Run, Sweep, fork, load, read, recount, replay, run, sweep
from .tables import measures, set_frames

__version__ = "0.1.0"
__all__ = [
    "Decider",
    "DeciderError",
    "FolkmootError",
    "Question",
    "Replay",
    "Run",
    "Sweep",
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
