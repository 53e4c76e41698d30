"""The form of a result, the same for every bench; bench/README.md describes it."""
import shlex
import sys

from . import machine


def make(bench, method, cases, headline=0):
    """A result from its cases, each with "name", "variants" and "ratios".

    `variants` and `ratios` of the whole are those of the case that the bench is about.
    """
    return {
        "bench": bench,
        "machine": machine.state(),
        "command": shlex.join(["bench/run", *_command_line()]),
        "method": method,
        "case": cases[headline]["name"],
        "variants": cases[headline]["variants"],
        "ratios": cases[headline]["ratios"],
        "cases": cases,
    }


def _command_line():
    return sys.argv[1:]
