"""The modules of the package import each other without cycles, also for type checkers."""

import ast
import graphlib
import pathlib
import unittest

PACKAGE = pathlib.Path(__file__).parent.parent / "tapescope"


def imports(source):
    """Returns the modules of the package that a module imports anywhere, also in functions and under TYPE_CHECKING."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module} if node.module else {name.name for name in node.names}
    return found


class Layering(unittest.TestCase):
    def test_modules_have_no_import_cycles(self):
        graph = {path.stem: imports(path.read_text(encoding="utf-8")) for path in PACKAGE.glob("*.py")}
        self.assertIn("errors", graph["files"])
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            self.fail(f"import each other: {' <- '.join(error.args[1])}")

    def test_imports_for_type_checkers_count(self):
        source = "from . import a, b\nif TYPE_CHECKING:\n    from .c import C\ndef f():\n    from .d import g\n    import os\n"
        self.assertEqual(imports(source), {"a", "b", "c", "d"})


if __name__ == "__main__":
    unittest.main()
