"""The shapes of functions: what they take, and how their bodies start and end."""

from .expressions import Expr
from .idioms import Writer
from .statements import CAP
from .tree import Array, Node


class Param:
    """kind: cx, iy (arrays of double, read only or read and written), fx, fy (of float), n (int), a, fa (scalars),
    o (a double that is written), rec (a record)."""

    TYPES = {"n": "int", "a": "double", "fa": "float", "o": "double *", "rec": "struct rec *"}
    TYPES.update(cx="const double *", iy="double *", fx="const float *", fy="float *")

    def __init__(self, kind, name):
        self.kind, self.name = kind, name

    def declaration(self, restrict=False):
        text = Param.TYPES[self.kind]
        if restrict and self.kind in ("cx", "iy", "fx", "fy"):
            return f"{text}restrict {self.name}"
        return f"{text}{self.name}" if text.endswith("*") else f"{text} {self.name}"


class StructKind:
    def __init__(self, name, fields, reals, ints=()):
        self.name, self.fields, self.reals, self.ints = name, fields, reals, ints


STRUCTS = [
    StructKind("pair", "double u, v;", ["u", "v"]),
    StructKind("trio", "double a, b, c;", ["a", "b", "c"]),
    StructKind("counted", "double d; int k;", ["d"], ["k"]),
    StructKind("vector", "int k; double v[3]; double w;", ["v[0]", "v[2]", "w"], ["k"]),
    StructKind("nested", "struct { double a; int k; } in; double b;", ["in.a", "b"], ["in.k"]),
]
FLOAT_STRUCTS = [
    StructKind("fpair", "float x, y;", ["x", "y"]),
    StructKind("mixed", "float f; double d; int k;", ["f", "d"], ["k"]),
]

SHARED = ("shared_a", "shared_b", "held_a", "held_b")


class Function:
    def __init__(self, program, name, shape, owner, linkage):
        self.program, self.name, self.shape, self.object, self.linkage = program, name, shape, owner, linkage
        self.result, self.params, self.nodes, self.locals, self.statics = "double", [], [], [], []
        self.callees, self.touches, self.cost = [], set(), 4
        self.aliases, self.recursive, self.strict, self.struct = True, False, False, None
        self.floats = program.floats and program.rng.random() < 0.5
        self.uses_float = False
        self.shared = linkage != "header" and program.rng.random() < 0.4
        self.attribute, self.arity, self.signature = "", 0, None

    def calls(self, callee):
        if callee not in self.callees:
            self.callees.append(callee)
            self.touches |= callee.touches

    def touch(self, name):
        self.touches.add(name)

    def is_entry(self):
        return self.linkage != "static" and self.shape in ("scalar", "vector", "strict", "floats", "record", "outs")

    def head(self):
        restrict = not self.aliases
        if self.signature:
            return self.signature
        params = ", ".join(p.declaration(restrict) for p in self.params)
        return f"{self.result} {self.name}({params})"

    def prefix(self):
        words = {"static": "static ", "header": "static inline "}.get(self.linkage, "")
        return words + self.attribute

    def prototype(self):
        return f"{self.head()};"

    def text(self, dropped):
        lines = list(self.statics)
        lines.append(f"{self.prefix()}{self.head()} {{")
        lines += ["  " + text for text in self.locals]
        for node in self.nodes:
            lines += node.lines(dropped)
        lines.append("}")
        return "\n".join(lines) + "\n"


