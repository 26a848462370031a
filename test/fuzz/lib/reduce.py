"""Reduces a failing program: the function, what it reaches, and the statements without which it does not fail."""

import os
import re
import subprocess

from . import build
from .program import Program


class Reducer:
    def __init__(self, settings, seed, level, entry):
        self.settings, self.seed, self.level, self.entry = settings, seed, level, entry
        self.program = Program(seed)
        self.trials = 0

    def attempt(self, dropped):
        """What becomes of the entry: '' when nothing is wrong, else the class of failure."""
        self.trials += 1
        folder = os.path.join(self.settings.work, f"reduce{self.seed}")
        try:
            made = build.Build(self.settings, self.seed, folder, [self.function], dropped, self.program)
            made.entries = [e for e in made.entries if e.name == self.entry]
            others = [e for e in self.program.entries if e.function.name == self.function and e.name != self.entry]
            for e in others:
                for word in ("FORWARD", "REVERSE"):
                    self.define(folder, f"NO_{word}_{e.name}")
            outcome = made.run(self.level)
        except (build.CommandFailed, subprocess.TimeoutExpired):
            return "", ""
        for (_, name), text in outcome.refused.items():
            if name == self.entry:
                return "refused " + build.sentence(text), text
        if self.entry in outcome.wrong:
            text = outcome.wrong[self.entry]
            return ("crash" if text.startswith("CRASH") else "wrong"), text
        return ("trouble", outcome.trouble[0]) if outcome.trouble else ("", "")

    def define(self, folder, name):
        path = os.path.join(folder, "main.c")
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(f"#define {name}\n{text}")

    def run(self):
        names = {e.name: e.function.name for e in self.program.entries}
        if self.entry not in names:
            print(f"no entry {self.entry}; there are: {', '.join(names)}")
            return 1
        self.function = names[self.entry]
        kind, text = self.attempt(frozenset())
        if not kind:
            print("it does not fail when it is alone")
            return 1
        dropped = set()
        nodes = [n for f in self.program.reach([self.function]) for n in f.nodes]
        changed = True
        while changed:
            changed = self.shrink(nodes, dropped, kind)
        kind, text = self.attempt(frozenset(dropped))
        print(f"{kind}: {text}\n{self.trials} trials")
        numbers = ",".join(map(str, sorted(dropped)))
        print(f"generate {self.seed} FOLDER --only {self.function}" + (f" --drop {numbers}" if numbers else ""))
        print(f"in {self.settings.work}/reduce{self.seed}")
        for f in self.still_called(dropped):
            print(f"// {f.object}.c" if f.linkage != "header" else "// prog.h")
            print(f.text(dropped))
        return 0

    def still_called(self, dropped):
        """The functions that the reduced function still names, directly or not."""
        texts = {f: f.text(dropped) for f in self.program.reach([self.function])}
        kept, todo = set(), [f for f in texts if f.name == self.function]
        while todo:
            f = todo.pop()
            if f not in kept:
                kept.add(f)
                todo += [g for g in texts if re.search(rf"\b{g.name}\b", texts[f])]
        return [f for f in texts if f in kept]

    def shrink(self, nodes, dropped, kind):
        """Drops what it can, halves of a list first, then goes into what is left."""
        changed = False
        alive = [n for n in nodes if n.number not in dropped and not n.keep]
        size = len(alive)
        while size >= 1:
            k = 0
            while k < len(alive):
                part = {n.number for n in alive[k : k + size]}
                if self.attempt(frozenset(dropped | part))[0] == kind:
                    dropped |= part
                    changed = True
                    alive = alive[:k] + alive[k + size :]
                else:
                    k += size
            size //= 2
        for node in alive:
            if node.kids:
                changed |= self.shrink(node.kids, dropped, kind)
        return changed
