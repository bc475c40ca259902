"""HTML files of runs in a notebook cell: a widget with anywidget, else plain HTML."""
from __future__ import annotations

import html
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any


class Page:
    """A page in a sandboxed frame, for notebooks that show `_repr_html_`."""

    def __init__(self, html: str, height: int) -> None:
        self.html = html
        self.height = height

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts" title="Page of a run" style="width: 100%; '
            f'height: {int(self.height)}px; border: 1px solid #8884" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )


@cache
def _widget_class() -> Any:
    import anywidget
    import traitlets

    class PageWidget(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
        """A page as a widget of Jupyter, Colab, VS Code and marimo."""

        _esm = Path(__file__).with_name("widget.js")
        html = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(640).tag(sync=True)

    return PageWidget


def show(text: str, height: int) -> Any:
    """Makes a widget of an HTML file."""
    if importlib.util.find_spec("anywidget") is None:
        return Page(text, height)
    return _widget_class()(html=text, height=height)
