"""Builds and runs the program of a seed at a level, and says what happened to each entry."""

import os
import re
import subprocess

from .program import Program

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(HERE))
RECOMMENDED = ["-fno-vectorize", "-fno-slp-vectorize", "-mllvm", "-unroll-runtime=false"]


class Settings:
    """What all builds share."""

    def __init__(self, plugin, modes, work, clang="clang-22", linker="ld.lld-22", cases=1, timeout=120):
        self.plugin, self.modes, self.work, self.clang, self.linker = plugin, modes, work, clang, linker
        self.cases, self.timeout = cases, timeout

    def checker(self):
        """check.c, compiled once."""
        out = os.path.join(self.work, "check.o")
        if not os.path.exists(out):
            os.makedirs(self.work, exist_ok=True)
            command([self.clang, "-O1", "-c", f"{HERE}/check/check.c", "-o", out + ".new"])
            os.rename(out + ".new", out)
        return out


class CommandFailed(Exception):
    pass


def command(words, timeout=300, cwd=None):
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=timeout, cwd=cwd)
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(words)}\n{done.stderr[-4000:]}")
    return done


def flags_of(level):
    """'2gr': -O2 with -g and the recommended flags."""
    flags = [f"-O{level[0]}"]
    if "g" in level:
        flags.append("-g")
    if "r" in level:
        flags += RECOMMENDED
    return flags


class Outcome:
    """Of one build: entries refused (with the sentence), wrong, crashed, skipped, passed; and what went wrong as a
    whole."""

    def __init__(self):
        self.refused, self.wrong, self.passed, self.skipped, self.trouble = {}, {}, [], [], []
        self.text = ""


def sentence(text):
    """An error without its names and places, for counting."""
    text = re.sub(r"^\S+:\d+:\d+: ", "", text.strip())
    text = re.sub(r"^'[^']*': ", "", text)
    text = re.sub(r"^adjoin: ", "", text)
    text = re.sub(r"'(\w+)'", lambda m: m.group(0) if m.group(1) in KEPT else "'...'", text)
    return re.sub(r"\d+(:\d+)*", "#", text)


KEPT = {"malloc", "calloc", "realloc", "free", "memcpy", "memmove", "memset", "fprintf", "snprintf", "abort", "fputs"}


