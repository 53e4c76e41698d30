"""The form of a result, the same for every bench; bench/README.md describes it."""
import sys

from . import machine

EFFORTS = ("--smoke", "--quick")


def make(bench, method, cases, headline=0):
    """A result from its cases, each with "name", "variants" and "ratios".

    `variants` and `ratios` of the whole are those of the case that the bench is about.
    """
    efforts = [word for word in EFFORTS if word in sys.argv]
    return {
        "bench": bench,
        "machine": machine.state(),
        "command": " ".join([f"bench/run {bench}", *efforts]),
        "method": method,
        "case": cases[headline]["name"],
        "variants": cases[headline]["variants"],
        "ratios": cases[headline]["ratios"],
        "cases": cases,
    }
