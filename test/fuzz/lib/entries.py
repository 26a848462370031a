"""The calls that a program makes of its functions: the primal and its derivatives, over flat vectors.

An entry is one function in one variant of arguments: which are constant, which share memory, how many tangents at once.
All variants take a flat vector of inputs and give a flat vector of outputs; masks say which of them are differentiated."""

from .statements import CAP

SHIFT = 3  # by which overlapping arrays are apart
COUNTS = {"cx": CAP, "iy": CAP, "fx": CAP, "fy": CAP, "a": 1, "fa": 1, "o": 1, "rec": 10 + CAP, "n": 0}


class Entry:
    def __init__(self, function, variant, consts=(), same=None, shift=0, width=1, noneed=(), shallow=False):
        self.function, self.variant = function, variant
        self.consts, self.same, self.shift, self.width, self.noneed = set(consts), same, shift, width, set(noneed)
        self.shallow = shallow  # the shadow of a record is a copy of the record: what it points to is constant
        self.name = function.name if variant == "plain" else f"{function.name}_{variant}"
        rng = function.program.rng
        self.heap = rng.random() < 0.4
        self.value = rng.random() < 0.5  # the marker gives the primal value too
        self.flt = function.program.uses_float(function)
        self.sizes = sorted({rng.choice((0, 0, 1)), rng.randrange(1, 7), rng.randrange(5, CAP + 1)})
        self.places, at = {}, 0
        for p in function.params:
            if same and p.name == same[1]:
                self.places[p.name] = self.places[same[0]]
                continue
            self.places[p.name] = at
            at += COUNTS[p.kind] + (shift if same and p.name == same[0] else 0)
        self.inputs = at

    def const(self, p):
        return p.name in self.consts or p.kind == "n"

    def pieces(self):
        """(parameter, place, length) of each piece of memory or scalar, without those that share another's."""
        for p in self.function.params:
            if p.kind == "n" or (self.same and p.name == self.same[1]):
                continue
            extra = self.shift if self.same and p.name == self.same[0] else 0
            yield p, self.places[p.name], COUNTS[p.kind] + extra


def entries_of(program):
    result = []
    rng = program.rng
    for f in program.functions:
        if not f.is_entry():
            continue
        result.append(Entry(f, "plain"))
        arrays = [p.name for p in f.params if p.kind in ("cx", "iy")]
        floats = [p.name for p in f.params if p.kind in ("fx", "fy")]
        written = [p.name for p in f.params if p.kind in ("iy", "fy", "o")]
        scalars = [p.name for p in f.params if p.kind in ("a", "fa")]
        actives = [p.name for p in f.params if p.kind != "n"]
        options = [("w2", dict(width=2)), ("w3", dict(width=3))]
        if f.aliases and not f.strict:
            for names in (arrays, floats):
                if len(names) > 1 and set(names) & set(written):
                    options += 2 * [("same", dict(same=names[:2])), ("shift", dict(same=names[:2], shift=SHIFT))]
        for name in arrays + floats + scalars:
            if len(actives) > 1:
                options.append((f"const_{name}", dict(consts=[name])))
        if len(written) > 0 and len(actives) > len(written):
            options.append(("scratch", dict(consts=written)))
            options.append(("noneed", dict(noneed=written)))
        if f.shape == "record":
            options += 2 * [("shallow", dict(shallow=True))]
        rng.shuffle(options)
        for variant, how in options[: rng.choice((0, 1, 1, 2))]:
            if not any(e.variant == variant and e.function is f for e in result):
                result.append(Entry(f, variant, **how))
    return result


# What each kind of parameter is made of: C type of an element.


def element_type(p):
    return "float" if p.kind in ("fx", "fy", "fa") else "double"


def is_memory(p):
    return p.kind in ("cx", "iy", "fx", "fy", "o")


