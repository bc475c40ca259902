"""Tables: types, missing values, protected text and damaged files."""
from __future__ import annotations

import importlib.util
import json
import unittest
from pathlib import Path
from typing import Any

from support import ROOT, Case, folkmoot, town

from folkmoot import tables


def _has(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


ROWS = (
    "block,agent,group,personality,decision,voted_ms,after_ms,memes_heard,meme_references,"
    "without_memes,warmup\n"
    "0,3,\"a \"\"quoted\"\", group\",'=1+1,approve,11,1,0,0,,0\n"
    "1,,''@x,lawful,reject,22,2,0,0,approve,1\n"
)


class Tables(Case):
    def read(self, text: str | bytes, name: str = "votes.csv") -> Any:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tables.read_table(path)

    def test_cells_have_the_types_of_the_dictionary(self) -> None:
        first, second = self.read(ROWS)
        self.assertEqual(first["group"], 'a "quoted", group')
        self.assertEqual((first["personality"], second["group"]), ("=1+1", "'@x"))
        self.assertEqual((first["agent"], second["agent"]), (3, None))
        self.assertEqual((first["warmup"], second["warmup"]), (False, True))
        self.assertEqual((first["without_memes"], second["without_memes"]), (None, "approve"))

    def test_factors_have_the_type_of_their_cells(self) -> None:
        text = "run,share,count,policy,mixed,reported.x,digest\n1,0.5,3,bft,1,2,ab\n2,,-4,,x,,\n"
        first, second = self.read(text, "runs.csv")
        self.assertEqual(list(first.values()), [1, 0.5, 3, "bft", "1", 2.0, "ab"])
        self.assertEqual(list(second.values()), [2, None, -4, None, "x", None, None])

    def test_damaged_files_are_named(self) -> None:
        for text in ["block,agent\n1\n", "block,agent\nx,1\n", b"block\n\xff\n", 'block\n"1\n']:
            with self.assertRaises(folkmoot.FolkmootError) as caught:
                self.read(text)
            self.assertEqual(caught.exception.code, "TABLE_DAMAGED")
            self.assertIn("votes.csv", str(caught.exception))
        self.assertEqual(self.read(""), [])
        self.assertEqual(self.read("block\n"), [])

    def test_a_folder_without_results_is_refused(self) -> None:
        with self.assertRaisesRegex(folkmoot.FolkmootError, "pass the folder of a finished run"):
            folkmoot.read(self.folder)
        (self.folder / "summary.json").write_text("{")
        with self.assertRaisesRegex(folkmoot.FolkmootError, "cannot read summary.json"):
            folkmoot.read(self.folder)

    def test_measures_have_a_unit_and_a_meaning(self) -> None:
        self.assertEqual(folkmoot.measures["finality_p50_ms"]["unit"], "ms")
        self.assertEqual(folkmoot.measures["participation"]["unit"], "share")
        documented = (ROOT / "docs" / "measures.md").read_text("utf-8")
        for name, measure in folkmoot.measures.items():
            self.assertIn(f"`{name}`", documented)
            self.assertIn(measure["meaning"], documented)

    def test_events_are_flat(self) -> None:
        data = {"timestamp": "2025-01-01T00:00:01.500Z", "validator": {"id": "a"}, "list": [1],
                "odd": 5}
        row, = tables.event_table([{"seq": 1, "type": "x", "data": data}])
        self.assertEqual(row["timestamp"].microsecond, 500_000)
        self.assertEqual((row["validator_id"], row["list_json"], row["odd"]), ("a", "[1]", 5))

    @unittest.skipUnless(_has("pandas"), "needs pandas")
    def test_pandas_keeps_types_and_missing_values(self) -> None:
        folkmoot.set_frames("pandas")
        frame = self.read(ROWS)
        kinds = [str(frame[name].dtype) for name in ("block", "agent", "group", "warmup")]
        self.assertEqual(kinds[:2] + kinds[3:], ["int64", "Int64", "bool"])
        self.assertTrue(frame["agent"].isna()[1])
        self.assertEqual(str(self.read("block,agent\n")["block"].dtype), "int64")

    @unittest.skipUnless(_has("pandas"), "needs pandas")
    def test_runs_and_events_are_frames_of_pandas(self) -> None:
        import numpy

        folkmoot.set_frames("auto")
        given = {"replicates": 2, "responses": ["finalized_share"]}
        sweep = folkmoot.sweep(town(), {"agents.minds.count": [3, 5]}, **given)
        means = sweep.runs().groupby("count")["finalized_share"].mean()
        summary = sweep.summary()
        summary = summary[summary["measure"] == "finalized_share"].set_index("count")
        self.assertEqual(list(means.index), [3, 5])
        numpy.testing.assert_allclose(summary["mean"].to_numpy(), means.to_numpy())
        run = folkmoot.run(town())
        votes = run.events("block_validation")
        self.assertEqual(len(votes), run.measures["votes"])
        self.assertEqual(str(votes["timestamp"].dtype), "datetime64[ns, UTC]")
        self.assertTrue(votes["timestamp"].is_monotonic_increasing)
        shares = run.votes()["decision"].value_counts(normalize=True)
        numpy.testing.assert_allclose(shares.sum(), 1)
        self.assertEqual(str(run.series["t_ms"].dtype), "int64")

    @unittest.skipUnless(_has("polars"), "needs polars")
    def test_polars_keeps_types_and_missing_values(self) -> None:
        folkmoot.set_frames("polars")
        frame = self.read(ROWS)
        kinds = [str(frame[name].dtype) for name in ("block", "agent", "group", "warmup")]
        self.assertEqual(kinds, ["Int64", "Int64", "String", "Boolean"])
        self.assertEqual(frame["agent"].null_count(), 1)


class Package(unittest.TestCase):
    def test_versions_are_equal(self) -> None:
        version = json.loads((ROOT / "package.json").read_text())["version"]
        self.assertEqual(folkmoot.__version__, version)
        project = (ROOT / "python" / "pyproject.toml").read_text()
        self.assertIn(f'\nversion = "{version}"\n', project)

    def test_lines_and_functions_are_short(self) -> None:
        import ast

        for path in sorted((ROOT / "python").rglob("*.py")):
            text = path.read_text("utf-8")
            wide = [line for line in text.splitlines() if len(line) > 100]
            self.assertEqual(wide, [], f"{path}: at most 100 columns")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    lines = (node.end_lineno or 0) - node.lineno
                    self.assertLess(lines, 70, f"{path}: {node.name}: at most 70 lines")

    def test_package_data_is_listed(self) -> None:
        package = Path(folkmoot.__file__).parent
        others = {path.suffix for path in package.iterdir() if path.is_file()}
        self.assertLessEqual(others, {".py", ".json", ".typed", ".js"})


if __name__ == "__main__":
    unittest.main()
