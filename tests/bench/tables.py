"""The tables that ./dev bench prints, from the results of all runs."""
import statistics
import unicodedata

from catalogue import BUDGETS


class Results:
    """The result lines of all runs, by case and broker."""

    def __init__(self):
        self.lines = {}

    def add(self, case, broker, line):
        self.lines.setdefault((case, broker), []).append(line)

    def of(self, case, broker):
        return self.lines.get((case, broker), [])

    def median(self, case, broker, key):
        values = [line[key] for line in self.of(case, broker) if line.get("ok") and key in line]
        return statistics.median(values) if values else None

    def failures(self):
        return [(case, broker, line["error"])
                for (case, broker), lines in self.lines.items() for line in lines if not line.get("ok")]

    def disturbed(self, cores):
        all_lines = [line for lines in self.lines.values() for line in lines if "other_cores" in line]
        return [line for line in all_lines if line["other_cores"] > cores], all_lines


def number(value):
    if value is None:
        return "-"
    if abs(value) >= 10_000_000:
        return f"{value / 1e6:.1f}M"
    if abs(value) >= 1_000_000:
        return f"{value / 1e6:.2f}M"
    if abs(value) >= 10_000:
        return f"{value / 1e3:.0f}k"
    if abs(value) >= 1_000:
        return f"{value / 1e3:.2f}k"
    return f"{value:.3g}"


def width(text):
    return sum(0 if unicodedata.combining(each) else 1 for each in text)


def print_table(header, rows, text_columns=1):
    """Aligned, and Markdown as well: it can be pasted into a document."""
    sizes = [max(width(row[column]) for row in [header] + rows) for column in range(len(header))]

    def line(cells):
        padded = []
        for column, cell in enumerate(cells):
            space = " " * (sizes[column] - width(cell))
            padded.append(cell + space if column < text_columns else space + cell)
        print("| " + " | ".join(padded) + " |")

    line(header)
    print("|" + "|".join("-" * (size + 1) + ("-" if column < text_columns else ":") for column, size in enumerate(sizes)) + "|")
    for row in rows:
        line(row)


def ratio(better, worse):
    return f"{better / worse:.1f}x" if better and worse else "-"


def compare_row(results, case, row, brokers):
    def value(broker, key):
        return results.median(case.name, broker, key)

    def shown(broker, key):
        lines = results.of(case.name, broker)
        failed = sum(1 for line in lines if not line.get("ok"))
        if not lines:
            return "-"
        return "failed" if failed == len(lines) else number(value(broker, key)) + ("*" if failed else "")

    first, second = brokers
    ours, theirs = value(first, row.key), value(second, row.key)
    if not row.higher_is_better:
        ours, theirs = theirs, ours
    cpu = "cpu_us_per_message"
    return [row.label, row.unit, shown(first, row.key), shown(second, row.key), ratio(ours, theirs),
            number(value(first, cpu)), number(value(second, cpu)), ratio(value(second, cpu), value(first, cpu)),
            number(value(first, "peak_rss_mib")), number(value(second, "peak_rss_mib"))]


def print_comparison(results, cases):
    brokers = ("Revenant", "RabbitMQ")
    header = ["case", "unit", *brokers, "ratio", "CPU µs/msg Revenant", "CPU µs/msg RabbitMQ", "msg per CPU s, ratio",
              "peak RSS MiB Revenant", "peak RSS MiB RabbitMQ"]
    print_table(header, [compare_row(results, case, row, brokers) for case in cases for row in case.rows], 2)


def print_remarks(results, rounds):
    print(f"\nRounds: {rounds}; the values are medians (memory and restarts are measured once). "
          "Ratios above 1 mean that Revenant is better.")
    if any(not line.get("ok") for lines in results.lines.values() for line in lines):
        print("* in some rounds the case failed; these rounds are left out of the median.")
    print_noise(results)
    for case, broker, error in results.failures():
        print(f"FAILED {case} on {broker}: {error}")


def print_noise(results):
    limit = 0.25
    disturbed, all_lines = results.disturbed(limit)
    if disturbed:
        worst = max(line["other_cores"] for line in disturbed)
        print(f"In {len(disturbed)} of {len(all_lines)} runs other programs kept more than {limit} cores busy "
              f"(up to {worst:.1f}): rates and latencies are below what a quiet machine gives.")


def verdict(results, budget):
    lines = results.of(budget.case, "Revenant")
    value = results.median(budget.case, "Revenant", budget.key)
    if not lines:
        return "-", "not run"
    if value is None:
        return "-", "failed"
    met = value >= budget.goal if budget.at_least else value <= budget.goal
    shown = f"{number(value)} {budget.unit}"
    if budget.also_zero:
        worst = max(line.get(budget.also_zero, 0) for line in lines)
        shown += f", {budget.also_zero} {number(worst)}"
        met = met and worst == 0
    return shown, "met" if met else "missed"


def print_budgets(results):
    rows = []
    for budget in BUDGETS:
        goal = f"{'≥' if budget.at_least else '≤'} {number(budget.goal)} {budget.unit}"
        rows.append([budget.work, goal, *verdict(results, budget)])
    print("\nBudgets of Revenant (µs: broker CPU per message, kernel included)\n")
    print_table(["work", "goal", "measured", "verdict"], rows, 1)
