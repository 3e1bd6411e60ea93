#!/usr/bin/env python3
# tests/docs/docs_test.py -- checks that examples print what is expected and that pages show what is there
#
#   bazel run -c opt //tests/docs:docs_test -- --update    writes examples/expected/, docs/primitives.md and
#                                                          docs/images/derivative.svg anew; review the difference
#   docs_test.py --programs FOLDER                         without Bazel: FOLDER holds the compiled programs
#
# The pages are README.md, docs/*.md and docs/*/*.md. A block in a page names its source in an HTML comment before it:
#
#   <!-- from examples/NAME.cc -->           the block stands in that file, up to common indentation. Programs in
#                                            examples/ and docs/ are run here, tests/errors/, tests/install/ and
#                                            tests/external/ by their own tests.
#   <!-- output of examples/NAME -->         a block or table: the program prints it
#   <!-- message in core/FILE.h -->          the text of a static_assert in that file
#
# Blocks of shell commands (sh) need none, but the scripts and packages that they name exist. So do relative
# links, their anchors, images, and files that the text names in backticks.
import difflib
import glob
import html
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import xml.etree.ElementTree as xml

# Bazel lays out links to the source files, so this finds the repository itself.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
UPDATE = "bazel run -c opt //tests/docs:docs_test -- --update"
PICTURE = "docs/images/derivative.svg"
FOLDERS = "core categories backends examples tests docs tools".split()


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
        file.write(text)


def exists(path):
    return os.path.exists(os.path.join(ROOT, path))


