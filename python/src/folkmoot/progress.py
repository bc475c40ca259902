"""Shows the progress of a command: in a notebook, or on a terminal's standard error."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Shown = Callable[[Mapping[str, Any]], None]


def describe(message: Mapping[str, Any]) -> str:
    """Formats a message such as `45 % | 10 blocks | 700 votes` or `30 % | 3 of 10 runs`."""
    share = f"{100 * float(message.get('share', 0)):.0f} %"
    if "of" in message:
        return f"{share} | {message['done']} of {message['of']} {message.get('what', '')}"
    parts = [f"{message[name]} {what}" for name, what in _COUNTS.items() if name in message]
    return " | ".join([share, *parts]) + str(message.get("asked", ""))


_COUNTS = {"closed": "blocks", "votes": "votes"}


@contextmanager
def showing(wanted: bool | Shown | None) -> Iterator[Shown | None]:
    """Yields a function for progress messages. None: shows them in a notebook and a terminal."""
    if callable(wanted):
        yield wanted
    elif wanted is False:
        yield None
    elif _in_notebook():
        yield from _notebook()
    elif wanted or sys.stderr.isatty():
        yield lambda message: _write(f"\r\x1b[K{describe(message)}")
        _write("\r\x1b[K")
    else:
        yield None


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


def _notebook() -> Iterator[Shown]:
    from IPython.display import display

    handle = display({"text/plain": "0 %"}, raw=True, display_id=True)

    def show(message: Mapping[str, Any]) -> None:
        handle.update({"text/plain": describe(message)}, raw=True)

    yield show
    handle.update({"text/plain": ""}, raw=True)
