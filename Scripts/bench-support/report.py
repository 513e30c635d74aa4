"""The report: Markdown tables, printed as they come and written to a file at the end."""

import statistics


class Report:
    def __init__(self):
        self.lines = []

    def line(self, text=""):
        self.lines.append(text)
        print(text, flush=True)

    def heading(self, text, level=2):
        if self.lines:
            self.line()
        self.line(f"{'#' * level} {text}")
        self.line()

    def table(self, header, rows):
        """Adds rows of texts, after a blank line."""
        if self.lines and self.lines[-1]:
            self.line()
        widths = [max(len(row[at]) for row in [header, *rows]) for at in range(len(header))]
        self._row(header, widths)
        self.line("|" + "|".join("-" * (width + 2) for width in widths) + "|")
        for row in rows:
            self._row(row, widths)

    def goals(self, goals):
        self.table(
            ["", "measured", "rounds", "goal", ""],
            [[goal.name, goal.measured, goal.rounds, goal.wanted, goal.verdict] for goal in goals],
        )

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")

    def _row(self, cells, widths):
        padded = (cell.ljust(width) for cell, width in zip(cells, widths))
        self.line("| " + " | ".join(padded) + " |")


class Goal:
    """A figure and its goal.

    `values` are the figure in each round: their median is the figure, the lowest and the highest
    show its spread.
    """

    def __init__(self, name, values, *, unit="", most=None, least=None, digits=2):
        median = statistics.median(values)
        self.name = name
        self.measured = quantity(median, unit, digits)
        self.rounds = ""
        if len(values) > 1:
            self.rounds = f"{number(min(values), digits)} to {number(max(values), digits)}"
        if most is not None:
            self.wanted, is_met = f"≤ {quantity(most, unit, None)}", median <= most
        elif least is not None:
            self.wanted, is_met = f"≥ {quantity(least, unit, None)}", median >= least
        else:
            self.wanted, is_met = "", None
        self.verdict = {True: "met", False: "missed", None: ""}[is_met]


def number(value, digits):
    if digits is None:
        return f"{value:,}"
    return f"{value:,.{digits}f}"


def quantity(value, unit, digits):
    return f"{number(value, digits)} {unit}".rstrip()


def median_text(values, digits=1):
    return number(statistics.median(values), digits)


def ratios(left, right):
    """Round by round: contestants of one round ran under the same conditions."""
    return [one / other for one, other in zip(left, right)]
