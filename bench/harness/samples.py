"""Medians and quartiles of what was measured in paired rounds."""
import statistics


def quartiles(values, unit):
    """{unit: median, q25, q75}; unit is "median_ns", "per_second" or "bytes"."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {unit: _rounded(middle), "q25": _rounded(low), "q75": _rounded(high)}


def differences(values, base):
    """Round by round: what lasts as long as the round, a busy neighbour say, falls out."""
    return [value - other for value, other in zip(values, base)]


def means(first, second):
    """Round by round."""
    return [(one + other) / 2 for one, other in zip(first, second)]


def ratio(value, base):
    """None where the base is unknown or nothing."""
    return _rounded(value / base) if value is not None and base else None


def _rounded(value):
    """Four digits say more than was measured already."""
    return float(f"{value:.4g}")
