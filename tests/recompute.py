#!/usr/bin/env python3
"""Recomputes every recorded array of a trace from the equations of its machine file.

    python3 tests/recompute.py [--weights FILE.safetensors] copy.ntmtrace.json [more ...]

An interpreter of machine files (docs/equations.md) in NumPy and float64, independent of the program that wrote the trace.
Each equation is computed once more at every step from recorded values, and compared with what it made. Equations with a
learned tensor are taken as recorded; with --weights they are computed as well. Machines that are written by hand (ntm, dnc,
sam) are interpreted from their included files. Prints the largest difference of each array, the heads of a kind together, and
what is taken as recorded; exit code 1 when a difference exceeds 1e-5. It is relative to the value, or to the sum of the
magnitudes of its terms, where these exceed 1.
"""

import ast
import glob
import gzip
import json
import math
import os
import re
import sys
from types import SimpleNamespace

import numpy as np

TOLERANCE = 1e-5
MACHINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "core", "machines")
TOKEN = re.compile(r'"[^"]*"|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|\.\.|<=|>=|==|#.*|\S')
ELEMENT = {"exp": np.exp, "expm1": np.expm1, "log": np.log, "sqrt": np.sqrt, "abs": np.abs, "sin": np.sin, "cos": np.cos, "floor": np.floor,
           "tanh": np.tanh, "sigmoid": lambda x: np.exp(-np.logaddexp(0, -x)), "softplus": lambda x: np.logaddexp(0, x),
           "relu": lambda x: np.maximum(x, 0), "lgamma": np.vectorize(math.lgamma, [float]), "stop": lambda x: x,
           "max": np.maximum, "min": np.minimum, "where": lambda c, a, b: np.where(c != 0, a, b)}
BINARY = {"Add": np.add, "Sub": np.subtract, "Mult": np.multiply, "Div": np.divide, "Pow": np.power, "LtE": np.less_equal, "GtE": np.greater_equal,
          "Eq": np.equal, "Lt": np.less, "Gt": np.greater}
REDUCE = {"sum": np.sum, "mean": np.mean, "product": np.prod, "maximum": np.max, "norm": lambda x, axis: np.sqrt((x * x).sum(axis))}
# Functions that take the values of all heads where their axes are a kind of heads.
OVER = {*REDUCE, "softmax", "log_softmax", "argmax", "rank", "draw", "dot", "cosine", "shift", "sharpen", "allocation"}
# Arrays of the parts of an episode have the names of those of a head, an encoder or a controller.
ELSEWHERE = {"document": ("read0.", "encoder.", ""), "question": ("read0.", "encoder.", ""), "answer": ("read0.", "encoder.", ""),
             "encoder": ("controller.", "read1.", "")}


def flat(table, before=""):
    """The entries of nested tables by their names with dots."""
    out = {}
    for name, value in (table or {}).items():
        out.update(flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value})
    return out


def name_of(node):
    """A name of the file in an expression."""
    return ast.unparse(node)[2:] if isinstance(node, (ast.Name, ast.Attribute)) else None


def included(file):
    """The text of an included file, with all components."""
    paths = [os.path.join(MACHINES, file), *sorted(glob.glob(os.path.join(MACHINES, "*.component")))]
    text = ""
    for path in paths:
        with open(path, encoding="utf-8") as part:
            text += part.read() + "\n"
    return text


# Text


def lines_of(text):
    """The lines of a file: their indentation and tokens. A line goes on while a bracket is open."""
    out, depth = [], 0
    for line in text.split("\n"):
        tokens = [token for token in TOKEN.findall(line) if token[0] != "#"]
        if tokens and depth == 0:
            out.append((len(line) - len(line.lstrip()), tokens))
        elif tokens:
            out[-1][1].extend(tokens)
        depth += sum((token in "([") - (token in ")]") for token in tokens)
    return out


class Line:
    """A cursor over the tokens of a line, with the names of the component that it stands in."""

    def __init__(self, tokens, scope, page):
        self.tokens, self.scope, self.page, self.i = tokens, scope, page, 0

    def peek(self, ahead=0):
        return self.tokens[self.i + ahead] if self.i + ahead < len(self.tokens) else ""

    def next(self):
        self.i += 1
        return self.tokens[self.i - 1]

    def take(self, *tokens):
        return self.next() if self.peek() in tokens and self.peek() else None

    def many(self, one, separator=","):
        out = [one()]
        while self.take(separator):
            out.append(one())
        return out

    def axis(self):
        return self.page.named_axis(self.scope, self.next())

    def axes(self):
        if not self.take("["):
            return None
        out = self.many(self.axis)
        self.next()
        return out

    def label(self):
        return self.next()[1:-1] if self.peek().startswith('"') else ""

    def condition(self):
        switch = self.scope.prefix + self.next()
        self.next()
        return switch, self.many(self.next, "or")

    def number(self):
        return -float(self.next()) if self.take("-") else float(self.next())

    def expression(self):
        """An expression up to the end of its argument or line. Its grammar is that of Python, once words and signs are replaced."""
        text, depth, start = "", 0, self.i
        while self.peek() and not self.peek().startswith('"') and (depth or self.peek() not in (",", ")", "for", "along")):
            token = self.next()
            depth += (token in "([") - (token in ")]")
            if token in ("no", "each", "weights") and self.peek() not in (")", "]", ","):
                text += "n_bias" if token == "no" else f"n_{token}:"
                self.i += token in ("no", "weights")
            elif token == ";":
                text += "," if self.tokens[self.i - 2] != "[" else ""
            else:
                text += {"^": "**", "as": "::"}.get(token) or ("n_" if token[0].isalpha() else "") + token
        return self.convert(ast.parse(text, mode="eval").body)

    def convert(self, node):
        """An expression as tuples, with full names."""
        page = self.page
        if isinstance(node, ast.Constant):
            return ("number", float(node.value))
        if isinstance(node, ast.UnaryOp):
            return ("binary", "Sub", ("number", 0.0), self.convert(node.operand))
        if isinstance(node, (ast.BinOp, ast.Compare)):
            left, operator, right = (node.left, node.op, node.right) if isinstance(node, ast.BinOp) else (node.left, node.ops[0], node.comparators[0])
            return ("binary", type(operator).__name__, self.convert(left), self.convert(right))
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = name_of(node)
            return {"infinity": ("number", math.inf), "learned": ("learned",)}.get(name) or page.named(self.scope, name)
        function, items = node.func if isinstance(node, ast.Call) else node, []
        if isinstance(function, ast.Subscript):
            items = function.slice.elts if isinstance(function.slice, ast.Tuple) else [function.slice]
            function = function.value
        if not isinstance(node, ast.Call) and name_of(function) not in ("index", "length"):
            base = self.convert(function)
            return ("select", base, [self.item(item) for item in items])
        name, axes, options = name_of(function), [], {"each": []}
        for item in items:
            if isinstance(item, ast.Slice):
                own = name_of(item.upper)
                options.update({"weights": self.scope.prefix + own} if name_of(item.lower) == "weights" else {"each": options["each"] + [page.named_axis(self.scope, own)]})
            elif name_of(item) == "bias":
                options["bias"] = False
            else:
                axes.append(page.named_axis(self.scope, name_of(item)))
        if name == "append":
            page.appended[axes[1]] = axes[0]
        page.made |= {axes[0]} if name == "join" else set()
        arguments = node.args if isinstance(node, ast.Call) else []
        if name == "past" and len(arguments) > 1:
            options["now"] = arguments.pop()
        return ("call", name, axes, options, [self.convert(argument) for argument in arguments])

    def item(self, item):
        if isinstance(item, ast.UnaryOp):
            return ("before", None)
        axis = self.page.named_axis(self.scope, name_of(item.lower))
        if item.step:
            new = self.page.named_axis(self.scope, name_of(item.step))
            self.page.renamed.setdefault(new, axis) if new != axis else None
            return ("as", axis, new)
        if ast.unparse(item.upper) == "-1":
            return ("before", axis)
        entries = self.page.entries.get(axis, [])
        if name_of(item.upper) == "last":
            return ("at", axis, "last")
        return ("at", axis, ("number", float(entries.index(name_of(item.upper)))) if name_of(item.upper) in entries else self.convert(item.upper))


