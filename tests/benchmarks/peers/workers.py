"""tests/benchmarks/peers/workers.py -- processes that run rows, on the same cores each"""
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FRAMEWORKS = ("hom", "jax", "mlx", "torch", "torch-compile")


class WorkerError(Exception):
    """What a worker says it can't do."""


def _environment(framework, threads, cache):
    n = str(threads)
    changes = {name: n for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "HOM_THREADS")}
    changes["JAX_PLATFORMS"] = "cpu"
    if threads == 1:
        changes["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    if framework == "torch-compile":
        changes["PEERS_TORCH"] = "compile"
    if cache:
        changes.update(HOM_CACHE_DIR=cache, PEERS_CACHE=cache, TORCHINDUCTOR_CACHE_DIR=cache)
    return {**os.environ, **changes}


class Worker:
    """One process. It may use `threads` cores, and the same as all others."""

    def __init__(self, framework, hom, python, threads, cache=None):
        self.framework = framework
        command = [hom] if framework == "hom" else [
            python, str(HERE / "peer_worker.py"), framework.split("-")[0], str(threads)]
        cores = sorted(os.sched_getaffinity(0))[:threads]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=_environment(framework, threads, cache), preexec_fn=lambda: os.sched_setaffinity(0, cores))

    def ask(self, command):
        """The words of the answer. Throws WorkerError where the worker can't do it."""
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise WorkerError(f"its process ended ({self.process.wait()})")
        kind, *words = answer.split()
        if kind == "error":
            raise WorkerError(" ".join(words))
        return words

    def seconds(self, command):
        return float(self.ask(command)[0])

    def alive(self):
        return self.process.poll() is None

    def close(self):
        try:
            self.process.communicate("quit\n", timeout=10)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
            self.process.wait()