def declare(e, prefix, fill):
    """Declarations of the memory of all parameters under names with a prefix, filled by fill(index)."""
    lines = []
    for p, at, length in e.pieces():
        t, v = element_type(p), prefix + p.name
        if is_memory(p):
            if e.heap and p.kind != "o":
                lines.append(f"{t} *{v} = malloc({length} * sizeof *{v});")
            else:
                lines.append(f"{t} {v}[{length}];")
            lines.append(f"for (int i = 0; i < {length}; ++i) {v}[i] = ({t}){fill(p, f'{at} + i')};")
        elif p.kind == "rec":
            lines.append(f"struct rec {v}0 = {{0}}, {v}1 = {{0}};\ndouble {v}p[{CAP}];")
            for k in (0, 1):
                lines.append(f"{v}{k}.d = {fill(p, at + 5 * k)};")
                lines.append(f"for (int i = 0; i < 3; ++i) {v}{k}.v[i] = {fill(p, f'{at + 5 * k + 1} + i')};")
                lines.append(f"{v}{k}.f = (float){fill(p, at + 5 * k + 4)};")
                lines.append(f"{v}{k}.p = {v}p;")
            lines.append(f"for (int i = 0; i < {CAP}; ++i) {v}p[i] = {fill(p, f'{at + 10} + i')};")
            lines.append(f"{v}0.next = &{v}1;")
    return lines


def give_back(e, prefix, take, only=None):
    """Statements that take the memory of all parameters: take(index, value); and the frees."""
    lines = []
    for p, at, length in e.pieces():
        v = prefix + p.name
        if is_memory(p):
            if only is None or only(p):
                lines.append(f"for (int i = 0; i < {length}; ++i) {take(f'{at} + i', f'{v}[i]')};")
            if e.heap and p.kind != "o":
                lines.append(f"free({v});")
        elif p.kind == "rec" and (only is None or only(p)):
            for k in (0, 1):
                lines.append(f"{take(at + 5 * k, f'{v}{k}.d')};")
                lines.append(f"for (int i = 0; i < 3; ++i) {take(f'{at + 5 * k + 1} + i', f'{v}{k}.v[i]')};")
                lines.append(f"{take(at + 5 * k + 4, f'{v}{k}.f')};")
            lines.append(f"for (int i = 0; i < {CAP}; ++i) {take(f'{at + 10} + i', f'{v}p[i]')};")
    return lines


def argument(e, p, prefix="", value="in"):
    """The argument for a parameter: memory under its name, or a scalar from a flat vector."""
    if is_memory(p):
        if e.same and p.name == e.same[1]:
            base = prefix + e.same[0]
            return f"{base} + {e.shift}" if e.shift else base
        return prefix + p.name
    if p.kind == "rec":
        return f"&{prefix}{p.name}0"
    if p.kind == "n":
        return "n"
    return f"({element_type(p)}){value}[{e.places[p.name]}]"


def ints_of_records(e, prefix, shadow=False):
    lines = []
    for p in e.function.params:
        if p.kind == "rec":
            for k in (0, 1):
                v = f"{prefix}{p.name}{k}"
                if shadow:
                    lines.append(f"{v}.tag = 77{k}; {v}.k = -5{k}; {v}.c = 'x';")
                else:
                    lines.append(f"{v}.tag = (n + {k}) % 4; {v}.k = (n + {3 * k}) % 8; {v}.c = 'a';")
    return lines


def outputs(e):
    return 1 + e.inputs


def scalar_outputs(e):
    """Scalars are no outputs."""
    return [f"out[{1 + e.places[p.name]}] = 0;" for p in e.function.params if p.kind in ("a", "fa")]


def run_text(e):
    f = e.function
    lines = declare(e, "", lambda p, i: f"in[{i}]") + ints_of_records(e, "")
    lines += ["reset_all();"]
    call = f"{f.name}({', '.join(argument(e, p) for p in f.params)})"
    lines.append(f"{call};\nout[0] = 0;" if f.result == "void" else f"out[0] = {call};")
    lines += scalar_outputs(e)
    lines += give_back(e, "", lambda i, v: f"out[1 + {i}] = {v}")
    lines.append(f"out[{outputs(e)}] = state_all();")
    return f"static void run_{e.name}(const double *in, double *out, int n) {{\n  " + "\n  ".join(lines) + "\n}\n"