class Page:
    """A machine file with its components: declarations, and blocks of statements under full names."""

    def __init__(self, text, model):
        self.given = {key: flat(model.get(key)) for key in ("sizes", "heads", "switches", "constants")}
        self.lengths, self.constants, self.switches, self.entries, self.heads = {}, {}, {}, {}, []
        self.renamed, self.appended, self.order, self.shared, self.use_labels = {}, {}, {}, {}, {}
        self.inputs, self.target, self.noises, self.parameters, self.starts, self.blocks, self.statements = {}, None, [], [], [], [], []
        self.kinds, self.owners, self.sequences, self.components, self.made = set(), set(), set(), {}, set()
        own, name = [], None
        for indent, tokens in lines_of(text):
            if indent == 0 and tokens[0] in ("machine", "component"):
                name = tokens[1] if tokens[0] == "component" else None
                self.components.setdefault(name, [])
            else:
                (own if name is None else self.components[name]).append((indent, tokens))
        empty = SimpleNamespace(block=None, conditions=[], kinds=None, indent=-1)
        self.read(own, SimpleNamespace(prefix="", inputs={}, axes={}, bound={}), empty)
        own = {*self.lengths, *self.made, *(axis for axes in [*self.inputs.values(), self.target[1]] for axis in axes)}
        self.renamed = {new: old for new, old in self.renamed.items() if new not in own}
        self.name_arrays()

    def named(self, scope, name):
        if name in scope.inputs:
            return scope.inputs[name]
        return ("name", scope.bound[name] if name in scope.bound else scope.prefix + name)

    def named_axis(self, scope, name):
        axis = scope.axes.get(name, scope.prefix + name)
        self.order.setdefault(axis, len(self.order))
        return axis

    def origin(self, axis):
        """The axis that this one is another name of, or has one entry more than."""
        while axis in self.renamed or axis in self.appended:
            axis = self.appended.get(axis) or self.renamed[axis]
        return axis

    def rank(self, axis):
        """The place of an axis in every array: heads and layers, then sequences, then others, each as the file names them."""
        is_first = self.origin(axis) in {*self.heads, *self.kinds, *self.owners} and axis not in self.appended
        return (0 if is_first else 1 if self.is_sequence(axis) else 2), self.order.get(axis, -1)

    def is_sequence(self, axis):
        return axis == "past" or axis in self.appended or self.origin(axis) in self.sequences

    def read(self, lines, scope, base):
        groups = []
        for indent, tokens in lines:
            while groups and indent <= groups[-1].indent:
                groups.pop()
            outer = groups[-1] if groups else base
            line = Line(tokens, scope, self)
            conditions = outer.conditions + ([line.condition()] if line.take("if") else [])
            group = SimpleNamespace(indent=indent, conditions=conditions, kinds=outer.kinds, block=outer.block)
            word = line.peek()
            if word == "for":
                line.next()
                group.kinds = line.many(line.axis)
                self.kinds |= set(group.kinds)
            elif word in ("along", "once"):
                axis = line.axis() if line.next() == "along" else None
                backwards, own = line.take("backwards"), line.take("own")
                if not base.block or indent > 0:
                    self.owners |= {axis} if own else set()
                    group.block = SimpleNamespace(axis=axis, backwards=backwards, own=own, items=[], parent=outer.block)
                    (outer.block.items if outer.block else self.blocks).append(group.block)
            elif word == "use":
                self.use(line, scope, group)
                continue
            elif word in ("size", "entries", "heads", "constant", "switch", "input", "target", "noise", "parameter", "start"):
                self.declare(line, scope, group)
                continue
            elif word:
                names = line.many(lambda: (scope.prefix + line.next(), line.axes()))
                line.next()
                own = SimpleNamespace(names=[name for name, _ in names], axes=[axes for _, axes in names], value=line.expression(), label=line.label(),
                                      kinds=group.kinds or [None], conditions=conditions, block=group.block, prefix=scope.prefix)
                group.block.items.append(own)
                self.statements.append(own)
                continue
            groups.append(group)

    def declare(self, line, scope, group):
        word, own = line.next(), line.next()
        name = scope.prefix + own
        if word in ("size", "heads", "constant") and own not in scope.bound and own not in scope.axes:
            line.next()
            value = line.number()
            if word == "constant":
                self.constants.setdefault(name, self.given["constants"].get(name, value))
            else:
                self.lengths.setdefault(self.named_axis(scope, own), int({**self.given["sizes"], **self.given["heads"]}.get(name, value)))
                self.heads += [name] if word == "heads" else []
        elif word == "entries":
            line.next()
            axis = self.named_axis(scope, own)
            self.entries[axis] = line.many(line.next)
            self.lengths[axis] = len(self.entries[axis])
        elif word == "switch":
            line.next()
            choices, bound = line.many(line.next, "|"), scope.bound.get(own)
            self.switches[name] = bound if isinstance(bound, str) else self.given["switches"].get(name, (bound or choices)[0])
            if isinstance(bound, list) and len(bound) == 1:
                self.switches[name] = bound[0]
        elif word in ("input", "target") and not scope.prefix:
            axes = line.axes()
            self.sequences |= set([axis for axis in axes if axis not in self.lengths and axis not in self.sequences][:-1])
            if word == "input":
                self.inputs[name] = axes
            else:
                self.target = (name, axes)
        elif word in ("noise", "parameter", "start"):
            names = [(name, line.axes())] + [(scope.prefix + line.next(), line.axes()) for _ in iter(lambda: line.take(","), None)]
            kind = line.next() and (line.next() if word == "noise" else line.expression()) if line.peek() == "=" else None
            kinds = line.many(line.axis) if line.take("for") else group.kinds or [None]
            self.kinds |= {axis for axis in kinds if axis}
            along = line.axis() if line.take("along") else None
            table = {"noise": self.noises, "parameter": self.parameters, "start": self.starts}[word]
            label = line.label()
            for name, _ in names:
                own = SimpleNamespace(name=name, axes=names[-1][1], value=kind, kinds=kinds, along=along, conditions=group.conditions, label=label, prefix=scope.prefix)
                table.append(own)

    def use(self, line, scope, group):
        """Reads a component under the names of one use."""
        line.next()
        prefix = scope.prefix + line.next() + "."
        line.next()
        lines = self.components[line.next()]
        declared = {tokens[1]: tokens[0] for indent, tokens in lines if indent == 0 and tokens[0] in ("size", "heads", "entries", "constant", "switch", "input")}
        inner = SimpleNamespace(prefix=prefix, inputs={}, axes={}, bound={})
        if line.take("["):
            while not line.take("]"):
                if line.take(";"):
                    line.i += 2
                    self.shared[prefix] = scope.prefix + line.next() + "."
                    continue
                formal = line.next()
                line.next()
                actual, word = line.many(line.next, "|"), declared.get(formal)
                if word == "switch":
                    inner.bound[formal] = scope.prefix + actual[0] if scope.prefix + actual[0] in self.switches and len(actual) == 1 else actual
                elif word == "constant":
                    inner.bound[formal] = prefix + formal if actual[0][0].isdigit() else scope.prefix + actual[0]
                    self.constants.update({prefix + formal: float(actual[0])} if actual[0][0].isdigit() else {})
                elif actual[0].isdigit():
                    inner.axes[formal] = prefix + formal
                    self.lengths[prefix + formal] = int(actual[0])
                else:
                    inner.axes[formal] = self.named_axis(scope, actual[0])
                line.take(",")
        arguments = []
        if line.take("("):
            while not line.take(")"):
                arguments.append(line.expression())
                line.take(",")
        if line.peek():
            self.use_labels[prefix] = line.label()
        for indent, tokens in lines:
            if indent == 0 and tokens[0] in ("input", "along"):
                names = tokens[1:2] if tokens[0] == "along" else tokens[3:tokens.index("]") if "]" in tokens else 3:2]
                for name in names:
                    if name != "," and name not in declared and name not in inner.axes:
                        inner.axes[name] = group.block.axis if tokens[0] == "along" and group.block else self.named_axis(scope, name)
            if indent == 0 and tokens[0] == "input":
                default = ("number", float(tokens[tokens.index("=") + 1])) if "=" in tokens else None
                inner.inputs[tokens[1]] = arguments.pop(0) if arguments else default
        self.read(lines, inner, group)

    def name_arrays(self):
        """Gives each quantity the name of its array: its label, with as many names of uses before it as tell it from others."""
        claims, labelled, candidates = {}, {}, {}
        own = [(kind, s, i, name) for s in self.statements for kind in s.kinds for i, name in enumerate(s.names)]
        for s in self.statements:
            labels = s.label.split(", ")
            s.labels = labels if len(labels) == len(s.names) else [s.label] * len(s.names)
            s.arrays = [{} for _ in s.names]
        for kind, s, i, name in own:
            labelled.setdefault((kind, s.prefix, s.labels[i]), set()).add(name)
        for kind, s, i, name in own:
            symbol, label = name[len(s.prefix):], s.labels[i]
            same = len(labelled[kind, s.prefix, label]) > 1
            end = re.sub(r"[^\w.]", "_", f"{label}.{symbol}" if label and same else label or symbol)
            names, parts = [], s.prefix.split(".")[:-1]
            for count in range(len(parts), 0, -1):
                label = self.use_labels.get(".".join(parts[:count]) + ".")
                if label:
                    inside = "".join(part + "." for part in parts[count:])
                    names += [f"{label}.{end}", f"{label}.{inside}{end}"]
                    break
            names += ["".join(part + "." for part in parts[len(parts) - count:]) + end for count in range(len(parts) + 1)]
            candidates[kind, id(s), i] = names = list(dict.fromkeys(names))
            for one in names:
                claims.setdefault((kind, one), []).append((name, len(names)))
        for kind, s, i, name in own:
            names = candidates[kind, id(s), i]
            free = [one for one in names if all(other == name or count > len(names) for other, count in claims[kind, one])]
            s.arrays[i][kind] = (free or names[-1:])[0]