class Programs:
    """The compiled programs, each run once, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.outputs = {}

    def run(self, name):
        """Its standard output; raises where it does not end well."""
        if name not in self.outputs:
            path = os.path.abspath(os.path.join(self.folder, os.path.basename(name)) if self.folder else name)
            with tempfile.TemporaryDirectory() as scratch:
                done = subprocess.run([path], cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=120)
                if done.returncode != 0:
                    raise ValueError(f"{name} ends with status {done.returncode}:\n{done.stdout}{done.stderr}")
                picture = os.path.join(scratch, "derivative.svg")
                if os.path.exists(picture):
                    with open(picture, encoding="utf-8") as file:
                        self.picture = file.read()
            self.outputs[name] = done.stdout
        return self.outputs[name]


def names_of(folder):
    return sorted(path[: -len(".cc")] for path in (os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, folder, "*.cc"))))


def expected_path(example):
    return f"examples/expected/{os.path.basename(example)}.txt"


def difference(expected, actual):
    lines = difflib.unified_diff(expected.split("\n"), actual.split("\n"), "committed", "actual", lineterm="")
    return "\n".join(list(lines)[:40])


# --- examples ---


def check_example(programs, example):
    source = read(example + ".cc")
    if not source.startswith(f"// {example}.cc -- "):
        return f"the first line is not `// {example}.cc -- ...`"
    actual = programs.run(example)
    path = expected_path(example)
    if not exists(path):
        return f"{path} is missing; write it: {UPDATE}"
    if actual != read(path):
        return f"prints something else than {path} says ({UPDATE}):\n" + difference(read(path), actual)
    return ""


def check_expectations(examples):
    known = {os.path.basename(example) for example in examples}
    paths = glob.glob(os.path.join(ROOT, "examples", "expected", "*"))
    strays = [p for p in map(os.path.basename, paths) if os.path.splitext(p)[0] not in known]
    return f"no example prints {', '.join(strays)}" if strays else ""


# --- generated files ---


def check_primitives(programs):
    actual = programs.run("docs/primitives")
    if "missing" in actual:
        return "a primitive has no CPU kernel:\n" + "\n".join(line for line in actual.split("\n") if "missing" in line)
    if actual == read("docs/primitives.md"):
        return ""
    command = "bazel run -c opt //docs:primitives > docs/primitives.md"
    return f"docs/primitives.md is out of date; write it again: {command}\n" + difference(read("docs/primitives.md"), actual)


def shown_in(svg):
    """What a reader can see or point at, in any order: where graphviz puts it depends on its version and fonts."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg) + re.findall(r'xlink:title="([^"]*)"', svg)
    return sorted(html.unescape(text) for text in texts)


def check_picture(programs):
    programs.run("examples/picture_of_a_derivative")
    committed, actual = shown_in(read(PICTURE)), shown_in(programs.picture)
    if committed == actual:
        return ""
    return f"{PICTURE} does not show what the example draws ({UPDATE}):\n" + difference("\n".join(committed), "\n".join(actual))


# --- pages ---


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda m: m.group(1) or "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


class Block:
    def __init__(self, line, language, lines, comment):
        self.line, self.language, self.lines, self.comment = line, language, lines, comment


class Page:
    """A Markdown file: its blocks and tables with the comment before each, and its prose."""

    def __init__(self, path):
        self.path = path
        self.blocks, self.prose, self.anchors = [], [], set()
        lines = read(path).split("\n")
        comment = ""
        i = 0
        while i < len(lines):
            line = lines[i]
            if line.startswith("```"):
                end = next((k for k in range(i + 1, len(lines)) if lines[k].startswith("```")), len(lines))
                self.blocks.append(Block(i + 1, line[3:].strip(), lines[i + 1 : end], comment))
                comment, i = "", end + 1
                continue
            if line.startswith("|"):
                end = next((k for k in range(i, len(lines)) if not lines[k].startswith("|")), len(lines))
                if comment:
                    self.blocks.append(Block(i + 1, "table", lines[i:end], comment))
                comment = ""
                self.prose += lines[i:end]
                i = end
                continue
            if line.startswith("<!-- "):
                comment = line[len("<!-- ") :].split(" -->")[0]
            elif line:
                comment = ""
                self.prose.append(line)
                if line.startswith("#"):
                    self.anchors.add(slug(line.lstrip("#")))
            i += 1


def occurs(block, text):
    """Whether the lines stand in the text, up to the indentation that they have in common."""
    wanted = textwrap.dedent("\n".join(block)).strip("\n").split("\n")
    lines = text.split("\n")
    for start in range(len(lines) - len(wanted) + 1):
        if wanted[0].strip() != lines[start].strip():
            continue
        if textwrap.dedent("\n".join(lines[start : start + len(wanted)])).split("\n") == wanted:
            return True
    return False


def spoken(source):
    """A C++ file with adjacent string literals joined, and runs of white space as one space."""
    return re.sub(r"\s+", " ", re.sub(r'"\s*\n\s*"', "", source))


def check_commands(block):
    text = "\n".join(block.lines)
    for word in re.findall(r"(?<![\w/.])(?:%s)/[\w./-]+" % "|".join(FOLDERS), text):
        if not exists(word):
            return f"{word} does not exist"
    for package in re.findall(r"//([\w/]*)", re.sub(r"\w+://\S*", "", text)):
        if not exists(os.path.join(package, "BUILD")):
            return f"//{package} is no package"
    return ""


def check_block(programs, page, block):
    if block.language == "sh" and not block.comment:
        return check_commands(block)
    kind, _, source = block.comment.rpartition(" ")
    if kind == "from":
        if not exists(source):
            return f"{source} does not exist"
        run_elsewhere = source.startswith(("tests/errors/", "tests/install/", "tests/external/"))
        if not run_elsewhere:
            if os.path.dirname(source) not in ("examples", "docs", "docs/categories"):
                return f"nothing runs {source}"
            programs.run(source[: -len(".cc")])
        return "" if occurs(block.lines, read(source)) else f"does not stand in {source}"
    if kind == "output of":
        actual = programs.run(source)
        return "" if occurs(block.lines, actual) else f"{source} does not print this; it prints:\n{actual[:6000]}"
    if kind == "message in":
        said = re.sub(r"\s+", " ", " ".join(block.lines)).strip()
        return "" if said in spoken(read(source)) else f"{source} does not say this"
    return "names no source: put `<!-- from FILE -->` or `<!-- output of PROGRAM -->` before it"


def check_links(pages, page):
    text = "\n".join(page.prose)
    plain = re.sub(r"`[^`]*`", "", text)
    targets = re.findall(r"\]\(([^)\s]+)\)", plain) + re.findall(r'(?:src|srcset|href)="([^"]*)"', plain)
    broken = []
    for target in targets:
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page.path), path)) if path else page.path
        if not exists(path):
            broken.append(target)
        elif anchor and path.endswith(".md"):
            other = pages.get(path) or Page(path)
            if anchor not in other.anchors:
                broken.append(target)
    return "links lead nowhere: " + ", ".join(broken) if broken else ""


