"""Runs, sweeps, replays, forks, recounts and load tests, with their results."""
from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import command, tables, widget
from .decide import Decider, DeciderServer, relayed_groups
from .errors import FolkmootError
from .progress import Shown, showing

Scenario = str | os.PathLike[str] | Mapping[str, Any]
ShowProgress = bool | Shown | None

# Exit codes of commands that have a result all the same.
NO_PROGRESS, SAFETY, DIFFERS, INVALID, FAIL_ON = 10, 11, 12, 14, 15
UNMEASURED, EMPTY_RESPONSE = 17, 18


class Saved:
    """A folder of results. A folder without a given name exists as long as its object."""

    def __init__(self, folder: Path, held: object = None) -> None:
        self.folder = folder
        self._held = held

    def table(self, name: str) -> Any:
        """Reads a CSV table of the folder, such as `blocks.csv`."""
        path = self.folder / name
        if not path.is_file():
            raise FolkmootError(
                f"no {name} in {self.folder}", code="NO_TABLE", advice=_NEEDS.get(name)
            )
        return tables.read_table(path)

    def report(self, height: int = 640) -> Any:
        """Returns the report with its charts, for the output of a notebook cell."""
        return widget.show((self.folder / "report.html").read_text("utf-8"), height)

    def _json(self, name: str) -> Any:
        try:
            return json.loads((self.folder / name).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise FolkmootError(
                f"cannot read {name} in {self.folder}: {error}",
                code="RESULT_UNREADABLE",
                advice="pass the folder of a finished run or sweep",
            ) from None


_NEEDS = {
    "votes.csv": "run with votes=True",
    "decisions.ndjson": "run with set={'measure.decisions': True}",
    "reported.csv": "only scenarios with scripts report measures",
    "differences.csv": "only a sweep with a baseline has differences",
    "indices.csv": "only designs morris and sobol have indices",
}


class Run(Saved):
    """A run. `measures` maps names to numbers, or None for a measure without a value."""

    def __init__(self, folder: Path, held: object = None, result: Any = None) -> None:
        super().__init__(folder, held)
        self.result: dict[str, Any] = result or self._json("summary.json")
        self.measures: dict[str, float | int | None] = self.result["measures"]
        self.verdict: str = self.result["verdict"]
        self.seed: str = self.result["seed"]
        self.digest: str | None = self.result.get("digest") or None
        self.trace_digest: str | None = self.result.get("trace_digest")

    def __repr__(self) -> str:
        scenario = self.result["scenario"]["title"]
        return f"<Run {scenario!r} seed={self.seed} {self.verdict} in {self.folder}>"

    def blocks(self) -> Any:
        """Returns a row for each proposed block."""
        return self.table("blocks.csv")

    def agents(self) -> Any:
        """Returns a row for each agent of the scenario."""
        return self.table("agents.csv")

    def groups(self) -> Any:
        """Returns a row for each group of the scenario."""
        return self.table("groups.csv")

    def votes(self) -> Any:
        """Returns a row for each counted vote, in order."""
        return self.table("votes.csv")

    @property
    def series(self) -> Any:
        """A row for each instant and curve."""
        return self.table("series.csv")

    def events(
        self, types: str | Sequence[str] = (), *, agents: Sequence[str] = (), **more: int
    ) -> Any:
        """Returns a row for each event: of these types, of these agents, `from_=` and `to=` seq."""
        return tables.event_table(self.iter_events(types, agents=agents, **more))

    def iter_events(
        self, types: str | Sequence[str] = (), *, agents: Sequence[str] = (), **more: int
    ) -> Iterator[dict[str, Any]]:
        """Yields events as published, {type, seq, data}, with bounded memory."""
        arguments = self._events(types, agents, more)
        return map(json.loads, command.lines([*arguments, *_source(self._network())]))

    def export_events(
        self,
        out: str | os.PathLike[str],
        types: str | Sequence[str] = (),
        *,
        agents: Sequence[str] = (),
        **more: int,
    ) -> Path:
        """Writes events to a new file: .parquet, .csv or .ndjson."""
        arguments = [*self._events(types, agents, more), f"--out={os.fspath(out)}"]
        command.run([*arguments, *_source(self._network())])
        return Path(out)

    @staticmethod
    def _events(
        types: str | Sequence[str], agents: Sequence[str], more: Mapping[str, int]
    ) -> list[str]:
        kinds = [types] if isinstance(types, str) else list(types)
        bounds = {name.rstrip("_"): value for name, value in more.items()}
        chosen = {"type": kinds, "agent": list(agents), **bounds}
        return ["events", *command.options(chosen)]

    def _network(self) -> Path:
        if (self.folder / "network").is_dir():
            return self.folder
        raise FolkmootError("the run has no log", code="NO_LOG", advice="run with log=True")

    def replay(self, **options: Any) -> Replay:
        """Recomputes the run from its log."""
        return replay(self._network(), **options)

    def fork(self, *interventions: Mapping[str, Any], **options: Any) -> Run | Sweep:
        """Re-runs the run with changes: see `fork`."""
        return fork(self._network(), interventions, **options)

    def recount(self, *rules: str, **options: Any) -> dict[str, Any]:
        """Counts the ballots under other rules: see `recount`."""
        return recount(self._network(), rules, **options)

    def export_page(self, out: str | os.PathLike[str]) -> Path:
        """Writes the page of the run to one new HTML file."""
        command.run(["explore", f"--export={os.fspath(out)}", *_source(self._network())])
        return Path(out)

    def page(self, height: int = 640) -> Any:
        """Returns a widget with the page of the run, for the output of a notebook cell."""
        held = _Temporary()
        return widget.show(self.export_page(held.path / "run.html").read_text("utf-8"), height)


class Sweep(Saved):
    """A sweep. Its tables have the factors as columns."""

    def __init__(self, folder: Path, held: object = None, result: Any = None) -> None:
        super().__init__(folder, held)
        self.result: dict[str, Any] = result or self._json("sweep.json")

    def __repr__(self) -> str:
        return f"<Sweep in {self.folder}>"

    def runs(self) -> Any:
        """Returns a row for each run, with factors, measures and digests."""
        return self.table("runs.csv")

    def groups(self) -> Any:
        """Returns a row for each group of each run."""
        return self.table("run_groups.csv")

    def summary(self) -> Any:
        """Returns a row for each cell and measure: mean, sd, and the 95 % interval low to high."""
        return self.table("summary.csv")

    def differences(self) -> Any:
        """Returns the paired difference of each cell to the baseline, for each measure."""
        return self.table("differences.csv")

    def indices(self) -> Any:
        """Returns a row for each factor and index of a Morris or Sobol design."""
        return self.table("indices.csv")


class Replay(dict[str, Any]):
    """The result of a replay. True if the log and everything recomputed from it are equal."""

    def __bool__(self) -> bool:
        return bool(self.get("match"))


def run(
    scenario: Scenario | None = None,
    *,
    seed: str | int | None = None,
    set: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    votes: bool = True,
    log: bool = True,
    deciders: Mapping[str, Decider] | None = None,
    progress: ShowProgress = None,
    **options: Any,
) -> Run:
    """Runs a scenario: a file, a name, a dict, or None for the mixed population.

    `set` maps paths such as `agents.town.share` to values. `out` is a new folder; without it, the
    result exists as long as the Run. `votes=False` leaves out votes.csv. `log=False` runs faster,
    and gives measures only. `deciders` maps groups to functions that decide for them. Other options
    are those of `folkmoot sim`, such as `agents=300`, `blocks=20`, `cassette=...`.

    A run without progress or with a broken rule is a result: see `verdict`. Raises FolkmootError.
    """
    changes = {**({"measure.votes": True} if votes and log else {}), **(set or {})}
    with _Inputs(scenario, deciders) as inputs:
        folder, held = _output(out) if log else (inputs.folder, None)
        given = {"seed": seed, **inputs.options, **options}
        given |= {"out": folder} if log else {"log": "none"}
        finished = inputs.run(
            ["sim", "--json", *command.options(given), *command.changes(changes)],
            ok=(0, NO_PROGRESS, SAFETY),
            progress=progress,
        )
        return Run(folder, held, _result(finished, "sim"))


def sweep(
    scenario: Scenario,
    factors: Mapping[str, Sequence[Any] | Mapping[str, Any]] | None = None,
    *,
    replicates: int | None = None,
    responses: Sequence[str] | None = None,
    seed: str | int | None = None,
    set: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    deciders: Mapping[str, Decider] | None = None,
    progress: ShowProgress = None,
    **options: Any,
) -> Sweep:
    """Runs a scenario over a design of values, in parallel.

    `factors` maps paths to lists of values, or to members of a factor such as {"from": 0, "to": 1}.
    Without factors, the scenario has a section `sweep`. The column of a factor is named by the last
    part of its path. `set={"sweep.design": "lhs"}` sets other members of the section. Other options
    are those of `folkmoot sweep`, such as `jobs=4` or `resume=True`. Raises FolkmootError.
    """
    changes = dict(set or {})
    if factors is not None:
        changes = {"sweep.factors": _factors(factors), **changes}
    if responses is not None:
        changes = {"sweep.responses": list(responses), **changes}
    folder, held = _output(out)
    with _Inputs(scenario, deciders) as inputs:
        given = {"seed": seed, "replicates": replicates, "out": folder, **inputs.options, **options}
        finished = inputs.run(
            ["sweep", "--json", *command.options(given), *command.changes(changes)],
            ok=(0, 2, SAFETY, DIFFERS, 13, 16, EMPTY_RESPONSE),
            progress=progress,
        )
    result = _result(finished, "sweep")
    failed = result.get("failed")
    if failed:
        raise FolkmootError(
            f"run {failed['replicate']} of cell {failed['cell']} failed: {failed['message']}",
            code=f"RUN_{str(failed['kind']).upper()}",
            exit_code=finished.exit_code,
            advice="; ".join(finished.notes[-2:]),
        )
    for empty in result.get("empty", []):
        warnings.warn(f"no run has a value for {empty['response']}", stacklevel=2)
    for missing in result.get("without_effect", []):
        warnings.warn(missing["text"], stacklevel=2)
    return Sweep(folder, held, result)


def _factors(factors: Mapping[str, Sequence[Any] | Mapping[str, Any]]) -> list[dict[str, Any]]:
    last = [path.rsplit(".", 1)[-1] for path in factors]
    listed = []
    for name, (path, values) in zip(last, factors.items()):
        # Names are unique, and columns have no dots.
        unique = name if last.count(name) == 1 else re.sub(r"\W", "_", path)
        members = values if isinstance(values, Mapping) else {"values": list(values)}
        listed.append({"path": path, "name": unique, **members})
    return listed


def replay(run: str | os.PathLike[str], **options: Any) -> Replay:
    """Recomputes a saved run, a data folder or a printed log, and compares every byte.

    `signatures=True` also verifies all signatures. Raises FolkmootError.
    """
    arguments = ["replay", "--json", *command.options(options), *_source(run)]
    return Replay(_result(command.run(arguments, ok=(0, DIFFERS)), "replay"))


def fork(
    run: str | os.PathLike[str],
    interventions: Iterable[Mapping[str, Any]] = (),
    *,
    out: str | os.PathLike[str] | None = None,
    replicates: int | None = None,
    deciders: Mapping[str, Decider] | None = None,
    progress: ShowProgress = None,
    **options: Any,
) -> Run | Sweep:
    """Re-runs a saved run with interventions, and verifies that all before them is the same.

    With `replicates`, runs that number of seeds with and without the change, and returns a Sweep.
    `deciders` maps groups to functions. A group that a function decided for in the run needs one
    again, which answers new questions. Any other group uses its function from the start of the
    fork, which is a change. Raises FolkmootError.
    """
    relayed = relayed_groups(Saved(Path(run))._json("scenario.json"))
    missing = ", ".join(sorted(relayed - {*(deciders or {})}))
    if missing:
        raise FolkmootError(f"no decider for groups of the run: {missing}", code="NO_DECIDER",
                            advice="pass deciders={GROUP: FUNCTION}")
    folder, held = _output(out)

    def changes(strategies: Mapping[str, Any]) -> list[str]:
        replaced = [{"kind": "strategy", "whom": [{"group": group}], "strategy": one, "at_ms": 0}
                    for group, one in strategies.items() if group not in relayed]
        texts = [json.dumps(one, allow_nan=False) for one in [*replaced, *interventions]]
        return command.options({"intervention": texts})

    with _Inputs(run, deciders) as inputs:
        asked = {"folder": os.fspath(run)} if deciders else {}
        given = {"out": folder, "replicates": replicates, **asked, **inputs.options, **options}
        finished = inputs.run(["fork", "--json", *command.options(given)],
                              ok=(0, SAFETY), progress=progress, changes=changes)
    if replicates is not None:
        return Sweep(folder, held, _result(finished, "fork"))
    return Run(folder, held)


def recount(
    source: str | os.PathLike[str],
    rules: Iterable[str],
    *,
    progress: ShowProgress = None,
    **options: Any,
) -> dict[str, Any]:
    """Counts recorded ballots of a run, a data folder or election data under other rules."""
    chosen = [word for rule in rules for word in ("--rule", rule)]
    arguments = ["recount", "--json", *chosen, *command.options(options), *_source(source)]
    with showing(progress) as show:
        return dict(_result(command.run(arguments, progress=show), "recount"))


def load(
    url: str | Sequence[str] = "http://127.0.0.1:8080",
    *,
    out: str | os.PathLike[str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Load-tests a live server, and returns the result, whose members docs/load-result.md lists.

    Options are those of `folkmoot load`, such as `agents=100`, `rate=300`, `duration="10s"`. A run
    without valid figures is a result too: see `verdict`. Raises FolkmootError.
    """
    urls = url if isinstance(url, str) else ",".join(url)
    arguments = ["load", *command.options({"url": urls, "json": True, "out": out, **options})]
    finished = command.run(arguments, ok=(0, INVALID, FAIL_ON, UNMEASURED))
    return dict(_result(finished, "load"))


def read(folder: str | os.PathLike[str]) -> Run | Sweep:
    """Reads the folder of a finished run or sweep."""
    path = Path(folder)
    return Sweep(path) if (path / "sweep.json").is_file() else Run(path)


def _source(path: str | os.PathLike[str]) -> list[str]:
    return ["--", os.fspath(path)]


def _output(out: str | os.PathLike[str] | None) -> tuple[Path, object]:
    """Returns the folder to write, and the object that keeps a temporary folder."""
    if out is not None:
        return Path(out), None
    held = _Temporary()
    return held.path / "result", held


def _result(finished: command.Finished, name: str) -> Any:
    result = finished.json()
    if not isinstance(result, dict):
        raise finished.failure(name)
    return result


class _Temporary:
    """A folder that exists as long as this object, at most until the end of the process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="folkmoot-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _set_strategies(strategies: Mapping[str, Any]) -> list[str]:
    return command.changes({f"agents.{group}.strategy": one for group, one in strategies.items()})


class _Inputs:
    """The scenario as an argument, and the deciders while a command runs."""

    def __init__(self, scenario: Scenario | None, deciders: Mapping[str, Decider] | None) -> None:
        self._scenario = scenario
        self._deciders = deciders or {}
        self._held = _Temporary()
        self.folder = self._held.path
        self.options: dict[str, Any] = {"record": True} if deciders else {}

    def __enter__(self) -> _Inputs:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.remove()

    def _file(self) -> list[str]:
        if self._scenario is None:
            return []
        if not isinstance(self._scenario, Mapping):
            return _source(self._scenario)
        path = self.folder / "scenario.json"
        path.write_text(json.dumps(self._scenario, allow_nan=False), "utf-8")
        return _source(path)

    def run(
        self,
        arguments: list[str],
        *,
        ok: Sequence[int],
        progress: ShowProgress,
        changes: Callable[[Mapping[str, Any]], list[str]] = _set_strategies,
    ) -> command.Finished:
        with showing(progress) as show, DeciderServer(self._deciders) as server:
            try:
                return command.run(
                    [*arguments, *changes(server.strategies()), *self._file()],
                    ok=ok,
                    env=server.env,
                    progress=show,
                    started=lambda child: server.on_failure(child.interrupt),
                )
            except FolkmootError as error:
                raise (server.failure or error) from server.cause
