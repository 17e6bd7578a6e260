"""The tables that ./dev bench prints, from the results of all runs."""
import statistics
import unicodedata

from catalogue import BUDGETS, DRAINS, PAIRS


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

    def median_ratio(self, case, other, broker, key):
        """The ratio of two alternating cases: other load affects both runs of a round equally."""
        values = [{line["round"]: line[key] for line in self.of(name, broker) if line.get("ok") and line.get(key)}
                  for name in (case, other)]
        ratios = [value / values[1][round_number] for round_number, value in values[0].items()
                  if round_number in values[1]]
        return statistics.median(ratios) if ratios else None

    def failures(self):
        return [(case, broker, line["error"])
                for (case, broker), lines in self.lines.items() for line in lines if not line.get("ok")]

    @staticmethod
    def failure_word(lines):
        return "lost" if any(line.get("lost") for line in lines) else "failed"

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
    """Prints an aligned Markdown table that can be pasted into a document."""
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
        return results.failure_word(lines) if failed == len(lines) else number(value(broker, key)) + ("*" if failed else "")

    first, second = brokers
    ours, theirs = value(first, row.key), value(second, row.key)
    if not row.higher_is_better:
        ours, theirs = theirs, ours
    cpu = "cpu_us_per_message"
    return [row.label, row.unit, shown(first, row.key), shown(second, row.key), ratio(ours, theirs),
            number(value(first, cpu)), number(value(second, cpu)), ratio(value(second, cpu), value(first, cpu)),
            number(value(first, "peak_rss_mb")), number(value(second, "peak_rss_mb"))]


def print_comparison(results, cases):
    brokers = ("Revenant", "RabbitMQ")
    header = ["case", "unit", *brokers, "ratio", "CPU µs/msg Revenant", "CPU µs/msg RabbitMQ", "msg per CPU s, ratio",
              "peak RSS MB Revenant", "peak RSS MB RabbitMQ"]
    rows = [compare_row(results, case, row, brokers) for case in cases if not case.ours_alone for row in case.rows]
    if rows:
        print_table(header, rows, 2)


def print_protocols(results, cases):
    """Revenant over AMQP 0-9-1 and over AMQP 1.0."""
    chosen = [each for each in PAIRS if each.old in cases and each.new in cases]
    if not chosen:
        return
    rows = []
    for each in chosen:
        names, revenant = (each.old.name, each.new.name), "Revenant"
        ratio_of_cpu = results.median_ratio(each.new.name, each.old.name, revenant, "cpu_us_per_message")
        rows.append([each.work, *[number(results.median(name, revenant, "messages_per_second")) for name in names],
                     *[number(results.median(name, revenant, "cpu_us_per_message")) for name in names],
                     f"{ratio_of_cpu:.2f}" if ratio_of_cpu else "-"])
    print("\nRevenant over its two protocols, every message settled by itself\n")
    print_table(["work", "msg/s 0-9-1", "msg/s 1.0", "CPU µs/msg 0-9-1", "CPU µs/msg 1.0", "CPU 1.0 / 0-9-1"], rows)


def print_drains(results, cases):
    """A dead-letter queue compared with a live backlog in the same run."""
    rows = []
    for each in DRAINS:
        if each.case not in cases:
            continue
        values = [results.median(each.case.name, "Revenant", key)
                  for key in ("cpu_us_per_message", "live_cpu_us_per_message", "drain_to_live", "wire_bytes_per_message",
                              "as_long_cpu_us_per_message", "drain_to_as_long")]
        rows.append([each.work, *[number(value) for value in values]])
    if rows:
        print("\nRevenant empties a dead-letter queue\n")
        print_table(["deaths in the history", "CPU µs/msg", "of a live backlog", "dead / live", "bytes on the wire",
                     "CPU µs/msg of live as long", "dead / live as long"], rows)


def print_remarks(results, rounds):
    print(f"\nRounds: {rounds}; the values are medians (memory, disk and restarts are measured once). "
          "Ratios above 1 mean that Revenant is better.")
    if any(not line.get("ok") for lines in results.lines.values() for line in lines):
        print("* in some rounds the case failed; these rounds are left out of the median.")
    print_reductions(results)
    print_unsaved(results)
    print_noise(results)
    for case, broker, error in results.failures():
        print(f"FAILED {case} on {broker}: {error}")


def print_reductions(results):
    shares = {line.get("share", 1) for lines in results.lines.values() for line in lines} - {1}
    if shares:
        print(f"Only {min(shares):.0%} of the messages were used, also where a label gives their number.")


def print_unsaved(results):
    for (case, broker), lines in results.lines.items():
        worst = max(line.get("unsaved_mb", 0) for line in lines)
        if worst > 0:
            print(f"{case} on {broker}: {number(worst)} MB of persistent messages were not in the data directory.")


def print_noise(results):
    limit = 0.25
    disturbed, all_lines = results.disturbed(limit)
    if disturbed:
        worst = max(line["other_cores"] for line in disturbed)
        print(f"In {len(disturbed)} of {len(all_lines)} runs other programs kept more than {limit} cores busy "
              f"(up to {worst:.1f}): rates and latencies are below what a quiet machine gives.")
    for (case, broker), lines in results.lines.items():
        for line in lines:
            if "background_mb_per_second" in line:
                print(f"{case} on {broker}: others wrote {number(line['background_mb_per_second'])} MB/s to the device "
                      f"before it; the deaths took {number(line['seconds'])} s.")


def measured(results, budget):
    """The value to compare with the goal, or None."""
    if budget.versus:
        return results.median_ratio(budget.case, budget.versus, "Revenant", budget.key)
    ours = results.median(budget.case, "Revenant", budget.key)
    if not budget.ratio or ours is None:
        return ours
    theirs = results.median(budget.case, "RabbitMQ", budget.key)
    return ours / theirs if theirs else None


def verdict(results, budget):
    lines = results.of(budget.case, "Revenant")
    if not lines:
        return "-", "not run"
    if all(not line.get("ok") for line in lines):
        return "-", results.failure_word(lines)
    value = measured(results, budget)
    if value is None:
        return "-", "nothing to compare with" if budget.ratio or budget.versus else "not measured"
    met = value >= budget.goal if budget.at_least else value <= budget.goal
    shown = f"{number(value)} {unit_of(budget)}"
    if budget.also_zero:
        worst = max(line.get(budget.also_zero, 0) for line in lines)
        shown += f", {budget.also_zero} {number(worst)}"
        met = met and worst == 0
    if budget.whole and any(line.get("share", 1) != 1 for line in lines):
        return shown, "reduced size"
    return shown, "met" if met else "missed"


def unit_of(budget):
    return "x RabbitMQ" if budget.ratio else budget.unit


def print_budgets(results):
    rows = []
    for budget in BUDGETS:
        goal = f"{'≥' if budget.at_least else '≤'} {number(budget.goal)} {unit_of(budget)}"
        rows.append([budget.work, goal, *verdict(results, budget)])
    print("\nBudgets of Revenant (µs: broker CPU per message, kernel included; unsaved: confirmed, but not in the data "
          "directory)\n")
    print_table(["work", "goal", "measured", "verdict"], rows, 1)
