#!/usr/bin/env python3
# tests/errors/run.py -- checks that each program here fails as it says it does, and that its twin does not
#
# A program is one file, named after the mistake:
#
#   // tests/errors/run/NAME.cc -- the mistake in one line
#   // expect: a part of the message; {here} is the line marked `// here`, {NAME} one marked `// NAME here`
#
# Programs in compile/ must not compile, with g++ and with clang++ where there is one: the first error says
# what is expected, and the diagnostics name the line marked `// here`. Programs in run/ must end with a
# hom::Error that says what is expected, at that line; a program whose mistake has no line says so with
# `// no line: why`. Compiled with ALLOWED defined, every program runs and prints nothing.
#
# Bazel runs this with the files beside it; `run.py FAILING ALLOWED INCLUDE_DIR...` does without.
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=120)


class Program:
    """One file: its name, its expectations, and its marked lines."""

    def __init__(self, path):
        self.path = path
        self.file = os.path.basename(path)
        self.name = self.file[: -len(".cc")]
        self.at_compile = os.path.basename(os.path.dirname(path)) == "compile"
        with open(path, encoding="utf-8") as text:
            lines = text.read().split("\n")
        self.lines = {}
        expected = []
        self.complaints = []
        for number, line in enumerate(lines, 1):
            marker = re.search(r"// (?:(\w+) )?here$", line)
            if marker:
                name = marker.group(1) or "here"
                if name in self.lines:
                    self.complaints.append(f"two lines are marked `{name}`")
                self.lines[name] = number
            if line.startswith("// expect: "):
                expected.append(line[len("// expect: "):])
        self.without_line = any(line.startswith("// no line: ") for line in lines)
        relative = os.path.relpath(path, ROOT)
        if not lines[0].startswith(f"// {relative} -- "):
            self.complaints.append(f"the first line is not `// {relative} -- ...`")
        if not expected:
            self.complaints.append("nothing is expected")
        if self.without_line == ("here" in self.lines):
            self.complaints.append("mark one line with `// here`, or say `// no line: why`")
        if f"MISTAKE({self.name})" not in "\n".join(lines):
            self.complaints.append(f"the program is not called {self.name}")
        if "#ifdef ALLOWED" not in lines and "#ifndef ALLOWED" not in lines:
            self.complaints.append("there is no allowed twin")
        try:
            self.expected = [text.format(**self.lines) for text in expected]
        except (KeyError, IndexError, ValueError) as error:
            self.complaints.append(f"a line is expected that is not marked: {error}")
            self.expected = expected

    def names_line(self, text):
        place = re.escape(self.file) + ":" + str(self.lines.get("here")) + r"\b"
        return self.without_line or re.search(place, text)


def check_compiler(program, compiler, includes):
    result = run(compiler, "-std=c++20", "-fsyntax-only", *includes, program.path)
    if result.returncode == 0:
        return "compiles"
    errors = [line for line in result.stdout.split("\n") if re.search(r"\berror: ", line)]
    missing = [text for text in program.expected if text not in errors[0]]
    if missing:
        return f"the first error does not say `{missing[0]}`:\n{result.stdout}"
    if not program.names_line(result.stdout):
        return f"line {program.lines['here']} is not named:\n{result.stdout}"
    return ""


def check_failing(program, failing):
    result = run(failing, program.name)
    if result.returncode != 1:
        return f"ends with status {result.returncode}, not with a hom::Error:\n{result.stdout}"
    missing = [text for text in program.expected if text not in result.stdout]
    if missing:
        return f"does not say `{missing[0]}`:\n{result.stdout}"
    if not program.names_line(result.stdout):
        return f"does not name line {program.lines['here']}:\n{result.stdout}"
    return ""


def check_allowed(program, allowed):
    result = run(allowed, program.name)
    if result.returncode != 0 or result.stdout:
        return f"its allowed twin ends with status {result.returncode} and prints:\n{result.stdout}"
    return ""


def tools_and_includes():
    """The two binaries and the include path: given, or those that Bazel laid out."""
    if len(sys.argv) > 3:
        return sys.argv[1], sys.argv[2], [flag for path in sys.argv[3:] for flag in ("-I", path)]
    # Headers found as <hom/FOLDER/FILE.h> lie in one _virtual_includes folder for each library.
    virtual = sorted(glob.glob(os.path.join(ROOT, "**", "_virtual_includes", "*"), recursive=True))
    return (
        os.path.join(HERE, "failing"),
        os.path.join(HERE, "allowed"),
        [flag for path in virtual + [ROOT] for flag in ("-I", path)],
    )


def main():
    failing, allowed, includes = tools_and_includes()
    compilers = [c for c in (os.environ.get("CXX", "g++"), "clang++-19") if shutil.which(c)]
    programs = [Program(path) for path in sorted(glob.glob(os.path.join(HERE, "compile", "*.cc")) + glob.glob(os.path.join(HERE, "run", "*.cc")))]
    cases = []
    for program in programs:
        cases.append((program.name + ".is_well_formed", lambda p=program: "; ".join(p.complaints)))
        cases.append((program.name + ".allowed", lambda p=program: check_allowed(p, allowed)))
        if program.at_compile:
            for compiler in compilers:
                name = f"{program.name}.{os.path.basename(compiler)}"
                cases.append((name, lambda p=program, c=compiler: check_compiler(p, c, includes)))
        else:
            cases.append((program.name + ".fails", lambda p=program: check_failing(p, failing)))

    def timed(case):
        start = time.time()
        return case[0], case[1](), time.time() - start

    suite = xml.Element("testsuite", name="errors", tests=str(len(cases)))
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, failure, seconds in pool.map(timed, cases):
            case = xml.SubElement(suite, "testcase", classname="Errors", name=name, time=f"{seconds:.3f}")
            if failure:
                failures += 1
                xml.SubElement(case, "failure", message=failure.split("\n")[0]).text = failure
                print("\n    ".join([f"FAIL {name}: "] + failure.split("\n")[:20]))
    print(f"{len(cases) - failures} of {len(cases)} checks of {len(programs)} programs passed")
    if "XML_OUTPUT_FILE" in os.environ:
        xml.ElementTree(suite).write(os.environ["XML_OUTPUT_FILE"], encoding="utf-8", xml_declaration=True)
    return 1 if failures or not programs else 0


sys.exit(main())
