#!/usr/bin/env python3
"""tests/benchmarks/peers/peer_worker.py FRAMEWORK THREADS -- a peer's worker

Takes the commands that worker.cc describes, and answers as it does.
"""
import importlib
import os
import sys
import time


def process_bytes(name):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    return 0


# Seconds by the wall's clock, or of all threads of this process together.
now = time.process_time if os.environ.get("PEERS_CLOCK") == "cpu" else time.perf_counter


class Worker:
    def __init__(self, framework, threads):
        self.rows = importlib.import_module(f"{framework}_rows")
        self.rows.start(threads)
        self.row = None
        self.before = 0

    def answer(self, line):
        command, *words = line.split()
        if command == "prepare":
            return self.prepare(words)
        if command == "first":
            return self.seconds(1)
        if command == "run":
            return self.seconds(int(words[0]))
        if command == "check":
            return "values " + " ".join(f"{v:.9g}" for v in self.row.check())
        if command == "memory":
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
            self.row.run(3)
            return f"bytes {process_bytes('VmHWM') - self.before}"
        raise ValueError(f"there is no command {command}")

    def prepare(self, words):
        pairs = (word.split("=", 1) for word in words)
        spec = {k: int(v) if v.lstrip("-").isdigit() else v for k, v in pairs}
        self.row = None
        self.before = process_bytes("VmRSS")
        self.row = self.rows.make_row(spec)
        return "ready"

    def seconds(self, n):
        start = now()
        self.row.run(n)
        return f"seconds {now() - start:.9g}"


def main():
    framework, threads = sys.argv[1], int(sys.argv[2])
    # Answers have a channel of their own: frameworks print.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = None
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        try:
            worker = worker or Worker(framework, threads)
            answer = worker.answer(line)
        except Exception as error:  # whatever a framework throws is this row's result
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())[:300]
        print(answer, file=answers, flush=True)


main()
