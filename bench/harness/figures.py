"""Medians, quartiles, and when two of them are about the same."""
import statistics

ABOUT = 0.05


def quartiles(values):
    """Lower quartile, median, upper quartile."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def median(values):
    return statistics.median(values)


def percentile(ordered, share):
    """Of values that are sorted."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def same(left, right):
    """Less than 5 % between the medians, or quartiles that overlap (where each has at least three values)."""
    low_l, mid_l, high_l = quartiles(left)
    low_r, mid_r, high_r = quartiles(right)
    if abs(mid_l - mid_r) < ABOUT * max(abs(mid_l), abs(mid_r)):
        return True
    if len(left) < 3 or len(right) < 3:
        return False
    return low_l <= high_r and low_r <= high_l


def advantage(ours, theirs, higher):
    """How many times better ours is, by medians; below 1: worse."""
    ours, theirs = median(ours), median(theirs)
    if not ours or not theirs:
        return None
    return ours / theirs if higher else theirs / ours


class Records:
    """What was measured: one record for each figure, with every repeat's value."""

    def __init__(self):
        self.records = []

    def add(self, section, row, variant, value, unit, higher=False, **about):
        """Another value of this figure. `about` tells in what conditions: links, clients and so on."""
        for record in self.records:
            if (record["section"], record["row"], record["variant"], record["about"]) == (section, row, variant, about):
                record["values"].append(value)
                return
        self.records.append({"section": section, "row": row, "variant": variant, "unit": unit, "higher": higher,
                             "about": about, "values": [value]})