class Build:
    """The program of a seed (or the part of it that is given) in a folder."""

    def __init__(self, settings, seed, folder, only=None, dropped=frozenset(), program=None):
        self.settings, self.seed, self.folder = settings, seed, folder
        self.program = program or Program(seed)
        os.makedirs(folder, exist_ok=True)
        self.only, self.dropped = only, dropped
        for name, text in self.program.files(only, dropped).items():
            with open(os.path.join(folder, name), "w") as out:
                out.write(text)
        functions = self.program.reach(only)
        self.entries = [
            e for e in self.program.entries if e.function in functions and (only is None or e.function.name in only)
        ]
        self.compile("reference.c", "reference.o", ["-O1"], lto=False)

    def compile(self, source, target, flags, lto=True):
        words = [self.settings.clang, "-std=gnu11", "-w", "-I", f"{HERE}/check", "-I", f"{ROOT}/toolchain/include"]
        words += (["-flto"] if lto else []) + flags
        command(words + ["-c", source, "-o", target], cwd=self.folder)

    def link(self, main, target):
        """Returns the finished process; the errors are in its stderr."""
        words = [self.settings.clang, "-flto", "-O2", f"--ld-path={self.settings.linker}", "a.o", "b.o", main]
        words += ["reference.o", self.settings.checker(), "-lm", "-o", target]
        words.append(f"-Wl,--error-limit=0,--load-pass-plugin={self.settings.plugin}")
        return subprocess.run(
            words, capture_output=True, text=True, errors="replace", cwd=self.folder, timeout=self.settings.timeout
        )

    def try_link(self, level, refused):
        """Compiles main.c without the refused entries and links."""
        flags = flags_of(level) + [f"-DNO_{mode.upper()}_{name}" for mode, name in refused]
        flags += [f"-DNO_{mode.upper()}" for mode in ("forward", "reverse") if mode not in self.settings.modes]
        self.compile("main.c", "main.o", flags)
        if os.path.exists(os.path.join(self.folder, "program")):
            os.remove(os.path.join(self.folder, "program"))
        try:
            return self.link("main.o", "program")
        except subprocess.TimeoutExpired:
            return None

    def markers(self, refused):
        """The (mode, entry) pairs that are still asked for."""
        return [
            (mode, e.name)
            for e in self.entries
            for mode in self.settings.modes
            if (mode, e.name) not in refused and (mode == "forward" or e.width == 1)
        ]

    def run(self, level):
        outcome = Outcome()
        first, second = (level.split("/") + [level])[:2] if "/" in level else (level, level)
        self.compile("a.c", "a.o", flags_of(first))
        self.compile("b.c", "b.o", flags_of(second))
        refused = {}
        for _ in range(60):
            done = self.try_link(first, refused)
            if done is not None and done.returncode == 0:
                break
            fresh = self.blame(done, refused)
            if not fresh:
                fresh = self.search(first, refused)
            if not fresh:
                outcome.trouble.append("link: " + (done.stderr[-2000:] if done else "timeout"))
                return outcome
            refused.update(fresh)
        else:
            outcome.trouble.append("link: errors without end")
            return outcome
        outcome.refused = refused
        self.execute(outcome)
        return outcome

    def blame(self, done, refused):
        """Which markers the errors of a link are about: {(mode, name): text}."""
        result = {}
        if done is None or done.returncode < 0 or "Stack dump" in done.stderr:
            return result
        left = self.markers(refused)
        for block in re.split(r"(?m)^(?=\S*lld\S*: error: )", done.stderr):
            match = re.match(r"\S*lld\S*: error: (.*)", block)
            if not match:
                continue
            where = re.findall(r"requested (?:at|in|by) [^\n]*?'?(?:fwd|rev)_(\w+)'?", block)
            lines = re.findall(r"requested at \S*main\.c:(\d+)", block)
            names = {(m, n) for m, n in (self.entry_at(int(k)) for k in lines) if n}
            for mode in self.settings.modes:
                stem = "fwd" if mode == "forward" else "rev"
                names |= {(mode, n) for n in re.findall(rf"'{stem}_(\w+)'", block) if n in {e.name for e in self.entries}}
            del where
            for key in names:
                if key in left:
                    result[key] = match.group(1)
        return result

    def entry_at(self, line):
        """The marker at a line of main.c."""
        found = ("", "")
        with open(os.path.join(self.folder, "main.c")) as text:
            for k, content in enumerate(text, 1):
                match = re.match(r"static void (fwd|rev)_(\w+)\(", content)
                if match:
                    found = ({"fwd": "forward", "rev": "reverse"}[match.group(1)], match.group(2))
                if k == line:
                    return found
        return ("", "")

    def search(self, level, refused):
        """Finds by halving the markers that do not link alone."""
        bad, todo = {}, [self.markers(refused)]
        everything = {key: "" for key in self.markers({})}
        while todo:
            group = todo.pop()
            if not group:
                continue
            done = self.try_link(level, {k: v for k, v in everything.items() if k not in group})
            if done is not None and done.returncode == 0:
                continue
            if len(group) > 1:
                todo += [group[: len(group) // 2], group[len(group) // 2 :]]
                continue
            if done is None:
                bad[group[0]] = "CRASH: the link takes too long"
            elif done.returncode < 0 or "Stack dump" in done.stderr or "unable to execute" in done.stderr:
                bad[group[0]] = "CRASH: " + (re.findall(r"(?m)^.*(?:Assertion|LLVM ERROR|Running pass).*$", done.stderr) + ["?"])[0]
            else:
                match = re.search(r"error: (.*)", done.stderr)
                bad[group[0]] = match.group(1) if match else done.stderr[-300:]
        return bad

    def execute(self, outcome):
        for case in range(self.settings.cases):
            words = [os.path.join(self.folder, "program"), "--seed", str(self.seed + 1000003 * case)]
            try:
                done = subprocess.run(
                    words, capture_output=True, text=True, errors="replace", timeout=self.settings.timeout * 3
                )
            except subprocess.TimeoutExpired:
                outcome.trouble.append("the program does not end")
                return
            outcome.text += done.stdout + done.stderr
            if "SUMMARY" not in done.stdout:
                outcome.trouble.append("the program ended before its summary: " + done.stderr[-300:])
            asked = {name for _, name in self.markers(outcome.refused)}
            for word, name in re.findall(r"(?m)^(PASS|FAIL|SKIP|CRASH) (\w+):", done.stdout):
                if name not in asked:
                    continue
                if word == "PASS":
                    outcome.passed.append(name)
                elif word == "SKIP":
                    outcome.skipped.append(name)
                else:
                    lines = [t.strip() for t in done.stdout.splitlines() if t.startswith(f"  {name} ")]
                    last = re.search(rf"(?m)^CRASH {name}: (.*)", done.stdout)
                    crash = f"CRASH {last.group(1)} {done.stderr[-200:].strip()}" if last else ""
                    outcome.wrong[name] = crash or lines[0]
