"""What the tests share: the program, a folder for each test, and the examples.

Run by `cargo test` (tests/program/python.rs), or: python -m unittest discover -s python/tests

TAPESCOPE names the program whose files are read and written. What needs a module that is not there is skipped, but
fails where TAPESCOPE_PYTHON_ALL is set. With TAPESCOPE_INSTALLED the module is the one that is installed, of the wheel:
then nothing that needs its extension is left out (.ci/wheel).
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
# The module that is installed, or the one beside this folder.
INSTALLED = bool(os.environ.get("TAPESCOPE_INSTALLED"))
if not INSTALLED:
    sys.path.insert(0, os.path.dirname(HERE))
from tapescope import load
from tapescope._extension import is_built

PROGRAM = os.environ.get("TAPESCOPE", "tapescope")


def needs(module):
    there = importlib.util.find_spec(module) is not None or bool(os.environ.get("TAPESCOPE_PYTHON_ALL"))
    return unittest.skipUnless(there, f"needs {module}")


HAS_EXTENSION = INSTALLED or is_built()
needs_extension = unittest.skipUnless(HAS_EXTENSION, "needs the extension: .ci/wheel")


def example(name):
    """Returns an example as a module."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, "..", "examples", f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_program(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_example(self, name, *arguments):
        paths = ["" if INSTALLED else os.path.dirname(HERE), os.environ.get("PYTHONPATH", "")]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, paths)))
        example = os.path.join(HERE, "..", "examples", name)
        done = subprocess.run([sys.executable, example, *arguments], cwd=self.folder, env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def path(self, name):
        return os.path.join(self.folder, name)

    def traced(self, name, *more):
        self.run_program("trace", "copy", "--length", "4", "--seed", "1", "--rows", "16", "--out", name, *more)
        return load(self.path(name))