# Values


class Named:
    """An array whose axes have names; known: whether it follows from recorded values."""

    def __init__(self, axes, data, known=True):
        self.axes, self.data, self.known = tuple(axes), np.asarray(data, np.float64), known

    def length(self, axis):
        return self.data.shape[self.axes.index(axis)]

    def entry(self, axis, index):
        at = self.axes.index(axis)
        return Named(self.axes[:at] + self.axes[at + 1:], self.data.take(index, at), self.known)


class Run:
    """One episode: runs the blocks of a page, and compares what each statement makes with the trace."""

    def __init__(self, page, trace, tensors):
        self.page, self.trace, self.tensors, self.lengths = page, trace, tensors, page.lengths
        self.frames, self.full = [], {}
        self.kind = self.head = self.statement = None
        self.find_parts()
        for name, axes in page.inputs.items():
            first, count = self.part[axes[0]]
            width = self.lengths.setdefault(axes[1], trace.arrays["input"].shape[1])
            self.full[name, None] = self.named(axes, trace.arrays["input"][first:first + count, :width])
        made = [(name, s) for s in page.statements for name in s.names]
        self.makers = {key: s for name, s in made for key in [name, *((name, kind) for kind in s.kinds)]}
        self.kinds_of = {}
        for name, own in [*made, *((own.name, own) for own in page.parameters + page.noises)]:
            self.kinds_of.setdefault(name, set()).update(own.kinds)
        for constant in page.constants:
            if constant.split(".")[-1] == "expected":
                page.constants[constant] = float(trace.sampling == "expected")

    def find_parts(self):
        """The steps of the episode that each sequence of the data counts: the first one and their number."""
        steps, source, page = len(self.trace.arrays["input"]), self.trace.source, self.page
        inputs, target = [axes[0] for axes in page.inputs.values()], page.target[1]
        self.part = {axis: (0, source) for axis in inputs}
        self.is_last = len(target) == 1
        if len(inputs) == 2:
            self.part = {inputs[0]: (0, self.trace.query[0] - 1), inputs[1]: (self.trace.query[0], self.trace.query[1] - self.trace.query[0])}
        elif target[0] in inputs:
            self.part = {target[0]: (0, steps)}
        elif not self.is_last:
            self.part[target[0]] = (source, steps - source)
        self.lengths.update({axis: count for axis, (_, count) in self.part.items()})
        self.lengths.setdefault(target[-1], self.trace.arrays["target"].shape[1])

    def length(self, axis):
        if axis == "past":
            # Values that meet have the same entries: index[past] is cut to them.
            return len(self.trace.arrays["input"])
        return self.lengths[axis] if axis in self.lengths else self.length(self.page.renamed[axis])

    def named(self, axes, data, known=True):
        order = sorted(axes, key=self.page.rank)
        return Named(order, np.transpose(data, [list(axes).index(axis) for axis in order]), known)

    def element(self, function, *values):
        axes = sorted({axis for value in values for axis in value.axes}, key=self.page.rank)
        if "past" in axes:
            n = min(v.length("past") for v in values if "past" in v.axes)
            values = [Named(v.axes, v.data.take(range(n), v.axes.index("past"))) if "past" in v.axes else v for v in values]
        return Named(axes, function(*(v.data.reshape([v.length(axis) if axis in v.axes else 1 for axis in axes]) for v in values)))

    def contract(self, values, axes):
        """The sum over axes of the product of the values."""
        letters = {axis: chr(97 + i) for i, axis in enumerate(dict.fromkeys(axis for v in values for axis in v.axes))}
        out = sorted([axis for axis in letters if axis not in axes], key=self.page.rank)
        text = ",".join("".join(letters[axis] for axis in v.axes) for v in values) + "->" + "".join(letters[axis] for axis in out)
        terms = np.einsum(text, *(np.abs(v.data) for v in values))
        self.size = max(self.size, terms[np.isfinite(terms)].max(initial=0))
        return Named(out, np.einsum(text, *(v.data for v in values)))

    # Blocks

    def holds(self, conditions):
        def choice(switch):
            chosen = self.page.switches[switch]
            while isinstance(chosen, str) and chosen in self.page.switches:
                chosen = self.page.switches[chosen]
            if isinstance(chosen, str):
                return chosen
            # A list has a choice for each head, of one kind after another in the order of their declarations.
            asked = {kind for s in self.page.statements for kind in s.kinds if switch in [name for name, _ in s.conditions]}
            before = [self.lengths[kind] for kind in self.page.heads[:self.page.heads.index(self.kind)] if kind in asked]
            return chosen[sum(before) + self.head]
        return all(choice(switch) in choices for switch, choices in conditions)

    def each_head(self, own):
        for self.kind in own.kinds:
            for self.head in range(self.lengths[self.kind]) if self.kind else [None]:
                if self.holds(own.conditions):
                    self.statement, self.known, self.size = own, True, 0.0
                    yield (self.kind, self.head) if self.kind else None
        self.kind = self.head = None

    def go(self):
        for block in self.page.blocks:
            self.full.update(self.along(block))

    def statements_in(self, block):
        for item in block.items:
            yield from self.statements_in(item) if hasattr(item, "items") else [item]

    def along(self, block):
        """Runs a block, in a step of those around it; returns what it makes, with its axis."""
        statements = list(self.statements_in(block))
        made = {(name, head) for s in statements for head in self.each_head(s) for name in s.names}
        if not made:
            return {}
        frame = SimpleNamespace(block=block, step=None, now={}, before=self.first_values(block, made), series={key: [] for key in made})
        steps = range(self.length(block.axis)) if block.axis else [None]
        self.frames.append(frame)
        for frame.step in reversed(steps) if block.backwards else steps:
            frame.now = {}
            for item in block.items:
                if hasattr(item, "items"):
                    frame.now.update(self.along(item))
                else:
                    self.make(item)
            if block.axis:
                frame.before = {**frame.before, **frame.now}
                for key in made:
                    frame.series[key].append(frame.now[key])
        self.frames.pop()
        if not block.axis:
            return frame.now
        order = -1 if block.backwards else 1
        return {key: self.stacked(values[::order], block.axis) if values else self.empty(key, frame) for key, values in frame.series.items()}

    def empty(self, key, frame):
        """What a block without steps makes: its last value is its start."""
        last = frame.before.get(key) or next(f.before[key] for f in self.frames if key in f.before)
        if frame.block.axis in last.axes:
            return last
        out = Named((frame.block.axis, *last.axes), np.zeros((0, *last.data.shape)), last.known)
        out.last = last
        return out

    def stacked(self, values, axis):
        """The values of all steps; along `past` they are filled up with zeros."""
        shape = np.max([v.data.shape for v in values], 0)
        data = [np.pad(v.data, [(0, int(n) - m) for n, m in zip(shape, v.data.shape)]) if v.axes else v.data for v in values]
        return self.named((axis, *values[0].axes), np.stack(data), all(v.known for v in values))

    def first_values(self, block, made):
        out = {}
        for start in self.page.starts:
            inside, maker = [], self.makers[start.name].block
            while maker is not block and maker:
                inside, maker = [maker.axis, *inside], maker.parent
            if maker is None or (block.axis != start.along if start.along else inside):
                continue
            for head in self.each_head(start):
                if (start.name, head) in made:
                    self.start_axes = inside + (start.axes or [])
                    value = self.value(start.value)
                    axes = sorted({*value.axes, *self.start_axes}, key=self.page.rank)
                    zeros = Named(axes, np.zeros([value.length(axis) if axis in value.axes else self.length(axis) for axis in axes]))
                    value, maker = self.element(np.add, zeros, value), self.makers[start.name, self.kind]
                    value.known, name = self.known, maker.arrays[maker.names.index(start.name)][self.kind]
                    # A quantity with several first values has one of them for each step of the block around.
                    is_first = not self.frames or [own.name for own in self.page.starts].count(start.name) == 1
                    out[start.name, head] = self.settle(f"{name}.initial" if is_first else f"{name}.initial.{block.axis}", value)
        return out

    def make(self, s):
        for head in self.each_head(s):
            out = self.value(s.value)
            for i, value in enumerate(out if isinstance(out, tuple) else (out,)):
                value.known, name = self.known, s.arrays[i][self.kind]
                value = self.settle("logit" if s.names[i] == "z" and self.is_plain(value) else name, value)
                self.frames[-1].now[s.names[i], head] = value

    def is_plain(self, value):
        around = [frame.block.axis for frame in self.frames if frame.block.axis]
        return set(around) | set(value.axes) == set(self.page.target[1])

    # Recorded arrays

    def settle(self, name, value):
        """Compares a value with the trace, and returns what is recorded; the value itself if nothing is."""
        table = [] if self.kind or name in self.trace.arrays else [axis for axis in value.axes if f"{axis}0.{name}" in self.trace.arrays]
        if table:
            parts = []
            for self.kind, self.head in [(table[0], i) for i in range(value.length(table[0]))]:
                parts.append(self.settle(name, value.entry(table[0], self.head)))
            self.kind = self.head = None
            return self.stacked(parts, table[0])
        views = list(self.views(name, value))
        for array, places in views:
            recorded = self.trace.at(array, places)
            if value.known and array not in self.trace.given:
                self.trace.compare(array, value.data, recorded, self.size)
            else:
                self.trace.taken.add(array)
        if not views or recorded.shape != value.data.shape:
            return value
        is_absent = np.isnan(recorded) & (views[0][0] in self.trace.partial)
        return Named(value.axes, np.where(is_absent, value.data, recorded))

    def views(self, name, value):
        """The parts of recorded arrays that are this value: (name of the array, places of its entries)."""
        arrays, axes, kind = self.trace.arrays, list(value.axes), self.kind
        frames = [(f.block.axis, f.step, self.length(f.block.axis)) for f in self.frames if f.block.axis]
        number, label = self.head, name
        own = [frame for frame in frames if self.page.origin(frame[0]) in self.page.owners | set(self.page.heads)]
        if kind and own and f"{kind}{own[0][2] * self.lengths[kind] - 1}.{name}" in arrays:
            number, frames = own[0][1] * self.lengths[kind] + self.head, [frame for frame in frames if frame is not own[0]]
        if kind:
            name = f"{kind}{number}.{name}"
        elif own and f"{own[0][0]}{own[0][1]}.{name}" in arrays:
            name, frames = f"{own[0][0]}{own[0][1]}.{name}", [frame for frame in frames if frame is not own[0]]
        beginning, _, end = label.partition(".")
        others = [more + end for more in ELSEWHERE.get(beginning, ()) if more != "encoder." or "." in self.statement.prefix]
        found = next((one for one in [name, *others] if one in arrays), None)
        if len(self.page.inputs) == 2 and beginning == "answer" and found not in (None, name):
            rounds, ends = next((frame for frame in frames), (None, 0, 1)), len(self.page.entries.get(self.page.target[1][0], [0]))
            for end_number in [self.head] if kind else range(ends):
                t = len(arrays["input"]) - rounds[2] * ends + rounds[1] * ends + end_number
                if t >= self.trace.source:
                    first = [self.part.get(self.page.origin(axis), (0,))[0] for axis in axes]
                    for array in ["logit", "read0.similarity", found] if self.statement.names == ["z"] else [found]:
                        yield array, self.trace.places(array)[t][tuple(slice(at, at + n) for at, n in zip(first, value.data.shape))]
            return
        if len(self.page.inputs) == 2 and found is None and f"read0.{name}" in arrays and len(axes) == 2:
            for time in axes:
                yield f"read0.{name}", self.cut(f"read0.{name}", frames, value, False, time)
            return
        if found:
            time = {"document": 0, "question": 1}.get(beginning) if found != name else None
            time = None if time is None else next((axis for axis in axes if self.page.origin(axis) == list(self.part)[time]), None)
            is_last = bool(kind) and not frames or not any(self.page.origin(axis) in self.part for axis in [f[0] for f in frames] + axes)
            cut = self.cut(found, frames, value, is_last and "." not in self.statement.prefix, time)
            if cut is not None:
                yield found, cut

    def cut(self, name, frames, value, is_once, time=None):
        """The entries of an array in the steps of the blocks around, in the order of the axes of a value."""
        array, steps = self.trace.places(name), {axis: (step, n) for axis, step, n in frames}
        dims = self.trace.dims[name]
        around, axes = [axis for axis, _, _ in frames], [axis for axis, _, _ in frames] + list(value.axes)
        if "t" in dims:
            time = time or next((axis for axis in axes if self.page.origin(axis) in self.part and axis != "past"), None)
            if self.is_last and is_once and not frames:
                array, time = array[-1], None
            axes = [time] * (time is not None) + [axis for axis in axes if axis != time]
        if dims == ["one"] or array.ndim + 1 == len(axes):
            missing = next((i for i, axis in enumerate(axes) if axis in around and steps[axis][1] == 1 and axis != time), None)
            array = array[0] if dims == ["one"] else array if missing is None else np.expand_dims(array, missing)
        if array.ndim != len(axes):
            self.trace.notes.add(f"{name} has {list(array.shape)}, its equation {axes}")
            return None
        index = []
        for at, axis in enumerate(axes):
            n = steps[axis][1] if axis in steps else value.length(axis)
            part = self.page.origin(around[-1] if axis == "past" else axis)
            first = self.part.get(part, (0, 0))[0] if array.shape[at] != n and (axis != "past" or dims[-1] == "n") else 0
            index.append(first + steps[axis][0] if axis in steps else slice(first, first + n))
        array, rest = array[tuple(index)], [axis for axis in axes if axis not in steps]
        return np.transpose(array, [rest.index(axis) for axis in value.axes])

    # Names

    def here(self, value, frames):
        for f in frames:
            if f.step is not None and f.block.axis in value.axes:
                value = value.entry(f.block.axis, f.step)
        return value

    def every(self, name, whole, get):
        """A quantity by its name: of the heads that a function runs over, of this head, of no heads, or of all heads of its kind."""
        kinds, plain = self.kinds_of.get(name, {None}), get
        if self.kind and self.kind not in whole:
            def get(key):
                value = plain(key)
                return value.entry(self.kind, self.head) if self.kind in value.axes else value
        kind = next((kind for kind in kinds if kind in whole), None)
        if kind is None and self.kind in kinds and self.kind:
            return get((name, (self.kind, self.head)))
        if kind is None and None in kinds:
            return get((name, None))
        kind = kind or next(iter(kinds))
        values = [get((name, (kind, head))) for head in range(self.lengths[kind])]
        return self.stacked(values, kind) if values else Named((kind,), np.zeros(0))

    def fetch(self, name, whole):
        def get(key):
            for i in range(len(self.frames) - 1, -1, -1):
                if key in self.frames[i].now:
                    return self.here(self.frames[i].now[key], self.frames[i + 1:])
            return self.here(self.full[key], self.frames) if key in self.full else None
        own = next((own for own in self.page.parameters + self.page.noises if own.name == name), None)
        if own is None:
            return self.every(name, whole, get)
        if own in self.page.noises:
            return self.every(name, whole, lambda key: self.here(self.noise(own, key[1]), self.frames))
        return self.every(name, whole, lambda key: self.named_tensor(name, own.axes or [], key[1]))

    def recorded_noise(self, own, *ends):
        """The recorded noise of a statement or a declaration, under the label of its use."""
        parts, beginning = own.prefix.split(".")[:-1], f"{self.kind}{self.head}." if self.kind else ""
        names = list(ends)
        for count in range(len(parts), 0, -1):
            label, inside = self.page.use_labels.get(".".join(parts[:count]) + "."), "".join(part + "." for part in parts[count:])
            names += [f"{label}.{between}{end}" for end in ends for between in (inside, "")]
        found = next((beginning + name for name in names if beginning + name in self.trace.arrays), None)
        self.trace.seen |= {found} if found and self.trace.sampling != "mean" else set()
        return found

    def noise(self, own, head):
        """Recorded noise where it was used, else its mean."""
        end = re.sub(r"[^\w.]", "_", own.label or own.name[len(own.prefix):])
        found, shape = self.recorded_noise(own, own.prefix + end, end), [self.length(axis) for axis in own.axes]
        if found is None or self.trace.sampling == "mean":
            return self.named(own.axes, np.full(shape, 0.5 if own.value == "uniform" else 0))
        array = self.trace.arrays[found]
        first = [self.part.get(self.page.origin(axis), (0, 0))[0] * (n != whole) for axis, n, whole in zip(own.axes, shape, array.shape)]
        return self.named(own.axes, array[tuple(slice(at, at + n) for at, n in zip(first, shape))])

    def before(self, name, axis, whole):
        page = self.page
        if name == page.target[0]:
            frame = next(f for f in reversed(self.frames) if f.block.axis in page.target[1])
            first, logit = self.part[frame.block.axis][0], self.trace.arrays["logit"]
            answer = logit[first + frame.step - 1] if frame.step else None
            bits = np.zeros(logit.shape[1]) if answer is None else np.eye(len(answer))[answer.argmax()] if self.trace.symbols else answer > 0
            return Named(page.target[1][-1:], bits)
        around, maker = [], self.makers[name].block
        while maker:
            around, maker = [maker, *around], maker.parent
        at = next(i for i in range(len(self.frames) - 1, -1, -1) if self.frames[i].block in around and axis in (None, self.frames[i].block.axis))
        return self.every(name, whole, lambda key: self.here(self.frames[at].before[key], self.frames[at + 1:]))

    def tensor(self, name, shape, head=None):
        """A learned tensor; zeros, of which nothing is known, where there is none."""
        for use, other in self.page.shared.items():
            name = other + name[len(use):] if name.startswith(use) else name
        own = [f for f in self.frames if f.block.own]
        whole = [self.length(f.block.axis) for f in own] + ([self.lengths[head[0]]] if head else []) + list(shape)
        of_head, of_kind = (self.tensors.get(f"{before}.{name}") for before in (f"{head[0]}{head[1]}", head[0])) if head else (None, self.tensors.get(name))
        if of_head is not None and of_head.size == math.prod(shape):
            return of_head.reshape(shape)
        if of_kind is None or of_kind.size != math.prod(whole):
            self.known = False
            return np.zeros(shape)
        return of_kind.reshape(whole)[tuple([f.step for f in own] + ([head[1]] if head else []))]

    def named_tensor(self, name, axes, head):
        return self.named(axes, self.tensor(name, [self.length(axis) for axis in axes], head))

    # Expressions

    def value(self, node, whole=frozenset()):
        """The value of an expression; whole: kinds of which a name means all heads."""
        kind = node[0]
        if kind == "number":
            return Named((), node[1])
        if kind == "learned":
            return self.named_tensor(self.statement.name + ".start", self.start_axes, (self.kind, self.head) if self.kind else None)
        if kind == "name":
            value = Named((), self.page.constants[node[1]]) if node[1] in self.page.constants else self.fetch(node[1], whole)
            self.known &= value.known
            return value
        if kind == "binary":
            return self.element(BINARY[node[1]], self.value(node[2], whole), self.value(node[3], whole))
        if kind == "select":
            return self.select(node, whole)
        _, name, axes, options, arguments = node
        if name == "past":
            return self.past_values(arguments[0][1], options)
        inside = whole | {axis for axis in axes if axis in self.page.kinds and name in OVER}
        values = [self.value(argument, inside) for argument in arguments]
        if name in ELEMENT:
            return self.element(ELEMENT[name], *values)
        if name in REDUCE:
            at = tuple(values[0].axes.index(axis) for axis in axes)
            if name in ("sum", "mean") and values[0].data.size:
                self.size = max(self.size, np.abs(values[0].data).sum(at).max())
            return Named([axis for axis in values[0].axes if axis not in axes], REDUCE[name](values[0].data, axis=at))
        return getattr(self, "f_" + name)(axes, options, *values)

    def select(self, node, whole):
        _, base, items = node
        inner = whole | {item[1] for item in items if item[0] != "before" and item[1] in self.page.kinds}
        before = [item[1] for item in items if item[0] == "before"]
        value = self.before(base[1], before[0], inner) if before else self.value(base, inner)
        self.known &= value.known
        for item in items:
            if item[0] == "as":
                value = self.named([item[2] if axis == item[1] else axis for axis in value.axes], value.data)
                self.lengths.setdefault(item[2], value.length(item[2])) if item[1] != "past" else None
            elif item[0] == "at" and item[2] == "last":
                value = value.entry(item[1], -1) if value.length(item[1]) else value.last
            elif item[0] == "at":
                index = self.value(item[2], whole)
                hot = np.floor(index.data)[..., None] == np.arange(value.length(item[1]))
                whole_axis = Named(["selected" if axis == item[1] else axis for axis in value.axes], value.data)
                value = self.contract([whole_axis, Named((*index.axes, "selected"), hot)], ["selected"])
        return value

    def past_values(self, name, options):
        maker = self.makers[name]
        key = name, (self.kind, self.head) if self.kind in maker.kinds and self.kind else None
        at = next(i for i in range(len(self.frames) - 1, -1, -1) if key in self.frames[i].series)
        values = [self.here(value, self.frames[at + 1:]) for value in self.frames[at].series[key]]
        values += [self.fetch(name, set())] if "now" in options else []
        if not values:
            axes = maker.axes[maker.names.index(name)] or []
            return self.named(["past", *axes], np.zeros([0, *(self.length(axis) for axis in axes)]))
        self.known &= all(value.known for value in values)
        return self.stacked(values, "past")

    def f_softmax(self, axes, options, value):
        at = tuple(value.axes.index(axis) for axis in axes)
        power = np.exp(value.data - value.data.max(at, keepdims=True, initial=-np.inf)) if value.data.size else value.data
        return Named(value.axes, power / power.sum(at, keepdims=True))

    def f_log_softmax(self, axes, options, value):
        return Named(value.axes, value.data - np.logaddexp.reduce(value.data, value.axes.index(axes[0]), keepdims=True))

    def f_dot(self, axes, options, *values):
        return self.contract(values, axes)

    def f_cosine(self, axes, options, a, b, epsilon=Named((), 0)):
        norms = [self.contract([v, v], axes) for v in (a, b)]
        return self.element(lambda top, *squares: top / np.prod([np.sqrt(one + epsilon.data) for one in np.broadcast_arrays(*squares)], 0),
                            self.contract([a, b], axes), *norms)

    def f_argmax(self, axes, options, value):
        return Named([axis for axis in value.axes if axis != axes[0]], value.data.argmax(value.axes.index(axes[0])))

    def f_rank(self, axes, options, value):
        at = value.axes.index(axes[0])
        return Named(value.axes, value.data.argsort(at, kind="stable").argsort(at, kind="stable"))

    def f_draw(self, axes, options, value):
        """The first entry whose cumulative sum exceeds the recorded number, or the most probable one."""
        found = self.recorded_noise(self.statement, self.statement.arrays[0][self.kind] + ".noise", "draw")
        if found is None or self.trace.sampling != "drawn":
            return self.f_argmax(axes, options, value)
        u = self.trace.arrays[found][self.part[self.page.origin(self.frames[0].block.axis)][0] + self.frames[0].step]
        at = value.axes.index(axes[0])
        total = np.cumsum(value.data, at)
        return Named([axis for axis in value.axes if axis != axes[0]], np.minimum((total <= u * total.take([-1], at)).sum(at), value.length(axes[0]) - 1))

    def f_shift(self, axes, options, weights, shifts):
        new = next(axis for axis in shifts.axes if axis not in weights.axes)
        count, at = shifts.length(new), weights.axes.index(axes[0])
        rolled = [Named(weights.axes, np.roll(weights.data, j - count // 2, at)) for j in range(count)]
        return self.contract([self.stacked(rolled, new), shifts], [new])

    def f_sharpen(self, axes, options, weights, gamma):
        """The softmax of gamma log w: no power of a small number is 0 before it is divided."""
        return self.f_softmax(axes, options, self.element(lambda w, gamma: gamma * np.log(np.maximum(w, np.finfo(np.float32).tiny)), weights, gamma))

    def f_allocation(self, axes, options, value):
        at, out = value.axes.index(axes[0]), np.empty_like(value.data)
        order = value.data.argsort(at, kind="stable")
        usage = np.take_along_axis(value.data, order, at)
        smaller = np.cumprod(np.insert(usage, 0, 1, at), at).take(range(value.length(axes[0])), at)
        np.put_along_axis(out, order, (1 - usage) * smaller, at)
        return Named(value.axes, out)

    def numbers(self, axis):
        """The entries of an axis; a trace can have some rows of a memory."""
        return self.trace.rows if axis == "rows" and self.trace.rows is not None else np.arange(self.length(axis))

    def f_index(self, axes, options):
        step = next((f.step for f in self.frames if f.block.axis == axes[0]), self.head if axes[0] == self.kind else None)
        return Named((), step) if step is not None else Named(axes, self.numbers(axes[0]))

    def f_length(self, axes, options):
        return Named((), self.trace.all_rows if axes[0] == "rows" and self.trace.all_rows else self.length(axes[0]))

    def f_onehot(self, axes, options, index):
        return self.named((*index.axes, axes[0]), index.data[..., None] == self.numbers(axes[0]))

    def f_window(self, axes, options, value):
        at, count, n = value.axes.index(axes[0]), self.length(axes[1]), value.length(axes[0])
        padded = np.pad(value.data, [(count // 2, count // 2) if i == at else (0, 0) for i in range(value.data.ndim)])
        parts = [padded.take(range(j, j + n), at) for j in range(count)]
        return self.named((axes[1], *value.axes), np.stack(parts) if parts else np.zeros((0, *value.data.shape)))

    def f_append(self, axes, options, value, last):
        at, rest = value.axes.index(axes[0]), [axis for axis in value.axes if axis != axes[0]]
        self.lengths[axes[1]] = value.length(axes[0]) + 1
        entry = np.expand_dims(self.ordered(last, rest), at)
        return self.named([axes[1] if axis == axes[0] else axis for axis in value.axes], np.concatenate([value.data, entry], at))

    @staticmethod
    def ordered(value, axes):
        return np.transpose(value.data, [value.axes.index(axis) for axis in axes])

    def flattened(self, values, each):
        """All numbers of the arguments of a learned function one after another; its other axes before them."""
        def taken(value):
            return [axis for axis in value.axes if not self.page.is_sequence(axis) and axis not in each]
        batch = sorted({axis for v in values for axis in v.axes if axis not in taken(v)}, key=self.page.rank)
        lengths = [next(v.length(axis) for v in values if axis in v.axes) for axis in batch]
        parts = []
        for v in values:
            data = self.ordered(v, [axis for axis in batch if axis in v.axes] + taken(v))
            data = data.reshape([v.length(axis) if axis in v.axes else 1 for axis in batch] + [math.prod(v.length(axis) for axis in taken(v))])
            parts.append(np.broadcast_to(data, lengths + [data.shape[-1]]))
        return batch, np.concatenate(parts, -1)

    def f_join(self, axes, options, *values):
        batch, data = self.flattened(values, options["each"])
        self.lengths[axes[0]] = data.shape[-1]
        return self.named((*batch, axes[0]), data)

    def affine(self, axes, options, values, end="", gates=()):
        """Weight times all values of the arguments, plus bias; gates: the number of results of a cell."""
        batch, data = self.flattened(values, options["each"])
        own, head = self.statement, (self.kind, self.head) if self.kind else None
        name = options.get("weights") or (own.names[0] if hasattr(own, "names") else own.name + ".start") + end
        shape = [*gates, *(self.length(axis) for axis in axes)]
        weight = self.tensor(name + ".weight", [*shape, data.shape[-1]], head)
        self.size = max(self.size, np.tensordot(np.abs(data), np.abs(weight), (-1, -1)).max(initial=0))
        return batch, np.tensordot(data, weight, (-1, -1)) + (self.tensor(name + ".bias", shape, head) if options.get("bias", True) else 0)

    def f_linear(self, axes, options, *values):
        batch, data = self.affine(axes, options, values)
        return self.named((*batch, *axes), data)

    def f_lstm(self, axes, options, *values):
        batch, gates = self.affine(axes, options, values[:-1], gates=(4,))
        i, f, g, o = np.moveaxis(gates, len(batch), 0)
        sigmoid = ELEMENT["sigmoid"]
        cell = sigmoid(f) * self.ordered(values[-1], (*batch, *axes)) + sigmoid(i) * np.tanh(g)
        return self.named((*batch, *axes), sigmoid(o) * np.tanh(cell)), self.named((*batch, *axes), cell)

    def f_gru(self, axes, options, *values):
        batch, gates = self.affine(axes, options, values, ".gates", (2,))
        z, r = ELEMENT["sigmoid"](np.moveaxis(gates, len(batch), 0))
        old = self.ordered(values[-1], (*batch, *axes))
        _, new = self.affine(axes, options, [*values[:-1], self.named((*batch, *axes), r * old)], ".candidate")
        return self.named((*batch, *axes), old + z * (np.tanh(new) - old))


# Traces


class Trace:
    """The arrays of a trace, and what was found of each."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        described = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        self.model, self.task, self.dims, self.arrays = described["model"], described["task"], {}, {}
        for name, array in described["arrays"].items():
            self.arrays[name] = np.array(array["data"], array["dtype"]).reshape(array["shape"]).astype(np.float64)
            self.dims[name] = array["dims"]
        self.worst, self.taken, self.seen, self.notes = {}, set(), set(), set()
        # Partial arrays are NaN where the trace has no numbers; given ones are taken as recorded.
        self.visited, self.partial, self.given = {}, set(), set()
        # The rows of the memory that a trace has, where these are not all.
        self.rows = self.all_rows = None
        self.sampling, self.symbols = self.task.get("sampling", "mean"), self.task.get("answer") == "symbols"
        self.source = int(self.arrays["mask"].argmax())
        self.query = next((phase[1:] for phase in described["axes"]["t"].get("phases", []) if phase[0] == "query"), [0, 0])

    def places(self, name):
        return np.arange(self.arrays[name].size).reshape(self.arrays[name].shape)

    def at(self, name, places):
        """The recorded numbers at these places, which are noted as seen."""
        self.seen.add(name)
        self.visited.setdefault(name, np.zeros(self.arrays[name].size, bool))[places] = True
        return self.arrays[name].ravel()[places]

    def compare_rest(self):
        """An array is 0 in the steps in which nothing makes it."""
        for name, visited in [(name, visited) for name, visited in self.visited.items() if not visited.all()]:
            rest = self.arrays[name].ravel()[~visited]
            # The logit of a position behind the document is minus infinity.
            self.compare(name, np.zeros_like(rest), np.where(np.isneginf(rest) & (name == "logit"), 0, rest))

    def compare(self, name, found, recorded, size=0.0):
        """Notes a difference; of what has no bounds relative to its size, or that of its terms."""
        name = re.sub(r"(?<=[a-z])\d+(?=\.)", "", name)
        if np.shape(found) != np.shape(recorded):
            self.notes.add(f"{name} has the shape {np.shape(recorded)} in each step, its equation gives {np.shape(found)}")
            self.worst[name] = math.inf
            return
        difference = np.abs(found - recorded) / np.maximum(1, np.maximum(np.abs(recorded), size))
        difference = np.where((found == recorded) | np.isnan(recorded) & (name in self.partial), 0, difference)
        worst = float(np.max(difference, initial=0))
        self.worst[name] = worst if math.isnan(worst) else max(self.worst.get(name, 0.0), worst)

    def answer(self):
        """Output and loss, from the logits."""
        logit, target, mask = (self.arrays[name] for name in ("logit", "target", "mask"))
        if self.symbols:
            logs = logit - np.logaddexp.reduce(logit, 1, keepdims=True)
            self.compare("output", np.exp(logs), self.arrays["output"])
            nats = -np.where(target > 0, target * logs, 0).sum(1)
        else:
            self.compare("output", 1 / (1 + np.exp(-logit.clip(-80, 80))), self.arrays["output"])
            nats = np.logaddexp(0, np.where(target > 0.5, -logit, logit)).sum(1)
        self.compare("loss", mask * nats / np.log(2), self.arrays["loss"])
        self.seen |= {"input", "target", "mask", "output", "loss"}


def load_weights(path):
    """The tensors of a safetensors file."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, own in json.loads(data[8:begin]).items():
        if name != "__metadata__":
            low, high = own["data_offsets"]
            tensors[name] = np.frombuffer(data[begin + low:begin + high], {"F32": "<f4", "F64": "<f8"}[own["dtype"]]).reshape(own["shape"]).astype(np.float64)
    return tensors


# Machines written by hand


LEARNED = {"v": ["additive_vector"], "v_p": ["position_vector"], "v_m": ["prior_vector"], "p.weight": ["position_weight"], "m.weight": ["prior_weight"],
           "m.bias": ["prior_bias"], "e.weight": {"additive": ["additive_key", "additive_row"], "general": ["bilinear"], "location": ["location"]}}


def rename(trace, layers, has_component):
    """Gives arrays of heads that write, of their memory and of the layers of their controller the names of the file."""
    arrays, dims = trace.arrays, trace.dims

    def put(name, array, axes):
        arrays[name], dims[name] = array, axes
    new = {"initial": "weighting.initial", "initial_usage": "usage.initial", "distribution": "sharpened"}
    new |= {"content": "content.weighting"} if has_component else {}
    for head, _, end in [name.partition(".") for name in arrays]:
        if end in new and re.fullmatch(r"(read|write)\d+", head):
            put(f"{head}.{new[end]}", arrays.pop(f"{head}.{end}"), dims[f"{head}.{end}"])
    if "memory.initial" in arrays:
        # Where the trace has some steps of the memory, those in between are not compared.
        trace.partial |= {"memory"} - set(arrays)
        whole = arrays.pop("memory", np.full((len(arrays["input"]) + 1, *arrays["memory.initial"].shape), np.nan))
        for name, at in (("memory.keyframes", slice(64, None, 64)), ("memory.last", slice(-1, None))):
            frames = arrays.pop(name, whole[:0])
            whole[at][:len(frames)] = frames
        trace.compare("memory.initial", arrays["memory.initial"] if "memory" in trace.partial else whole[0], arrays["memory.initial"])
        put("memory", whole[1:], ["t", "n", "m"])
    for end in ("hidden", "cell") if layers > 1 else ():
        states = arrays.get(f"controller.{end}")
        if states is not None:
            put(f"controller.{end}", states[:, 0], ["t", "c"])
            put(f"upper.{end}", states[:, 1:], ["t", "l", "c"])


class HandWritten:
    """The included file of a machine that is written by hand: its text, keys and tensors. Arrays of the trace get the names of the file."""

    def __init__(self, trace, weights):
        self.trace, self.arrays, self.weights, self.kind = trace, trace.arrays, weights, trace.model.get("kind", "ntm")
        self.heads, memory, controller = trace.model["heads"], trace.model["memory"], trace.model["controller"]
        self.text = included(f"{self.kind}.machine")
        self.rows, self.columns, self.layers = memory["rows"], memory["columns"], controller["layers"]
        self.tensors, self.constants, self.counts = {}, {}, {"read": self.heads.get("read", 0)}
        self.sizes = {"units": controller["size"], "upper": self.layers - 1, "rows": self.rows, "columns": self.columns}
        is_constant = isinstance(memory["initial"], dict) and not memory.get("seed")
        self.switches = {"memory": "constant" if is_constant else "learned", "controller": controller["kind"]}
        if is_constant:
            self.constants["filled"] = memory["initial"]["constant"]
        rename(trace, self.layers, self.kind == "ntm")
        self.share()
        getattr(self, self.kind)(controller)
        for name in [name for name in self.arrays if re.search(r"\.(additive|position|prior)_|\.(bilinear|location)$", name)]:
            array = self.arrays.pop(name)
            if name in weights:
                trace.compare(name, weights[name].reshape(array.shape), array)

    def keys(self):
        return {"sizes": self.sizes, "heads": self.counts, "switches": self.switches, "constants": self.constants}

    def put(self, name, array, dims):
        self.arrays[name], self.trace.dims[name] = array, dims

    def share(self):
        """Tensors that all kinds have: controller, output, and values before the first step."""
        weights, tensors = self.weights, self.tensors
        for end in ("weight", "bias") if weights else ():
            layers = [weights[f"controller{layer}.{end}"].T for layer in range(self.layers)]
            tensors.update({f"h.{end}": layers[0], f"h_u.{end}": np.concatenate(layers[1:] or [np.zeros(0)]), f"z.{end}": weights[f"output.{end}"].T})
        for name, end in (("h", "hidden"), ("c", "cell")):
            if f"initial.{end}" in weights:
                tensors[f"{name}.start"], tensors[f"{name}_u.start"] = np.split(weights[f"initial.{end}"], [1])
        tensors.update({to: weights[name] for to, name in (("read.r.start", "initial.read"), ("M.start", "initial.memory")) if name in weights})

    def split(self, name, to, parts):
        """Tensors of the quantities that a head emits, from the columns of its matrix: (quantity, width), 0 for one that it does not emit."""
        at = 0
        for own, width in parts if f"{name}.weight" in self.weights else ():
            for end in ("weight", "bias"):
                self.tensors.update({f"{to}{own}.{end}": self.weights[f"{name}.{end}"].T[at:at + width]} if width else {})
            at += width

    def ntm(self, controller):
        heads, attention, reads = self.heads, self.heads["attention"], self.heads["read"]
        words = {"emitted": "on", "one": "off", "none": "off", "one-hot": "first_row", "identity": "linear"}

        def chosen(value, table=words):
            return [chosen(one, table) for one in value] if isinstance(value, list) else table.get(value, value.replace("-", "_"))

        def of(switch, head):
            return switch[head] if isinstance(switch, list) else switch
        self.counts["write"], erase, weighting = heads["write"], attention["erase"], attention["weighting"]
        is_drawn = [one == "hard" for one in weighting] if isinstance(weighting, list) else weighting == "hard"
        head = {"keys": heads["key_activation"], "strength": attention["strength"], "gate": attention["gate"], "sharpening": attention["sharpening"],
                "shift": heads["shift"]["form"], "weightings": heads["initial_weighting"], "content.score": attention["score"],
                "content.form": attention.get("prior", "text")}
        self.switches |= {f"head.{name}": chosen(value) for name, value in head.items()}
        self.switches |= {"head.content.weighting": chosen(weighting, {"hard": "soft"}), "order": chosen(heads["order"]),
                          "head.drawn": [("no", "yes")[one] for one in is_drawn] if isinstance(is_drawn, list) else ("no", "yes")[is_drawn],
                          "adds": chosen(heads["add_activation"]), "erase": erase[reads:] if isinstance(erase, list) else erase}
        offsets = 2 * heads["shift"]["range"] + 1
        units = {"units": "units", "centre": "position_units", "prior": "prior_units"}
        self.sizes |= {"head.offsets": offsets, "head.content.places": self.rows} | {f"head.content.{to}": attention[own] for to, own in units.items() if own in attention}
        constants = {"D": "window", "shape": "weibull_shape", "rate": "gamma_rate", "sigma": "lognormal_sigma", "prior_sigma": "prior_sigma"}
        self.constants |= {f"head.content.{to}": attention[own] for to, own in constants.items() if own in attention}
        self.constants["head.content.epsilon"] = heads["similarity_epsilon"]
        source = {**self.arrays, **self.weights}
        for number, name in enumerate([f"read{i}" for i in range(reads)] + [f"write{i}" for i in range(heads["write"])]):
            on = {word: int(of(self.switches[f"head.{word}"], number) == "on") for word in ("strength", "gate", "sharpening")}
            shift, writes = of(self.switches["head.shift"], number), name.startswith("write")
            self.split(name, name + ".", [("head.k", self.columns), ("head.beta", on["strength"]), ("head.g", on["gate"]), ("head.s", offsets * (shift == "softmax")),
                                          ("head.d", int(shift == "scalar")), ("head.gamma", on["sharpening"]),
                                          ("e", self.columns * (writes and of(erase, number) == "on")), ("a", self.columns * writes)])
            for to, parts in LEARNED.items():
                parts = parts.get(of(self.switches["head.content.score"], number), []) if isinstance(parts, dict) else parts
                if parts and f"{name}.{parts[0]}" in source:
                    self.tensors[f"{name}.head.content.{to}"] = np.concatenate([source[f"{name}.{part}"] for part in parts]).T
            if "initial.weighting" in self.weights:
                self.tensors[f"{name}.head.w.start"] = self.weights["initial.weighting"][number]

    def dnc(self, controller):
        heads, width = self.heads, self.columns
        on = {word: int(heads[word] == "on") for word in ("links", "allocation", "free_gates")}
        self.switches |= {word: heads[word] for word in on}
        self.constants["epsilon"] = heads["similarity_epsilon"]
        self.split("write0", "", [("k", width), ("beta", 1), ("e", width), ("v", width), ("g_a", on["allocation"]), ("g_w", 1)])
        for i in range(heads["read"]):
            self.split(f"read{i}", f"read{i}.", [("k_r", width), ("beta_r", 1), ("f", on["allocation"] * on["free_gates"]), ("pi", 3 * on["links"])])

    def sam(self, controller):
        trace, arrays, width = self.trace, self.arrays, self.columns
        trace.rows, trace.all_rows = arrays.pop("recorded_rows"), self.rows
        rows, age, steps = trace.rows, arrays["write0.age"], len(arrays["input"])
        arrays.pop("initial_rows", None)
        self.sizes["rows"], self.counts = len(rows), {"head": self.heads["count"]}
        self.constants |= {"K": self.heads["rows"], "delta": self.heads["threshold"], "epsilon": self.heads["similarity_epsilon"]}
        for i in range(self.heads["count"]):
            self.split(f"read{i}", f"head{i}.", [("q", width), ("beta", 1)])
            self.split(f"write{i}", f"head{i}.", [("a", width), ("alpha", 1), ("gamma", 1)])
            read, write = ({name.partition(".")[2]: arrays.pop(name) for name in list(arrays) if name.startswith(f"{kind}{i}.")} for kind in ("read", "write"))
            found = np.searchsorted(rows, read["rows"])
            trace.compare("read0.cosines", np.take_along_axis(read["similarity"], found, 1), read.pop("cosines"))
            trace.compare("read0.weights", np.take_along_axis(read["weighting"], found, 1), read.pop("weights"))
            trace.compare("write0.age", age, write.pop("age"))
            trace.compare("write0.initial", 0 * rows, write.pop("weighting.initial"))
            own = {**read, **write, "weighting": read["weighting"], "write_weighting": write["weighting"], "row": 1.0 * (rows == write["row"][:, None]),
                   "rows": 1.0 * (rows == read["rows"][:, :, None]).any(1)}
            for end, array in own.items():
                self.put(f"head{i}.{end}", array, ["n"] if end == "weighting.initial" else ["t", "n"][:array.ndim])
            if trace.model["memory"]["index"] != "exact":
                trace.given.add(f"head{i}.rows")
                trace.notes.add("index hashed: sam.machine searches all rows; the rows that are read are taken as recorded")
        # A row was accessed last `age` steps before the next step.
        trace.partial.add("accessed")
        self.put("accessed", np.concatenate([np.arange(1, steps)[:, None] - age[1:], np.full((1, len(rows)), np.nan)]), ["t", "n"])
        self.put("accessed.initial", -age[0], ["n"])


def compare_familiar(trace):
    """What the window shows of heads that it knows: the rows that they see, and their weights a second time."""
    arrays = trace.arrays
    if "memory" in arrays and "memory" not in trace.seen:
        name = next(name for name in ("embedded", "rows", "encoder.annotations", "annotations", "controller.hidden") if name in arrays)
        memory, rows = arrays["memory"], arrays[name][:arrays["memory"].shape[1]]
        for t in range(len(memory) - 1):
            seen = (np.arange(len(rows)) <= t) | memory[t + 1].any(1)
            trace.compare("memory", np.where(seen[:, None], rows, 0), memory[t + 1])
        trace.compare("memory.initial", np.zeros_like(rows), memory[0])
        trace.compare("memory.initial", memory[0], arrays["memory.initial"])
        trace.seen |= {"memory", "memory.initial"}
    for name in [name for name in arrays if name not in trace.seen and re.match(r"read\d+\.(content|initial)$", name)]:
        head = name.split(".")[0]
        drawn = arrays.get(f"{head}.distribution", arrays.get(f"{head}.weighting"))
        trace.compare(name, drawn if name.endswith("content") else 0 * arrays[name], arrays[name])
        trace.seen.add(name)


def recompute(path, weights):
    trace = Trace(path)
    if trace.model.get("kind") == "equations":
        text = trace.model.get("text") or included(trace.model["file"])
        # The memory of heads that write has the one before the first step, too.
        if re.search(r'^ *M\b.*"memory"', text, re.M) and trace.dims.get("memory", ["t+1"])[0] == "t+1":
            states = trace.arrays["controller.hidden"]
            rename(trace, states.shape[1] if states.ndim > 2 else 1, "use content " in text)
        run = Run(Page(text, trace.model), trace, weights)
    else:
        own = HandWritten(trace, weights)
        run = Run(Page(own.text, own.keys()), trace, own.tensors)
    run.go()
    if ("p", None) in run.full and "logit" not in trace.seen:
        trace.compare("logit", np.log(np.maximum(run.full["p", None].data, np.finfo(np.float32).tiny)), trace.arrays["logit"][-1])
        trace.seen.add("logit")
    if trace.model.get("kind") == "equations":
        compare_familiar(trace)
    trace.compare_rest()
    trace.answer()
    return trace


def main(arguments):
    tensors = {}
    if arguments[:1] == ["--weights"] and len(arguments) > 1:
        tensors, arguments = load_weights(arguments[1]), arguments[2:]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__.strip())
    failed = False
    np.seterr(all="ignore")
    for path in arguments:
        trace = recompute(path, tensors)
        failed |= any(not worst <= TOLERANCE for worst in trace.worst.values())
        print(path, " ".join(f"{name} {worst:.1e}" for name, worst in trace.worst.items()))
        taken = sorted({re.sub(r"(?<=[a-z])\d+(?=\.)", "", name) for name in (trace.taken | set(trace.arrays)) - (trace.seen - trace.taken)})
        print("  as recorded:", ", ".join(taken) or "nothing")
        for note in sorted(trace.notes):
            print("  note:", note)
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
