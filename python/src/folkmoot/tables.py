"""Tables as DataFrames or lists of dicts, typed as in docs/measures.md.

`columns.json` is generated from the dictionary that the tables are written from. A missing value is
None, or the null of pandas or polars.
"""
from __future__ import annotations

import csv
import importlib.util
import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from .errors import FolkmootError

FRAMES = ("auto", "pandas", "polars", "dicts")
# Bytes of a cell: texts of agents are short, and standings of an election may be long.
LONGEST_CELL = 1 << 24

_frames = "auto"

_known = json.loads(Path(__file__).with_name("columns.json").read_text("utf-8"))
measures: Mapping[str, Mapping[str, str]] = _known["measures"]
"""Measures by name, each with `type`, `unit` (ms, share, bytes or empty), `title`, `meaning`."""


def set_frames(kind: str) -> None:
    """Chooses the type of all tables: auto (pandas, else polars, else dicts) or one of these."""
    global _frames
    if kind not in FRAMES:
        raise FolkmootError(f"unknown type of tables: {kind}", advice=f"use one of {FRAMES}")
    _frames = kind


@cache
def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def read_table(path: Path) -> Any:
    """Reads a CSV table of a run or a sweep. Raises FolkmootError if the file is damaged."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.reader(file, strict=True)
            names = [_restored(name) for name in next(rows, [])]
            columns: list[list[str]] = [[] for _ in names]
            for row in rows:
                if len(row) != len(names):
                    raise ValueError(f"line {rows.line_num} has {len(row)} cells")
                for column, cell in zip(columns, row):
                    column.append(cell)
        types = {name: _type_of(path.name, name, cells) for name, cells in zip(names, columns)}
        return frame(
            {name: _parsed(types[name], cells) for name, cells in zip(names, columns)}, types
        )
    except (ValueError, OverflowError, csv.Error) as error:
        raise FolkmootError(f"invalid table: {path}: {error}", code="TABLE_DAMAGED") from None


def _type_of(table: str, name: str, cells: list[str]) -> str:
    """Returns the type of a column. The type of a factor of a sweep follows from its cells."""
    known = _known["tables"].get(table, {}).get(name)
    if known is None and table == "run_groups.csv":
        known = _known["tables"]["groups.csv"].get(name)
    if known is None and table == "runs.csv" and name in measures:
        known = measures[name]["type"]
    if known is None and name.startswith("reported."):
        known = "number"
    given = [cell for cell in cells if cell]
    for kind, pattern in _GUESSES.items():
        if known is None and given and all(map(pattern.fullmatch, given)):
            known = kind
    return known or "text"


_GUESSES = {
    "integer": re.compile(r"[+-]?\d{1,15}"),
    "number": re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"),
}

# The writer puts an apostrophe before text that a spreadsheet would run as a formula.
_PROTECTED = re.compile("''*[=+\\-@\t\r\n\uff0b\uff0d\uff1d\uff20]")


def _restored(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _PROTECTED.match(cell) else cell


def _parsed(kind: str, cells: list[str]) -> list[Any]:
    if kind == "text":
        return [_restored(cell) if cell else None for cell in cells]
    parse: Any = {"integer": int, "number": float, "flag": lambda cell: bool(int(cell))}[kind]
    return [parse(cell) if cell else None for cell in cells]


def event_table(events: Iterable[Mapping[str, Any]]) -> Any:
    """Makes a table of events: a column for each member, such as `validator_id`. Lists are JSON."""
    rows = [_flat_event(event) for event in events]
    used = {name for row in rows for name in row}
    types = {name: kind for name, kind in _known["events"].items() if name in used}
    types |= {name: "text" for name in sorted(used - types.keys())}
    return frame({name: [row.get(name) for row in rows] for name in types}, types)


def _flat_event(event: Mapping[str, Any]) -> dict[str, Any]:
    data = dict(event["data"])
    at = data.pop("timestamp", None)
    row = {"seq": event["seq"], "type": event["type"], "timestamp": at and _instant(at)}
    _flatten(data, "", row)
    return row


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _flatten(value: Mapping[str, Any], above: str, into: dict[str, Any]) -> None:
    for key, inner in value.items():
        name = f"{above}{key}"
        if isinstance(inner, dict):
            _flatten(inner, f"{name}_", into)
        elif isinstance(inner, list):
            into[f"{name}_json"] = json.dumps(inner, ensure_ascii=False)
        else:
            into[name] = inner


def frame(columns: Mapping[str, list[Any]], types: Mapping[str, str]) -> Any:
    """Makes a table of the chosen type."""
    kind = _frames
    if kind == "auto":
        kind = next((name for name in ("pandas", "polars") if _installed(name)), "dicts")
    if kind == "pandas":
        return _pandas(columns, types)
    if kind == "polars":
        return _polars(columns, types)
    names = list(columns)
    return [dict(zip(names, row)) for row in zip(*columns.values())]


def _pandas(columns: Mapping[str, list[Any]], types: Mapping[str, str]) -> Any:
    import pandas

    def series(name: str, values: list[Any]) -> Any:
        missing = None in values
        kind = types[name]
        if kind == "time":
            return pandas.to_datetime(pandas.Series(values, dtype="object"), utc=True)
        dtypes = {
            "integer": "Int64" if missing else "int64",
            "number": "float64",
            "flag": "boolean" if missing else "bool",
        }
        return pandas.Series(values, dtype=dtypes.get(kind, "object"))

    return pandas.DataFrame({name: series(name, values) for name, values in columns.items()})


def _polars(columns: Mapping[str, list[Any]], types: Mapping[str, str]) -> Any:
    import polars

    dtypes: dict[str, Any] = {
        "integer": polars.Int64,
        "number": polars.Float64,
        "flag": polars.Boolean,
        "text": polars.String,
        "time": polars.Datetime("ms", "UTC"),
    }
    return polars.DataFrame(dict(columns), schema={name: dtypes[types[name]] for name in columns})
