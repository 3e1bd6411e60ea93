"""tests/benchmarks/peers/table.py -- results as text and as Markdown"""


def time(seconds):
    if seconds is None:
        return "–"
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def megabytes(count):
    return "–" if count is None else f"{count / 1e6:.1f}"


class Result:
    """What a framework did with a row; times in seconds."""

    def __init__(self):
        self.error = None
        self.values = None
        self.wrong = False
        self.rounds = []
        self.cold = None
        self.warm = None
        self.bytes = None

    def least(self):
        return min(self.rounds) if self.rounds and not self.error else None

    def median(self):
        return sorted(self.rounds)[len(self.rounds) // 2] if self.rounds and not self.error else None


def mark_wrong(results):
    """Those whose numbers are not those of most."""
    def agree(a, b):
        scale = max(map(abs, a + b), default=0)
        return len(a) == len(b) and all(
            abs(x - y) <= 2e-3 * max(abs(x), abs(y)) + 1e-4 * scale for x, y in zip(a, b))

    given = [r for r in results.values() if r.values is not None]
    for result in given:
        friends = sum(agree(result.values, other.values) for other in given if other is not result)
        result.wrong = len(given) > 1 and friends * 2 < len(given) - 1 or any(v != v for v in result.values)
    if len(given) == 2 and given[0].wrong != given[1].wrong:
        given[0].wrong = given[1].wrong = True


def ratio(results, value=Result.least):
    """Hom ÷ the best peer; None where one of them is missing."""
    hom = value(results["hom"]) if "hom" in results and not results["hom"].wrong else None
    peers = [value(r) for name, r in results.items() if name != "hom" and not r.wrong]
    peers = [p for p in peers if p]
    return hom / min(peers) if hom and peers else None


def _cell(result):
    if result is None:
        return ""
    if result.error:
        return "no"
    return ("WRONG " if result.wrong else "") + time(result.least())


def _lines(table, frameworks):
    """Header and rows as lists of cells."""
    head = ["row", "check", *frameworks, "÷ best", "median ÷", *(f"first {f}" for f in frameworks), *(f"again {f}" for f in frameworks),
            *(f"MB {f}" for f in frameworks)]
    yield head
    for name, results in table:
        values = next((r.values for r in results.values() if r.values), None)
        get = lambda f: results.get(f) or Result()
        both = [ratio(results), ratio(results, Result.median)]
        yield [name, f"{values[0]:.5g}" if values else "", *(_cell(get(f)) for f in frameworks),
               *("–" if x is None else f"{x:.2f}" for x in both),
               *(time(get(f).cold) for f in frameworks), *(time(get(f).warm) for f in frameworks),
               *(megabytes(get(f).bytes) for f in frameworks)]


def text(table, frameworks):
    lines = list(_lines(table, frameworks))
    used = [i for i in range(len(lines[0])) if any(line[i] not in ("", "–") for line in lines[1:])]
    widths = {i: max(len(line[i]) for line in lines) for i in used}
    return "\n".join("  ".join(line[i].ljust(widths[i]) if i == 0 else line[i].rjust(widths[i]) for i in used) for line in lines)


def markdown(table, frameworks):
    lines = list(_lines(table, frameworks))
    used = [i for i in range(len(lines[0])) if any(line[i] not in ("", "–") for line in lines[1:])]
    rows = ["| " + " | ".join(line[i] for i in used) + " |" for line in lines]
    return "\n".join([rows[0], "|" + "---|" * len(used), *rows[1:]])