def tag(e, p, shadows):
    primal = argument(e, p)
    if e.const(p):
        return f"adjoin_const, {primal}"
    word = "adjoin_dupnoneed" if p.name in e.noneed else "adjoin_dup"
    return f"{word}, {', '.join([primal] + shadows)}"


def shadow_records(e, prefix):
    """What in a shadow record is not a float: garbage in the integers; the pointers of a shallow shadow."""
    lines = ints_of_records(e, prefix, shadow=True)
    for p in e.function.params:
        if p.kind == "rec" and e.shallow:
            lines.append(f"{prefix}{p.name}0.p = {p.name}0.p;\n{prefix}{p.name}0.next = n % 2 ? NULL : {p.name}0.next;")
    return lines


def forward_text(e):
    f, w = e.function, e.width
    lines = declare(e, "", lambda p, i: f"in[{i}]") + ints_of_records(e, "")
    for k in range(w):
        lines += declare(e, f"d{k}_", lambda p, i: f"din[{k * e.inputs} + {i}]") + shadow_records(e, f"d{k}_")
    args = [f"(void *){f.name}"]
    if w > 1:
        args.append(f"adjoin_width, {w}")
    value = e.value and f.result != "void"
    if value:
        args.append("adjoin_primal_return")
    for p in f.params:
        shadows = [argument(e, p, f"d{k}_", f"(din + {k * e.inputs})") for k in range(w)]
        args.append(tag(e, p, shadows))
    lines.append("reset_all();")
    no = outputs(e)
    if f.result == "void":
        lines.append(f"__adjoin_fwddiff_void({', '.join(args)});\nout[0] = 0;")
        lines += [f"dout[{k * no}] = 0;" for k in range(w)]
    else:
        t = f.result
        name = f"{t}_{w}{'_value' if value else ''}"
        lines.append(f"struct {name} ret = __adjoin_fwddiff_{name}({', '.join(args)});")
        lines.append("out[0] = ret.value;" if value else "out[0] = NAN;")
        lines += [f"dout[{k * no}] = ret.t[{k}];" for k in range(w)]
    lines += scalar_outputs(e) + give_back(e, "", lambda i, v: f"out[1 + {i}] = {v}")
    for k in range(w):
        lines += give_back(e, f"d{k}_", lambda i, v: f"dout[{k * no + 1} + {i}] = {v}")
    lines.append(f"out[{no}] = state_all();")
    signature = f"static void fwd_{e.name}(const double *in, const double *din, double *out, double *dout, int n)"
    return f"{signature} {{\n  " + "\n  ".join(lines) + "\n}\n"


def reverse_text(e):
    f = e.function
    lines = declare(e, "", lambda p, i: f"in[{i}]") + ints_of_records(e, "")
    lines += declare(e, "s_", lambda p, i: f"seed[1 + {i}]") + shadow_records(e, "s_")
    outs = [p for p in f.params if p.kind in ("a", "fa") and not e.const(p)]
    value = e.value and f.result != "void"
    args = [f"(void *){f.name}"]
    if value:
        args.append("adjoin_primal_return")
    for p in f.params:
        if p in outs:
            args.append(f"adjoin_out, {argument(e, p)}")
        else:
            args.append(tag(e, p, [argument(e, p, "s_")]))
    lines.append("reset_all();")
    types = ([f.result] if value else []) + [element_type(p) for p in outs]
    if not types:
        lines.append(f"__adjoin_autodiff_void({', '.join(args)});")
    else:
        name = "".join(t[0] for t in types)
        lines.append(f"struct adjoints_{name} ret = __adjoin_autodiff_{name}({', '.join(args)});")
    lines.append("out[0] = ret.v0;" if value else "out[0] = NAN;")
    for k, p in enumerate(outs):
        lines.append(f"gradient[{e.places[p.name]}] = ret.v{k + (1 if value else 0)};")
    for p in f.params:
        if p.kind in ("a", "fa") and e.const(p):
            lines.append(f"gradient[{e.places[p.name]}] = 0;")
        if p.kind == "rec" and not e.shallow:
            lines.append(f"int kept = s_{p.name}0.p == s_{p.name}p && s_{p.name}0.next == &s_{p.name}1;")
    lines += scalar_outputs(e) + give_back(e, "", lambda i, v: f"out[1 + {i}] = {v}")
    lines += give_back(e, "s_", lambda i, v: f"gradient[{i}] = {v}")
    lines.append(f"out[{outputs(e)}] = state_all();")
    if any(p.kind == "rec" for p in f.params) and not e.shallow:
        lines.append("if (!kept) gradient[0] = NAN; /* shadow pointers are as at entry */")
    signature = f"static void rev_{e.name}(const double *in, const double *seed, double *out, double *gradient, int n)"
    return f"{signature} {{\n  " + "\n  ".join(lines) + "\n}\n"


