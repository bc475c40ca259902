"""A stand-in for marimo: runs the cells of a notebook in order, as `python3 NOTEBOOK` does."""
from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


class App:
    def __init__(self) -> None:
        self._cells: list[Callable[..., Any]] = []
        self.values: dict[str, Any] = {}

    def cell(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self._cells.append(function)
        return function

    def run(self) -> None:
        for function in self._cells:
            wanted = inspect.signature(function).parameters
            given = function(**{name: self.values[name] for name in wanted})
            for name, value in zip(_returned(function), given or ()):
                # A variable belongs to one cell.
                assert name not in self.values, name
                self.values[name] = value


def _returned(function: Callable[..., Any]) -> list[str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    last = tree.body[0].body[-1]  # type: ignore[attr-defined]
    return [element.id for element in last.value.elts]
