"""A whole program: which functions there are, who may call whom, and the files."""

import random

from . import entries
from .functions import FLOAT_STRUCTS, STRUCTS, Function, Maker
from .statements import CAP

WEIGHTS = {
    "scalar": 8,
    "vector": 14,
    "strict": 3,
    "floats": 4,
    "record": 4,
    "outs": 2,
    "struct": 4,
    "applier": 1,
    "maker": 1,
    "picker": 1,
}


class Program:
    def __init__(self, seed, count=30):
        self.seed, self.rng = seed, random.Random(f"adjoin {seed}")
        self.floats = self.rng.random() < 0.6
        self.inner_indices = self.rng.random() < 0.2  # arrays within records are indexed by variables
        self.functions = []
        self.order = {}
        weights = dict(WEIGHTS)
        if not self.floats:
            del weights["floats"]
        start = ["scalar", "scalar", "struct", "applier", "maker", "picker", "strict", "outs", "record"]
        for k in range(count):
            shape = start[k] if k < len(start) else self.rng.choices(list(weights), list(weights.values()))[0]
            self.add(shape, k)
        for shape in ("vector", "record"):
            if not any(f.shape == shape for f in self.functions):
                self.add(shape, count)
        number = 0
        for f in self.functions:
            for node in f.nodes:
                number = node.count(number)
        self.entries = entries.entries_of(self)

    def add(self, shape, k):
        r = self.rng
        owner = r.choice("ab")
        linkage = r.choices(("extern", "static", "header"), (7, 2, 1))[0]
        if shape in ("scalar", "struct", "applier"):
            linkage = r.choices(("extern", "static", "header"), (4, 3, 2))[0]
        f = Function(self, f"{shape}{k}", shape, owner, linkage)
        f.attribute = r.choice(("", "", "", "__attribute__((noinline)) "))
        if linkage == "header" and r.random() < 0.3:
            f.attribute = "__attribute__((always_inline)) "
        Maker(self, f).make()
        self.functions.append(f)

    def pick_callee(self, body, shape, arity=None):
        """A function made before that this body may call, or null."""
        caller, repeats = body.function, body.scope.repeats
        options = []
        for f in self.functions:
            if shape is None and f.shape not in ("scalar", "vector", "strict", "floats", "record", "outs"):
                continue
            if shape is not None and f.shape != shape:
                continue
            if arity and f.arity != arity:
                continue
            if f.linkage == "static" and (f.object != caller.object or caller.linkage == "header"):
                continue
            if f.uses_float and not caller.program.floats:
                continue
            if f.cost * repeats + caller.cost > 6000:
                continue
            options.append(f)
        if not options:
            return None
        f = self.rng.choice(options)
        if self.rng.random() < 0.5:  # chains of calls rather than one hub
            f = max(f, self.rng.choice(options), key=self.functions.index)
        return f

    # Reach and text.

    def reach(self, names):
        """The functions that those of the given names need, in order."""
        if names is None:
            return self.functions
        seen, todo = set(), [f for f in self.functions if f.name in names]
        while todo:
            f = todo.pop()
            if f not in seen:
                seen.add(f)
                todo += f.callees
        return [f for f in self.functions if f in seen]

    def uses_float(self, f):
        return any(g.uses_float for g in self.reach([f.name]))

    def header(self, functions, dropped):
        lines = [f"/* Program {self.seed} of the generator: see test/fuzz/README.md. */", "#ifndef PROG_H", "#define PROG_H"]
        lines += ['#include "fuzz.h"', "#ifdef REFERENCE"]
        names = [f.name for f in functions if f.linkage == "extern"]
        names += [f"{stem}_{o}" for o in "ab" for stem in ("shared", "level", "reset", "state", "hold")]
        lines += [f"#define {name} ref_{name}" for name in names]
        lines += ["#endif"]
        for kind in STRUCTS + FLOAT_STRUCTS:
            lines.append(f"struct {kind.name} {{ {kind.fields} }};")
        lines.append("struct link { double v; struct link *next; int k; };")
        lines.append("union cell { double d; bits b; int k; };")
        lines.append("struct tagged { int real; union { double d; int k; } u; };")
        fields = ["int tag;", "double d;", "float f;", "double *p;", "double v[3];", "int k;", "struct rec *next;", "char c;"]
        random.Random(self.seed).shuffle(fields)
        lines.append(f"struct rec {{ {' '.join(fields)} }};")
        for o in "ab":
            lines.append(f"extern double shared_{o}[{CAP}], level_{o};")
            lines.append(f"void reset_{o}(void);\ndouble state_{o}(void);\ndouble *hold_{o}(void);")
        lines += [f.prototype() for f in functions if f.linkage == "extern"]
        lines += [f.text(dropped) for f in functions if f.linkage == "header"]
        lines.append("#endif")
        return "\n".join(lines) + "\n"

    def object_file(self, o, functions, dropped):
        held = f"""\
double shared_{o}[{CAP}], level_{o} = 0.5;
static double *held_{o};
double *hold_{o}(void) {{
  if (!held_{o}) held_{o} = malloc({CAP} * sizeof *held_{o});
  if (!held_{o}) abort();
  return held_{o};
}}
void reset_{o}(void) {{
  for (int i = 0; i < {CAP}; ++i) shared_{o}[i] = 0.125 * i - 0.5;
  level_{o} = 0.5;
}}
double state_{o}(void) {{
  double sum = level_{o};
  for (int i = 0; i < {CAP}; ++i) sum += (0.3 + 0.1 * i) * shared_{o}[i];
  return sum;
}}
"""
        lines = ['#include "prog.h"', held]
        lines += [f.text(dropped) for f in functions if f.linkage != "header" and f.object == o]
        return "\n".join(lines)

    def files(self, only=None, dropped=frozenset()):
        functions = self.reach(only)
        chosen = [e for e in self.entries if e.function in functions and (only is None or e.function.name in only)]
        return {
            "prog.h": self.header(functions, dropped),
            "a.c": self.object_file("a", functions, dropped),
            "b.c": self.object_file("b", functions, dropped),
            "main.c": entries.main_file(chosen),
            "runs.h": entries.runs_file(chosen),
            "reference.c": entries.reference_file(chosen),
        }
