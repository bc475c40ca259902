"""Runs, sweeps, replays, forks, recounts and load tests with the real command line."""
from __future__ import annotations

import json
import subprocess
import unittest
from typing import Any

from support import MAIN, Case, Server, folkmoot, town

from folkmoot import command


class Runs(Case):
    def test_run_has_the_digest_and_measures_of_the_command_line(self) -> None:
        path = self.folder / "town.json"
        path.write_text(json.dumps(town()))
        arguments = [command.find_node(), str(MAIN), "sim", str(path), "--seed", "7", "--json"]
        expected = json.loads(subprocess.run(arguments, capture_output=True, check=True).stdout)
        run = folkmoot.run(town(), seed=7, out=self.folder / "run")
        self.assertEqual(run.digest, expected["digest"])
        self.assertEqual(run.measures, expected["measures"])
        self.assertEqual(len(run.votes()), run.measures["votes"])
        self.assertEqual(len(run.agents()), 12)
        self.assertEqual({row["group"] for row in run.groups()}, {"town", "minds"})
        self.assertEqual(run.series[-1]["t_ms"], run.result["virtual_ms"])
        block = run.blocks()[0]
        self.assertIs(type(block["height"]), int)
        self.assertIs(block["warmup"], False)
        self.assertIsNone(block["choice"])
        self.assertTrue(run.replay(signatures=True))
        again = folkmoot.read(self.folder / "run")
        self.assertEqual((again.measures, again.votes()), (run.measures, run.votes()))

    def test_events_are_rows_of_the_chosen_types(self) -> None:
        run = folkmoot.run(town())
        votes = run.events("block_validation")
        self.assertEqual(len(votes), run.measures["votes"])
        self.assertEqual(set(row["decision"] for row in votes) - {"approve", "reject"}, set())
        self.assertEqual(votes[0]["timestamp"].year, 2025)
        few = list(run.iter_events(from_=3, to=5))
        self.assertEqual([event["seq"] for event in few], [3, 4, 5])
        # Leaving the loop early ends the command.
        for event in run.iter_events():
            self.assertEqual(event["seq"], 1)
            break
        with self.assertRaises(folkmoot.FolkmootError):
            run.events("nonsense")
        path = run.export_events(self.folder / "votes.csv", "block_validation")
        self.assertEqual(len(path.read_text().splitlines()), len(votes) + 1)

    def test_a_temporary_result_exists_as_long_as_its_run(self) -> None:
        run = folkmoot.run(town(), log=False)
        self.assertIsNone(run.digest)
        self.assertGreater(run.measures["votes"], 0)
        with self.assertRaisesRegex(folkmoot.FolkmootError, "log=True"):
            run.events()
        run = folkmoot.run(town(), votes=False)
        with self.assertRaisesRegex(folkmoot.FolkmootError, "votes=True"):
            run.votes()
        folder = run.folder
        self.assertTrue(folder.exists())
        del run
        self.assertFalse(folder.exists())

    def test_a_refusal_has_the_code_and_advice_of_the_command(self) -> None:
        with self.assertRaises(folkmoot.FolkmootError) as caught:
            folkmoot.run("no-such-scenario")
        error = caught.exception
        self.assertEqual((error.code, error.exit_code), ("NOT_FOUND", 2))
        self.assertTrue(error.advice and error.advice.startswith("name a file, or one of"))
        self.assertIn("scenario not found: no-such-scenario", str(error))
        with self.assertRaisesRegex(folkmoot.FolkmootError, "--set agents.town.share") as caught:
            folkmoot.run("healthy-town", set={"agents.town.share": "much"})
        with self.assertRaises(folkmoot.FolkmootError) as caught:
            folkmoot.run("healthy-town", no_such_option=True)
        self.assertEqual(caught.exception.code, "USAGE")
        # A name that looks like an option is a name.
        with self.assertRaisesRegex(folkmoot.FolkmootError, "not found: --help"):
            folkmoot.run("--help")

    def test_fork_and_recount_of_a_run(self) -> None:
        run = folkmoot.run(town(), out=self.folder / "run")
        silence = {"kind": "silence", "whom": [{"group": "minds", "count": 4}], "at_ms": 0}
        fork = run.fork(silence)
        self.assertLess(fork.measures["votes"], run.measures["votes"])
        recounted = run.recount("majority", "unanimity")
        self.assertEqual(len(recounted["rules"]), 2)
        with self.assertRaises(folkmoot.FolkmootError):
            run.fork({"kind": "nonsense"})

    def test_load_measures_a_real_server(self) -> None:
        server = Server(self)
        out = self.folder / "load"
        given: dict[str, Any] = {"agents": 8, "rate": 20, "duration": "2s", "warmup": "1s"}
        result = folkmoot.load([server.url], out=out, seed="x", **given)
        self.assertEqual(result, json.loads((out / "result.json").read_text()))
        self.assertEqual((result["seed"], result["server"]["url"]), ("x", server.url))
        asked = result["asked"]
        self.assertEqual((asked["agents"], asked["rate"], asked["duration_s"]), (8, 20, 2))
        self.assertGreater(result["arrivals"]["accepted"], 0)
        # A condition that is met is a result. One that cannot be measured is an error.
        given["duration"] = "1s"
        met = folkmoot.load(server.url, fail_on=["service.p50>0ms"], **given)
        self.assertGreater(met["arrivals"]["accepted"], 0)
        with self.assertRaises(folkmoot.FolkmootError) as caught:
            folkmoot.load(server.url, fail_on=["finality.p50>0ms"], **given)
        self.assertEqual(caught.exception.exit_code, 17)
        server.stop()
        with self.assertRaises(folkmoot.FolkmootError) as caught:
            folkmoot.load(server.url, **given)
        self.assertIn(server.url, str(caught.exception))
        self.assertIsNotNone(caught.exception.exit_code)

    def test_sweep_gives_tables_with_its_factors(self) -> None:
        shown = []
        sweep = folkmoot.sweep(
            town(),
            {"consensus.policy": ["bft", "majority"], "agents.minds.count": [3, 5]},
            set={"agents.minds.strategy": {"kind": "silent"}},
            replicates=2,
            responses=["finalized_share"],
            progress=shown.append,
            jobs=2,
        )
        runs = sweep.runs()
        self.assertEqual(len(runs), 8)
        self.assertEqual({(row["policy"], row["count"]) for row in runs},
                         {("bft", 3), ("bft", 5), ("majority", 3), ("majority", 5)})
        summary = [row for row in sweep.summary() if row["measure"] == "finalized_share"]
        self.assertEqual([row["n"] for row in summary], [2, 2, 2, 2])
        self.assertEqual((shown[-1]["done"], shown[-1]["of"]), (8, 8))
        single = folkmoot.run(
            town(), seed=runs[0]["seed"], set={"consensus.policy": "bft", "agents.minds.count": 3,
                                               "agents.minds.strategy": {"kind": "silent"}})
        self.assertEqual(single.trace_digest, runs[0]["trace_digest"])

    def test_a_failed_run_of_a_sweep_is_an_error_with_the_command_that_repeats_it(self) -> None:
        script = self.folder / "broken.js"
        script.write_text("export const vote = () => { throw new Error('no idea'); };")
        path = self.folder / "town.json"
        agents = [{"group": "town", "producers": 2},
                  {"group": "minds", "count": 4,
                   "strategy": {"kind": "script", "module": "broken.js"}}]
        path.write_text(json.dumps(town(agents=agents)))
        with self.assertRaises(folkmoot.FolkmootError) as caught:
            folkmoot.sweep(path, {"agents.minds.count": [3, 4]}, replicates=1, set={"seed": "x"})
        self.assertIn("no idea", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