class Maker:
    """Fills in a function of a shape."""

    def __init__(self, program, function):
        self.p, self.f, self.rng = program, function, program.rng
        self.w = Writer(program, function)
        self.f.uses_float = self.f.floats
        s = self.w.scope
        if function.shared:
            o = function.object
            if self.rng.random() < 0.6:
                function.touch(f"shared_{o}")
                s.arrays.append(Array(f"shared_{o}", CAP))
            if self.rng.random() < 0.4:
                s.reals.append(Expr(f"level_{o}"))
                s.targets.append(f"level_{o}")

    def finish(self, nodes):
        f, w = self.f, self.w
        f.nodes, f.locals, f.statics = nodes, w.locals, w.statics

    def param(self, kind, name):
        f, s = self.f, self.w.scope
        f.params.append(Param(kind, name))
        if kind in ("cx", "iy", "fx", "fy"):
            objects = ("params",) + SHARED if f.aliases else (name,)
            s.arrays.append(Array(name, CAP, kind in ("iy", "fy"), kind in ("fx", "fy"), objects))
        elif kind == "n":
            s.ints.append((name, CAP))
        elif kind == "a":
            s.reals.append(Expr(name))
            s.targets.append(name)
        elif kind == "fa":
            s.floats.append(Expr(name))
            s.float_targets.append(name)
        elif kind == "o":
            s.targets.append(f"(*{name})")
            s.reals.append(Expr(f"(*{name})"))

    def some_locals(self, count):
        w, r = self.w, self.rng
        if ("n", CAP) in w.scope.ints and r.random() < 0.6:
            m, top = w.name("m"), r.randrange(2, 9)
            w.locals.append(f"int {m} = (n * {r.randrange(1, 8)} + {r.randrange(0, 9)}) % {top + 1};")
            w.scope.ints.append((m, top))
        for _ in range(count):
            self.w.local(flt=self.f.floats and self.rng.random() < 0.3)

    def result(self):
        return Node(f"return {self.w.e(2, flt=self.f.result == 'float')};")

    def make(self):
        getattr(self, "make_" + self.f.shape)()

    # Shapes.

    def make_scalar(self):
        f, w, r = self.f, self.w, self.rng
        f.arity = r.choice((1, 2, 2, 2, 3))
        for k in range(f.arity):
            self.param("a", "abc"[k])
        self.some_locals(r.choice((0, 1, 2)))
        nodes = w.block(r.choice((0, 0, 1, 2, 3, 5))) if r.random() < 0.8 else []
        self.finish(nodes + [self.result()])

    def make_vector(self):
        f, w, r = self.f, self.w, self.rng
        f.aliases = r.random() < 0.75
        kinds = r.choice((("cx", "iy"), ("cx", "iy"), ("iy", "iy"), ("cx", "cx", "iy"), ("cx",)))
        for k, kind in enumerate(kinds):
            self.param(kind, "xyz"[k])
        self.param("n", "n")
        self.param("a", "a")
        f.result = r.choice(("double", "double", "double", "void")) if len(kinds) > 1 else "double"
        self.some_locals(r.choice((1, 2, 3)))
        if r.random() < 0.15 and f.linkage != "header":
            f.recursive = True
            self.finish(self.recursive_body(kinds))
            return
        nodes = w.block(r.choice((2, 3, 4, 5, 7)))
        self.finish(nodes + ([self.result()] if f.result != "void" else []))

    def recursive_body(self, kinds):
        """Calls itself, or its partner in the other object, with the same arrays and a smaller n."""
        f, w, r = self.f, self.w, self.rng
        target = f.partner.name if getattr(f, "partner", None) else f.name
        nodes = [Node(f"if (n <= 0) return{'' if f.result == 'void' else ' ' + w.e(1)};", keep=True)]
        w.scope.repeats, w.scope.in_nest = 16, True
        nodes += w.block(r.choice((1, 2)))
        arrays = [p.name for p in f.params if p.kind in ("cx", "iy")]
        if kinds == ("iy", "iy") and f.aliases and r.random() < 0.5:
            arrays.reverse()
        double = r.random() < 0.25
        less = "n - 1" if not double else "(n > 5 ? 4 : n - 1)"
        call = f"{target}({', '.join(arrays)}, {less}, {w.e(1)})"
        other = f"{target}({', '.join(arrays)}, (n > 5 ? 3 : n > 2 ? n - 2 : 0), {w.e(1)})"
        if f.result == "void":
            nodes.append(Node(f"{call};"))
        else:
            name = w.local("0.0")
            nodes.append(Node(f"{name} = {call};"))
            if double:
                nodes.append(Node(f"{name} = 0.5 * {name} + 0.4 * {other};"))
        nodes += w.block(r.choice((0, 1)))
        return nodes + ([self.result()] if f.result != "void" else [])

    def make_strict(self):
        """A vector function that touches nothing from n on: parts of arrays can be passed to it."""
        f, w, r = self.f, self.w, self.rng
        f.strict, f.aliases = True, r.random() < 0.8
        f.params = [Param("cx", "x"), Param("iy", "y"), Param("n", "n"), Param("a", "a")]
        s = w.scope
        s.reals.append(Expr("a"))
        s.targets.append("a")
        self.some_locals(1)
        kind = r.choice(("loop", "shift", "halves"))
        if kind == "loop":
            i = w.name("i")
            leaves = [Expr(f"x[{i}]"), Expr(f"y[{i}]"), Expr(f"x[n - 1 - {i}]")]
            write = lambda: w.assign() + w.store() + [Node(f"y[{i}] = {w.e(2)};")] + w.block(r.choice((0, 1)))
            kids = w.within(write, loop=CAP, reals=s.reals + leaves, ints=s.ints + [(i, CAP - 1)])
            self.finish([Node(f"for (int {i} = 0; {i} < n; ++{i}) {{", kids), self.result()])
            return
        f.recursive = s.in_nest = True
        s.repeats = 24
        s.reals += [Expr("x[0]"), Expr("y[n - 1]"), Expr("x[n / 2]")]
        t = w.local("0.0")
        first = "n == 1 ? x[0] : " if kind == "halves" else ""
        base = Node(f"if (n <= {0 if kind == 'shift' else 1}) return {first}a;", keep=True)
        nodes = [base, Node(f"y[{r.choice(('0', 'n - 1'))}] = {w.e(2)};")]
        if kind == "shift":
            nodes.append(Node(f"{t} = {f.name}(x + 1, y + 1, n - 1, {w.e(1)});"))
        else:
            nodes.append(Node(f"{t} = 0.5 * {f.name}(x, y, n / 2, {w.e(1)});"))
            nodes.append(Node(f"{t} += 0.5 * {f.name}(x + n / 2, y + n / 2, n - n / 2, {w.e(1)});"))
        nodes.append(Node(f"y[n / 2] = {w.e(1)};"))
        self.finish(nodes + [self.result()])

    def make_floats(self):
        f, w, r = self.f, self.w, self.rng
        f.floats = f.uses_float = w.use_floats = True
        kind = r.choice(("scalar", "array", "mixed"))
        if kind == "scalar":
            for k in range(r.choice((1, 2))):
                self.param("fa", "uv"[k])
            self.param("a", "b")
            f.result = r.choice(("float", "float", "double"))
        else:
            f.aliases = r.random() < 0.7
            self.param("fx", "x")
            self.param("fy", "y")
            if kind == "mixed":
                self.param("iy", "z")
            self.param("n", "n")
            self.param("fa", "u")
            f.result = r.choice(("float", "double"))
        self.some_locals(2)
        self.finish(w.block(r.choice((1, 2, 4))) + [self.result()])

    def make_outs(self):
        f, w, r = self.f, self.w, self.rng
        self.param("a", "a")
        self.param("a", "b")
        self.param("o", "s")
        self.param("o", "c")
        f.result = r.choice(("void", "double"))
        self.some_locals(1)
        nodes = w.block(r.choice((1, 2, 3)))
        nodes += [Node(f"*s = {w.e(2)};"), Node(f"*c = {w.e(2)};")]
        self.finish(nodes + ([self.result()] if f.result != "void" else []))

    def make_record(self):
        f, w, r = self.f, self.w, self.rng
        self.param("rec", "r")
        self.param("n", "n")
        self.param("a", "a")
        s = w.scope
        s.records.append("r")
        s.arrays.append(Array("r->p", CAP, objects=("rec",) + SHARED))
        if self.p.inner_indices:
            s.arrays.append(Array("r->v", 3))
        else:
            s.reals += [Expr(f"r->v[{k}]") for k in (0, 1, 2)]
        s.reals.append(Expr("r->d"))
        s.targets += ["r->d", "r->v[1]"]
        s.ints += [("r->tag", 3), ("r->k", 7)]
        if f.floats:
            s.floats.append(Expr("r->f"))
            s.float_targets.append("r->f")
        f.result = r.choice(("double", "double", "void"))
        self.some_locals(1)
        nodes = w.block(r.choice((1, 2, 3, 5)))
        if r.random() < 0.5:
            kids = w.reads(reals=[Expr("q->d"), Expr("q->v[0]"), Expr("q->p[1]")], targets=["q->d", "q->v[2]"], loop=3)
            nodes.append(Node("for (struct rec *q = r; q; q = q->next) {", kids))
        if r.random() < 0.3:
            kids = w.within(lambda: w.block(2), returns=False)
            fill = w.filled("own", CAP)
            nodes.append(
                Node(f"{{\ndouble own[{CAP}], *kept = r->p;\n{fill}\nr->p = own;", kids, "  r->p = kept;\n}")
            )
        if r.random() < 0.3:
            nodes.append(Node("r->k = (r->k + n) % 8;"))
        self.finish(nodes + ([self.result()] if f.result != "void" else []))

    # Shapes that are only called.

    def make_struct(self):
        f, w, r = self.f, self.w, self.rng
        kind = f.struct = r.choice(STRUCTS + (FLOAT_STRUCTS if f.floats else []))
        f.result = r.choice((f"struct {kind.name}", f"struct {kind.name}", "double"))
        f.signature = f"{f.result} {f.name}(struct {kind.name} u, double a)"
        s = w.scope
        s.reals.append(Expr("a"))
        s.targets.append("a")
        for field in kind.reals:
            s.reals.append(Expr(f"u.{field}"))
            if kind not in FLOAT_STRUCTS:
                s.targets.append(f"u.{field}")
        s.ints += [(f"u.{field}", 4) for field in kind.ints]
        s.returns = False
        self.some_locals(1)
        nodes = w.block(r.choice((1, 2)))
        if f.result == "double":
            return self.finish(nodes + [self.result()])
        sets = [Node(f"u.{field} = {w.e(1)};") for field in kind.reals]
        sets += [Node(f"u.{field} = {w.integer(5)};") for field in kind.ints]
        self.finish(nodes + sets + [Node("return u;")])

    def make_applier(self):
        f, w, r = self.f, self.w, self.rng
        f.signature = f"double {f.name}(double (*g)(double, double), double a, double b)"
        s = w.scope
        s.reals += [Expr("a"), Expr("b")]
        s.targets += ["a", "b"]
        t = w.local("0.0")
        nodes = w.block(1)
        nodes.append(Node(f"for (int i = 0; i < {r.randrange(1, 5)}; ++i) {t} = g({w.e(1)}, {w.e(1)});"))
        self.finish(nodes + [self.result()])

    def make_maker(self):
        f, w, r = self.f, self.w, self.rng
        f.signature = f"double *{f.name}(const double *x, double a)"
        s = w.scope
        s.arrays.append(Array("x", CAP, writable=False, objects=("params",) + SHARED))
        s.reals.append(Expr("a"))
        s.targets.append("a")
        s.returns = False
        fill = w.filled("h", CAP)
        s.arrays.append(Array("h", CAP))
        nodes = [Node(f"double *h = malloc({CAP} * sizeof *h);\nif (!h) abort();\n{fill}")]
        nodes += w.block(r.choice((0, 1, 2)))
        self.finish(nodes + [Node("return h;")])

    def make_picker(self):
        f, r = self.f, self.rng
        f.signature = f"double *{f.name}(double *x, double *y, int k)"
        line = r.choice(
            (
                "return k % 2 ? x : y;",
                "double *both[3] = {x, y, x};\n  return both[k % 3];",
                "switch (k) { case 0: case 3: return y; case 1: return x; default: return k > 4 ? y : x; }",
            )
        )
        self.finish([Node(line)])