def check_names(page):
    """Files named in backticks: `core/tensor.h`, `examples/*.cc`; capitals stand for what differs, `NAME`."""
    names = re.findall(r"`((?:%s)/[\w./*-]*)`" % "|".join(FOLDERS), "\n".join(page.prose))
    gone = [n for n in names if not re.search(r"[A-Z]{2}", n.replace("BUILD", "")) and not glob.glob(os.path.join(ROOT, n))]
    return "names files that do not exist: " + ", ".join(gone) if gone else ""


def check_machine(page):
    found = re.findall(r"(?:/home|/root|/tmp|/work|\.\./shared)\b\S*", read(page.path))
    return "names paths of some machine: " + ", ".join(found) if found else ""


def update(programs, examples):
    os.makedirs(os.path.join(ROOT, "examples", "expected"), exist_ok=True)
    for example in examples:
        write(expected_path(example), programs.run(example))
    write("docs/primitives.md", programs.run("docs/primitives"))
    write(PICTURE, programs.picture)


def main():
    arguments = sys.argv[1:]
    programs = Programs(arguments[arguments.index("--programs") + 1] if "--programs" in arguments else None)
    examples = names_of("examples")
    if "--update" in arguments:
        update(programs, examples)
        return 0

    below_docs = glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)
    pages = {path: Page(path) for path in ["README.md"] + sorted(os.path.relpath(p, ROOT) for p in below_docs)}
    cases = [(example, lambda e=example: check_example(programs, e)) for example in examples]
    cases.append(("every_expectation_has_an_example", lambda: check_expectations(examples)))
    cases.append(("primitives_page_is_current", lambda: check_primitives(programs)))
    cases.append(("picture_is_current", lambda: check_picture(programs)))
    for path, page in pages.items():
        for block in page.blocks:
            cases.append((f"{path}:{block.line}", lambda p=page, b=block: check_block(programs, p, b)))
        cases.append((path + ".links", lambda p=page: check_links(pages, p)))
        cases.append((path + ".files_named", lambda p=page: check_names(p)))
        cases.append((path + ".machine_independent", lambda p=page: check_machine(p)))

    def timed(case):
        start = time.time()
        try:
            failure = case[1]()
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            failure = str(error)
        return case[0], failure, time.time() - start

    suite = xml.Element("testsuite", name="docs", tests=str(len(cases)))
    failures = 0
    for name, failure, seconds in map(timed, cases):
        case = xml.SubElement(suite, "testcase", classname="Docs", name=name, time=f"{seconds:.3f}")
        if failure:
            failures += 1
            xml.SubElement(case, "failure", message=failure.split("\n")[0]).text = failure
            print("\n    ".join([f"FAIL {name}: "] + failure.split("\n")))
    print(f"{len(cases) - failures} of {len(cases)} checks of {len(examples)} examples and {len(pages)} pages passed")
    if "XML_OUTPUT_FILE" in os.environ:
        xml.ElementTree(suite).write(os.environ["XML_OUTPUT_FILE"], encoding="utf-8", xml_declaration=True)
    return 1 if failures or not examples else 0


sys.exit(main())
