"""How long to measure."""


class Effort:
    """One of smoke (only that it runs), quick and full."""

    NAMES = ("smoke", "quick", "full")

    def __init__(self, name):
        self.name = name

    def choose(self, smoke, quick, full):
        """The value for this effort."""
        return {"smoke": smoke, "quick": quick, "full": full}[self.name]
