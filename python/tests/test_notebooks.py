"""The notebooks run as programs, and the page of a run is shown in a sandboxed frame."""
from __future__ import annotations

import html
import importlib.util
import runpy
import sys
import types
import unittest
from typing import Any
from unittest import mock

from support import ROOT, Case, folkmoot, town

from folkmoot import widget

STANDIN = str(ROOT / "python" / "tests" / "standin")


class Notebooks(Case):
    def values(self, name: str) -> dict[str, Any]:
        """Runs a notebook with the stand-in. Returns the variables of its cells."""
        with mock.patch.object(sys, "path", [STANDIN, *sys.path]):
            path = str(ROOT / "python" / "notebooks" / name)
            app = runpy.run_path(path, run_name="__main__")["app"]
        return dict(app.values)

    def test_the_sweep_has_a_table_a_figure_and_a_report(self) -> None:
        values = self.values("sweep.py")
        self.assertEqual(len(values["runs"]), 18)
        shares = dict(values["means"]["bft"])
        self.assertEqual(list(shares), [0.0, 0.2, 0.4])
        self.assertGreater(shares[0.0], shares[0.4])
        self.assertGreater(dict(values["means"]["majority"])[0.4], shares[0.4])
        self.assertIn("<svg", html.unescape(values["report"]._repr_html_()))
        if importlib.util.find_spec("matplotlib"):
            self.assertEqual(len(values["figure"].axes[0].lines), 2)

    def test_the_debate_has_remarks_and_a_page(self) -> None:
        values = self.values("debate.py")
        run = values["run"]
        self.assertEqual(run.measures["decider_failures"], 0)
        said = [row["message"] for row in values["remarks"]]
        self.assertIn("I would", "".join(said))
        self.assertGreater(len(run.votes()), 0)
        self.assertIn('sandbox="allow-scripts"', values["page"]._repr_html_())


class Pages(Case):
    def test_a_page_cannot_leave_its_frame(self) -> None:
        shown = widget.Page('<a title="x">&amp;</a></iframe><script>alert(1)</script>', 300)
        frame = shown._repr_html_()
        self.assertEqual(frame.count("<iframe"), 1)
        self.assertEqual(frame.count("</iframe>"), 1)
        self.assertNotIn("<script", frame)
        self.assertIn("height: 300px", frame)

    def test_with_anywidget_the_page_is_a_widget(self) -> None:
        class AnyWidget:
            def __init__(self, **values: Any) -> None:
                self.values = values

        trait = types.SimpleNamespace(tag=lambda **_: None)
        modules = {
            "anywidget": types.SimpleNamespace(AnyWidget=AnyWidget, __spec__=mock.Mock()),
            "traitlets": types.SimpleNamespace(Unicode=lambda: trait, Int=lambda default: trait),
        }
        self.addCleanup(widget._widget_class.cache_clear)
        with mock.patch.dict(sys.modules, modules):
            page = folkmoot.run(town()).page(height=500)
        self.assertEqual(page.values["height"], 500)
        self.assertTrue(page.values["html"].endswith("</html>\n"))
        self.assertIn("export default { render }", page._esm.read_text())


if __name__ == "__main__":
    unittest.main()
