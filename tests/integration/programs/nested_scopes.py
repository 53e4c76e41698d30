"""A known tree of scopes: nested, recursive with one name, siblings, and left by an exception."""
import torch
from torch.profiler import record_function

DEPTH = 12


def recurse(levels, value):
    if levels == 0:
        return value.neg()
    with record_function("recurse"):
        return recurse(levels - 1, value).neg()


def siblings(value):
    with record_function("outer"):
        for index in range(3):
            with record_function(f"sibling {index}"):
                value = value.neg()
    return value


def left_by_exception(value):
    try:
        with record_function("left by exception"):
            with record_function("inner"):
                value.neg()
                raise KeyError("leaves both scopes")
    except KeyError:
        pass
    with record_function("after the exception"):
        return value.neg()


def main():
    with torch.no_grad():
        value = torch.ones(1)
        value = recurse(DEPTH, value)
        value = siblings(value)
        value = left_by_exception(value)
    print(value.item())


if __name__ == "__main__":
    main()