def masks(e):
    """For each input and output whether it is differentiated, as strings of digits; the result comes first."""
    ins, outs = ["0"] * e.inputs, ["1"] if e.function.result != "void" else ["0"]
    outs += ["0"] * e.inputs
    for p, at, length in e.pieces():
        if e.const(p):
            continue
        for k in range(length):
            live = not (p.kind == "rec" and e.shallow and k >= 5)
            ins[at + k] = "1" if live else "0"
            if p.kind not in ("a", "fa"):
                # "2": differentiated, its value not asked for
                outs[1 + at + k] = ("2" if p.name in e.noneed else "1") if live else "0"
    return "".join(ins), "".join(outs)


def runs_file(entries):
    return "".join(run_text(e) for e in entries)


def reference_file(entries):
    lines = ["/* The same program in long double, for the differences. */", "#define REFERENCE"]
    lines += ['#include "a.c"', '#include "b.c"', '#include "runs.h"']
    lines.append("run_function *const reference_runs[] = {")
    lines += [f"  run_{e.name}," for e in entries]
    lines.append("};")
    return "\n".join(lines) + "\n"


def main_file(entries):
    lines = ['#include "prog.h"', '#include "check.h"', '#include "runs.h"', "#ifndef NO_AD", "#include <adjoin.h>"]
    for t in ("double", "float"):
        for w in (1, 2, 3):
            for value in ("", "_value"):
                name = f"{t}_{w}{value}"
                lines.append(f"struct {name} {{ {f'{t} value; ' if value else ''}{t} t[{w}]; }};")
                lines.append(f"struct {name} __adjoin_fwddiff_{name}(void *, ...);")
    names = {"d", "f"}
    for e in entries:
        outs = [element_type(p)[0] for p in e.function.params if p.kind in ("a", "fa") and not e.const(p)]
        names.add("".join(([e.function.result[0]] if e.function.result != "void" and e.value else []) + outs))
    for name in sorted(names - {""}):
        fields = " ".join(f"{'double' if c == 'd' else 'float'} v{k};" for k, c in enumerate(name))
        lines.append(f"struct adjoints_{name} {{ {fields} }};\nstruct adjoints_{name} __adjoin_autodiff_{name}(void *, ...);")
    for e in entries:
        lines.append(f"#if !defined(NO_FORWARD) && !defined(NO_FORWARD_{e.name})\n{forward_text(e)}#else\n#define fwd_{e.name} NULL\n#endif")
        if e.width == 1:
            lines.append(f"#if !defined(NO_REVERSE) && !defined(NO_REVERSE_{e.name})\n{reverse_text(e)}#else\n#define rev_{e.name} NULL\n#endif")
    lines.append("#else")
    for e in entries:
        lines += [f"#define fwd_{e.name} NULL", f"#define rev_{e.name} NULL"]
    lines.append("#endif")
    lines.append("const struct entry program_entries[] = {")
    for e in entries:
        ins, outs = masks(e)
        sizes = (e.sizes * 3)[:3]
        rev = f"rev_{e.name}" if e.width == 1 else "NULL"
        lines.append(
            f'  {{"{e.name}", {e.inputs}, {e.width}, {int(e.flt)}, {{{", ".join(map(str, sizes))}}},\n   "{ins}",\n   "{outs}",\n   run_{e.name}, fwd_{e.name}, {rev}}},'
        )
    lines.append("};")
    lines.append(f"const int program_entry_count = {len(entries)};")
    return "\n".join(lines) + "\n"
