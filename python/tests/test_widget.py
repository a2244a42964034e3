"""Widgets of notebooks: players and learning curves."""

import gc
import json
import os
import subprocess
import sys
import unittest
import weakref
from unittest import mock

import support
import tapescope as ts

# One cell that runs 20 times in one kernel, and what is left of it.
GROWTH = """
import gc, json, sys, weakref
import ipywidgets, tapescope as ts
from tapescope import widget
seen = globals().setdefault("seen", [])
player = ts.machine("copy").widget("input", length=2)
seen.append((weakref.ref(player.trace), player))
gc.collect()
pages = sum(len(player._page) > 0 for _, player in seen)
print(json.dumps([len(ipywidgets.widgets.widget._instances), pages, sum(trace() is not None for trace, _ in seen)]))
"""


@support.needs_extension
@support.needs("anywidget")
class Widget(support.Test):
    def setUp(self):
        super().setUp()
        from tapescope import widget
        self.widget = widget
        self.addCleanup(lambda: [entry[0].close() for entry in list(widget._on_screen)])

    def player(self, **options):
        return ts.machine("copy").widget("input", **{"length": 3, "seed": 1, **options})

    def told(self, player, **state):
        """A change that the page reports."""
        player._handle_msg({"content": {"data": {"method": "update", "state": state, "buffer_paths": []}}, "buffers": []})

    def sent(self, player, content):
        player._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})

    def test_what_the_user_does_is_observed(self):
        player, seen = ts.machine("copy").trace(length=3).widget(), []
        player.observe(lambda change: seen.append((change["name"], change["new"])), ["step", "stage", "head", "selection"])
        value = {"picture": "input", "step": 2, "row": 1, "column": None, "value": 1}
        self.told(player, step=2, stage="gate", head="W0", selection=value)
        self.assertEqual(sorted(seen, key=str), sorted([("step", 2), ("stage", "gate"), ("head", "W0"), ("selection", value)], key=str))
        self.told(player, selection=None)
        self.assertIsNone(player.selection)

    def test_what_python_sets_reaches_the_page(self):
        player, sent = self.player(), []
        with mock.patch.object(type(player), "send_state", lambda self, key=None: sent.append(key)):
            player.step, player.head = -1, "write0"
            player.selection = {"picture": "input", "step": 1, "row": 0}
        self.assertEqual((player.step, player.head), (6, "W0"))
        self.assertTrue({"step", "head", "selection"} <= {key for keys in sent for key in ([keys] if isinstance(keys, str) else keys)})

    def test_what_is_not_in_the_trace_is_refused(self):
        player = self.player()
        for error, text, ask in [
            (ts.StepError, "there is no step 7; expected 0 to 6", lambda: setattr(player, "step", 7)),
            (ts.ArgumentError, "`head`: is 'W1'; known: R0, W0", lambda: setattr(player, "head", "W1")),
            (ts.ArgumentError, "`selection`: is {'step': 1}", lambda: setattr(player, "selection", {"step": 1})),
            (ts.ArgumentError, "the player: shows a recorded trace", lambda: player.trace.widget().change("1:read0.gate", 1)),
            (ts.ArgumentError, "`compare`: has a layout", lambda: player.trace.widget("paper", compare=player.trace)),
            (ts.ArgumentError, "`compare`: is 5; expected a Trace", lambda: player.trace.widget(compare=5)),
            (ts.ArgumentError, "`trace`: is 5; expected a Trace", lambda: setattr(player, "trace", 5)),
            (ts.ArgumentError, "`stage`: is 'gate'; this figure has no stages", lambda: setattr(player, "stage", "gate")),
            (ts.StepError, "there is no step 99", lambda: player.trace.widget(step=99)),
            (ts.ArgumentError, "read0.gat", lambda: player.change("1:read0.gat", 1)),
        ]:
            with self.assertRaises(error) as raised:
                ask()
            self.assertIn(text, str(raised.exception))
        self.assertEqual((player.step, player.changes), (None, {}))
        # Those that failed have no widget.
        self.assertEqual(len(self.widget._on_screen), 2)

    def test_a_stage_is_one_of_the_figure(self):
        player = self.player().trace.widget()
        player.stage = "sharpen"
        with self.assertRaisesRegex(ts.ArgumentError, "`stage`: is 'sharpn'; did you mean `sharpen`\\? known: controller, content, gate,"):
            player.stage = "sharpn"
        self.assertEqual(player.stage, "sharpen")

    def test_a_negative_step_counts_from_the_end(self):
        trace = self.player().trace
        for layout in ("debug", "input"):
            player = trace.widget(layout, step=-1)
            self.assertEqual((player.step, player._page), (6, trace.figure(layout, step=6).page()))
        self.assertEqual(ts.machine("copy").widget("input", length=3, step=-7).step, 0)

    def test_a_shorter_trace_shows_its_last_step(self):
        player, short = self.player(length=5, step=-1), self.player(length=1).trace
        player.trace = short
        self.assertEqual((player.step, player._page), (2, short.figure("input", step=2).page()))
        player.step = 1
        player.trace = self.player().trace
        self.assertEqual(player.step, 1)

    def test_a_moved_gate_gives_a_new_trace(self):
        player, seen = self.player(intervene={"1:write0.gate": 1}), []
        player.observe(lambda change: seen.append(change["new"]), "trace")
        page = player._page
        self.assertEqual(player._gates["R0"]["read0.gate"][4], round(float(player.trace["read0.gate"][4]), 4))
        self.sent(player, {"place": "4:read0.gate", "value": 0.25})
        self.assertEqual([trace["read0.gate"][4] for trace in seen], [0.25])
        self.assertEqual(player._gates["R0"]["read0.gate"][4], 0.25)
        again = player.change("5:read0.gate", 0)
        self.assertIs(again, player.trace)
        self.assertEqual([float(again[name][step]) for name, step in (("write0.gate", 1), ("read0.gate", 4), ("read0.gate", 5))], [1, 0.25, 0])
        self.assertNotEqual(player._page, page)
        self.sent(player, {"place": "99:read0.gate", "value": 1})
        self.assertIn("99", player._message)
        self.sent(player, {"reset": True})
        self.assertEqual((player._page, player._message, player.changes), (page, "", {}))

    def test_a_notebook_without_a_kernel_shows_the_page(self):
        player = self.player()
        data, _ = player._repr_mimebundle_()
        self.assertIn("application/vnd.jupyter.widget-view+json", data)
        self.assertIn('sandbox="allow-scripts"', data["text/html"])
        self.assertIn("srcdoc=\"&lt;!doctype html&gt;", data["text/html"])
        self.assertIn("</iframe>\n<img", data["text/html"])
        player.trace.figure("input").save(self.path("f.html"))
        with open(self.path("f.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), player._page)

    def test_two_traces_are_compared(self):
        first, second = (ts.machine("copy").trace(length=3, seed=seed) for seed in (1, 2))
        player = first.widget(compare=second)
        self.assertIn("first.npz", player._page)
        self.assertIn("frames", player._page)
        with self.assertRaisesRegex(ts.ArgumentError, "`compare`: .*sizes differ"):
            first.widget(compare=ts.machine("repeat_copy").trace())

    def test_a_closed_player_has_no_page(self):
        player = self.player()
        trace = weakref.ref(player.trace)
        player.close()
        gc.collect()
        self.assertEqual((player._page, player.trace, trace()), ("", None, None))

    def test_a_curve_grows_during_training(self):
        preset = {"task": {"kind": "copy", "bits": 2, "length": [1, 2]}, "model": {"memory": {"rows": 4, "columns": 4}},
                  "training": {"sequences": 60, "batch": 4, "validation_every": 20}}
        curve = self.widget.Curve()
        machine = ts.train(preset, progress=curve)
        self.assertEqual(curve.sequences, 60)
        self.assertEqual(curve._curves[0], machine.curve(dark=False).svg)
        self.assertIn("<img", curve._repr_mimebundle_()[0]["text/html"])

    @support.needs("nbclient")
    def test_a_cell_that_runs_20_times_does_not_grow(self):
        import nbclient
        import nbformat
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(GROWTH)])
        client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": self.folder}})
        with client.setup_kernel():
            printed = []
            for _ in range(20):
                cell = client.execute_cell(notebook.cells[0], 0)
                text = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
                printed.append(json.loads(text))
        self.assertEqual(printed[1], printed[-1])
        # A widget and its layout; one page, one trace.
        self.assertEqual(printed[-1][1:], [1, 1])


class WithoutAnywidget(unittest.TestCase):
    def test_the_error_says_what_to_install(self):
        code = "import sys; sys.modules['anywidget'] = None; import tapescope.widget"
        path = [] if support.INSTALLED else [os.path.dirname(support.HERE)]
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join([*path, os.environ.get("PYTHONPATH", "")])})
        self.assertIn("ImportError: widgets need anywidget: pip install anywidget", done.stderr)


if __name__ == "__main__":
    unittest.main()
