"""Plays what claims.toml lists, measures, and reports it: seeds.md and evaluations.md beside this file."""

import argparse
import json
import statistics
import subprocess
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "claims-measured.json"


class Arbiter:
    """The program and the store."""

    def __init__(self, program, store):
        self.program, self.store = program, str(store)

    def run(self, *words, quiet=False):
        return subprocess.run([self.program, *words], text=True, capture_output=quiet)

    def report(self, run):
        """What became of a run, or nothing if there is none or it has not ended."""
        found = self.run("report", run, "--results", self.store, "--format", "json", quiet=True)
        document = json.loads(found.stdout) if found.returncode == 0 else {}
        return document if document.get("ending") == "complete" else None

    def estimate(self, pairs):
        """Elo of pairs by their points, LL to WW."""
        counts = ",".join(map(str, pairs))
        found = self.run("stats", "sprt", "--counts", counts, "--format", "json", quiet=True)
        return json.loads(found.stdout)


def player(options):
    """A player as the command line takes it."""
    keys = {"name", "cmd", "args"}
    words = [options.get("cmd", "bundled"), f"name={options['name']}"]
    words += [f"args={options['args']}"] if "args" in options else []
    for key, value in options.items():
        if key not in keys:
            words.append(f'"option.{key}={value}"')
    return ",".join(words)


def ladder(plan):
    """The steps of the ladder as claims, each with the steps after it switched off."""
    base = plan["ladder"]
    features = [step["feature"] for step in base["steps"]]
    for place, step in enumerate(base["steps"]):
        sides = {}
        for key, name, after in [("first", "with", place + 1), ("second", "without", place)]:
            off = ",".join(features[after:])
            sides[key] = {"name": name, **base["player"], **({"Disable": off} if off else {})}
        yield {
            "id": f"{base['id']}-{step['number']}",
            "program": base["program"],
            "says": base["says"],
            "hypothesis": base["hypothesis"].format(**step),
            **sides,
        }


def claims_of(plan):
    """All claims, those of the ladder before those of the next program."""
    steps = list(ladder(plan))
    for program in plan["programs"]:
        yield from (claim for claim in plan["claim"] if claim["program"] == program)
        yield from (claim for claim in steps if claim["program"] == program)


class Test:
    """One claim at one limit: its blocks, and what they say."""

    def __init__(self, plan, claim, limit):
        self.plan, self.claim, self.limit = plan, claim, limit
        self.settings = plan["limits"][limit]
        self.blocks = plan["blocks"]

    def run_name(self, block):
        label = self.settings["set"].replace("=", "-").replace("+", "-")
        return f"claim-{self.claim['id']}-{label}-{block + 1}"

    def command(self, block):
        words = [player(self.claim["first"]), player(self.claim["second"])]
        palimpsest = [side for side in ("first", "second") if "cmd" not in self.claim[side]]
        each = self.settings["set"]
        if len(palimpsest) == 2:
            each += f",{self.plan['each']}"
        words += ["--each", each, "--pairs", str(self.blocks[block])]
        words += ["--opening-start", str(1 + sum(self.blocks[:block]))]
        return ["match", *words, "--name", self.run_name(block), "--about", self.claim["hypothesis"]]

    def read(self, arbiter):
        """The blocks that are there, together."""
        self.done, pairs = 0, [0] * 5
        for block in range(len(self.blocks)):
            found = arbiter.report(self.run_name(block))
            if not found:
                break
            self.done, pairs = block + 1, [a + b for a, b in zip(pairs, found["pentanomial"])]
        self.pairs = pairs
        self.figures = arbiter.estimate(pairs) if self.done else None
        return self

    def sign(self):
        """1 or -1 if the games tell the players apart, else 0."""
        if not self.done:
            return 0
        if self.figures["nelo_low"] is None:
            # All pairs were alike, and there is no variance to make an interval of.
            return (self.figures["score"] > 0.5) - (self.figures["score"] < 0.5)
        centre = self.figures["nelo"]
        normal = statistics.NormalDist().inv_cdf
        wider = normal(1 - 0.025 / len(self.blocks)) / normal(0.975)
        half = wider * (self.figures["nelo_high"] - self.figures["nelo_low"]) / 2
        return 0 if abs(centre) <= half else (1 if centre > 0 else -1)

    def is_decided(self):
        level = self.done and self.pairs[2] == sum(self.pairs)
        return bool(level or self.sign()) or self.done == len(self.blocks)

    def games_left(self):
        return 2 * sum(self.blocks[self.done :])

    def verdict(self):
        budget = f"{self.games_left():,} games, {self.games_left() * self.settings['cpu'] / 3600:.1f} CPU hours"
        if not self.done:
            return f"not yet played; budget at most {budget}"
        if self.pairs[2] == sum(self.pairs):
            return "supported: every pair is level" if self.expects_equal() else "no difference: every pair is level"
        if self.sign():
            supported = not self.expects_equal() and self.sign() > 0
            return "**supported**" if supported else "**contradicted**"
        if self.is_decided():
            return "no difference told" + (", as claimed" if self.expects_equal() else "")
        return f"not told yet; at most {budget} more"

    def expects_equal(self):
        return self.claim.get("expected") == "equal"


def tests_of(plan):
    for claim in claims_of(plan):
        for limit in claim.get("limits", plan["limits"]):
            yield Test(plan, claim, limit)


class Rating:
    """A round robin at one limit."""

    def __init__(self, plan, rating, limit):
        self.rating, self.limit, self.set = rating, limit, rating["limits"][limit]
        self.each = f"{self.set},{plan['each']}"
        self.clock = self.set.startswith("tc=")

    def run_name(self):
        return f"rating-{self.rating['id']}-{self.set.replace('=', '-').replace('+', '-')}"

    def command(self):
        words = [player(options) for options in self.rating["players"]]
        words += ["--each", self.each, "--pairs", str(self.rating["pairs"])]
        return ["tournament", "round-robin", *words, "--name", self.run_name(), "--about", self.rating["title"]]


def ratings_of(plan):
    return [Rating(plan, rating, limit) for rating in plan["rating"] for limit in rating["limits"]]


def play(arbiter, plan, arguments):
    """Plays what is not decided: first blocks of all before second blocks of any."""
    deadline = time.monotonic() + 60 * arguments.minutes if arguments.minutes else None
    chosen = lambda limit, clock: limit in arguments.limit if arguments.limit else arguments.clock or not clock
    named = lambda one: not arguments.id or one["id"].startswith(tuple(arguments.id))

    played = []

    def carry_out(command):
        if deadline and time.monotonic() > deadline:
            sys.exit("the time is over; the same command goes on from here")
        words = [*command, "--concurrency", str(arguments.concurrency), "--results", arbiter.store]
        played.append(command[command.index("--name") + 1])
        print(played[-1], flush=True)
        done = arbiter.run(*words, "--resume-or-start", quiet=True)
        if done.returncode != 0:
            print(f"{done.stdout}{done.stderr}\nit ended with exit code {done.returncode}", flush=True)

    for limit in dict.fromkeys([*plan["limits"], *(one.limit for one in ratings_of(plan))]):
        for block in range(len(plan["blocks"])):
            if arguments.blocks and block >= arguments.blocks:
                continue
            if block == 0:
                for rating in ratings_of(plan):
                    if (
                        rating.limit == limit
                        and named(rating.rating)
                        and chosen(limit, rating.clock)
                        and not arbiter.report(rating.run_name())
                    ):
                        carry_out(rating.command())
            for test in tests_of(plan):
                if test.limit != limit or not named(test.claim) or not chosen(limit, test.settings.get("clock", False)):
                    continue
                if test.read(arbiter).done == block and not test.is_decided():
                    carry_out(test.command(block))
            if played:
                report(arbiter, plan)
                played.clear()


def elo(figures, low="elo_low", high="elo_high", centre="elo"):
    bound = lambda key: "open" if figures[key] is None else f"{figures[key]:+.1f}"
    if figures[low] is None and figures[high] is None:
        return f"{bound(centre)}, no interval"
    return f"{bound(centre)} [{bound(low)}, {bound(high)}]"


def options_of(side):
    shown = [f"{key} {value}" for key, value in side.items() if key not in ("name", "cmd", "args")]
    return f"{side['name']} ({'; '.join(shown)})".replace(",", ", ")


def seeds(arbiter, plan):
    """The table of claims."""
    tests = [test.read(arbiter) for test in tests_of(plan)]
    played = [test for test in tests if test.done]
    games = sum(2 * sum(test.pairs) for test in played)
    told = [test for test in played if test.sign()]
    blocks = plan["blocks"]
    looks = ", ".join(f"{2 * sum(blocks[: n + 1]):,}" for n in range(len(blocks)))
    lines = [
        "# What the documents claim, and what games say",
        "",
        "Written by `python3 results/claims.py report` from the runs in the store; `results/claims.toml` is the plan, and",
        "`python3 results/claims.py play --clock` plays what is missing.",
        "",
        f"{len(list(claims_of(plan)))} claims, {len(tests)} tests, of which {len(played)} have games: {games:,} in all. {len(told)} tell the players apart.",
        "",
        "Elo is that of the first player against the second, with its 95 % interval; the unit of evidence is the pair of",
        f"games from one opening. A verdict is given after {looks} games (another block of other openings), each time by an interval of",
        f"{100 - 5 / len(blocks):.2f} %, so that the looks at one test together err in at most one of twenty. Of {len(played)} tests about",
        f"{0.05 * len(played):.1f} may tell a difference that is none. All games are of Palimpsest with one thread and 4 MiB; those by a",
        "clock were played, where they were, with the machine to themselves.",
    ]
    for program, about in plan["programs"].items():
        lines += ["", f"## {about['name']}", "", f"Document: {about['document']}.", ""]
        lines += ["| claim | hypothesis | limit | games | Elo | verdict |", "|---|---|---|--:|---|---|"]
        before = None
        for test in (test for test in tests if test.claim["program"] == program):
            claim, first = test.claim, test.claim is not before
            before = claim
            said = [claim["says"], claim["hypothesis"]] if first else ["", ""]
            figures = elo(test.figures) if test.done else ""
            count = f"{2 * sum(test.pairs):,}" if test.done else "0"
            lines.append(f"| {' | '.join(said)} | {test.limit} | {count} | {figures} | {test.verdict()} |")
        lines += measured(plan, program)
    lines += ["", "## The players", "", "| hypothesis | first | second |", "|---|---|---|"]
    for claim in claims_of(plan):
        lines.append(f"| {claim['hypothesis']} | {options_of(claim['first'])} | {options_of(claim['second'])} |")
    return "\n".join(lines) + "\n"


def measured(plan, program):
    """Tables of what `claims.py measure` has found about a program."""
    found = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    lines = []
    for measure in (one for one in plan["measure"] if one["program"] == program):
        lines += ["", f"Measured: {measure['says']}", ""]
        lines += [
            "| what | stage | nodes | instructions a node | speed | table asked, a node | known |",
            "|---|---|--:|--:|--:|--:|--:|",
        ]
        for row in measure["rows"]:
            stages = found.get(row["words"], [])
            for stage in stages:
                asked = stage["asked"] / stage["nodes"]
                speed = stages[0]["cost"] / stage["cost"]
                known = 100 * stage["known"] / stage["asked"]
                lines.append(
                    f"| {row['name']} | {stage['stage']} | {stage['nodes']:,} | {stage['cost']:,.0f} | {speed:.2f} | {asked:.2f} | {known:.1f} % |"
                )
        rows = [found[row["words"]] for row in measure["rows"] if row["words"] in found]
        if len(rows) == len(measure["rows"]):
            holds, why = VERDICTS[measure["kind"]](measure, rows)
            lines += ["", f"Verdict: {'**supported**' if holds else '**contradicted**'}: {why}."]
    return lines


def judge_speeds(measure, rows):
    """Does the speed grow from stage to stage as claimed?"""
    speeds = [rows[0][0]["cost"] / stage["cost"] for stage in rows[0]]
    holds = all(abs(a / b - 1) <= measure["tolerance"] for a, b in zip(speeds, measure["speeds"]))
    return (
        holds,
        f"{' : '.join(f'{speed:.2f}' for speed in speeds)}, and within {100 * measure['tolerance']:.0f} % was asked for",
    )


def judge_table(measure, rows):
    """Does the table know more than half of what it is asked?"""
    shares = [stage["known"] / stage["asked"] for row in rows for stage in row]
    return min(shares) > 0.5, f"{100 * min(shares):.1f} to {100 * max(shares):.1f} % were known"


def judge_saving(measure, rows):
    """Do the second and fourth row take fewer instructions than the first and third?"""
    mean = lambda row, key: sum(stage[key] for stage in row) / sum(stage["nodes"] for stage in row)
    cost = lambda row: sum(stage["cost"] * stage["nodes"] for stage in row) / sum(stage["nodes"] for stage in row)
    said, holds = [], True
    for number in range(1, len(rows), 2):
        before, after = rows[number - 1], rows[number]
        asked, taken = mean(after, "asked") / mean(before, "asked") - 1, cost(after) / cost(before) - 1
        said.append(
            f"{measure['rows'][number]['name']}: {100 * asked:+.1f} % whole evaluations a node, {100 * taken:+.1f} % instructions a node"
        )
        holds = holds and taken <= -0.01
    return holds, "; ".join(said)


VERDICTS = {"speeds": judge_speeds, "table": judge_table, "saving": judge_saving}


def measure(arbiter, plan):
    """Searches by stage; the instructions that more nodes take, and how often the table of pawns knew the position."""
    found = {}
    few, many = plan["measures"]["nodes"]
    for words in dict.fromkeys(row["words"] for one in plan["measure"] for row in one["rows"]):
        found[words] = []
        for stage in ("opening", "middlegame", "endgame"):
            (least, before), (most, after) = (count(arbiter, words, stage, nodes) for nodes in (few, many))
            table = after["pawn_table"]
            found[words].append(
                {
                    "stage": stage,
                    "nodes": after["nodes"],
                    "cost": (most - least) / (after["nodes"] - before["nodes"]),
                    "asked": table["looked_up"],
                    "known": table["found"],
                }
            )
        MEASURED.write_text(json.dumps(found, indent=1) + "\n")


def count(arbiter, words, stage, nodes):
    """Instructions and figures of one bench."""
    command = [
        "valgrind",
        "--tool=cachegrind",
        "--cache-sim=no",
        "--cachegrind-out-file=/dev/null",
        arbiter.program,
        "engine",
    ]
    command += ["bench", "--stages", *words.split(), "--only", stage, "--nodes", str(nodes), "--json"]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    total = next(line for line in done.stderr.splitlines() if "I   refs" in line or "I refs" in line)
    return int(total.split()[-1].replace(",", "")), json.loads(done.stdout)


def evaluations(arbiter, plan):
    """The ratings."""
    lines = [
        "# Evaluations and searches rated",
        "",
        "Written by `python3 results/claims.py report` from round robins that `python3 results/claims.py play` plays. Ratings",
        "are of all games of a table together, around a mean of 0, with their 95 % interval.",
    ]
    for rating in ratings_of(plan):
        found = arbiter.report(rating.run_name())
        lines += ["", f"## {rating.rating['title']}: {rating.limit}", ""]
        if not found:
            players = len(rating.rating["players"])
            games = players * (players - 1) * rating.rating["pairs"]
            lines.append(f"Not yet played: {games:,} games.")
            continue
        lines += standings(found)
    table = arbiter.run("engine", "compare", "--all", "--markdown", quiet=True).stdout.strip()
    lines += ["", "## Which evaluation knows what", "", "From `palimpsest compare --all --markdown`.", "", table]
    return "\n".join(lines) + "\n"


def standings(found):
    lines = ["| rank | player | Elo | games | won | drawn | lost | draw rate |", "|--:|---|---|--:|--:|--:|--:|--:|"]
    for rank, row in enumerate(found["tournament"]["standings"], 1):
        won, drawn, lost = row["wins"], row["draws"], row["losses"]
        figures = elo(row)
        games = won + drawn + lost
        lines.append(
            f"| {rank} | {row['engine']} | {figures} | {games:,} | {won} | {drawn} | {lost} | {100 * drawn / games:.1f} % |"
        )
    return lines


def report(arbiter, plan):
    if not any(arbiter.report(test.run_name(0)) for test in tests_of(plan)):
        sys.exit(f"{arbiter.store} has no run of the plan: the reports stay as they are, 'play' plays the runs")
    (HERE / "seeds.md").write_text(seeds(arbiter, plan))
    (HERE / "evaluations.md").write_text(evaluations(arbiter, plan))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["play", "measure", "report"])
    parser.add_argument("--arbiter", default="arbiter", help="the program [default: arbiter]")
    parser.add_argument("--results", default=HERE, help="folder of the store [default: results]")
    parser.add_argument("--concurrency", type=int, default=2, help="games at once [default: 2]")
    parser.add_argument(
        "--clock", action="store_true", help="also the games by a clock, on a machine that does nothing else"
    )
    parser.add_argument("--limit", action="append", help="only these limits, by their names in claims.toml")
    parser.add_argument("--blocks", type=int, help="no block after this one")
    parser.add_argument(
        "--id", action="append", help="only claims and round robins whose ids begin so; may be repeated"
    )
    parser.add_argument("--minutes", type=float, help="begin nothing after so many minutes")
    arguments = parser.parse_args()
    plan = tomllib.loads((HERE / "claims.toml").read_text())
    arbiter = Arbiter(arguments.arbiter, arguments.results)
    try:
        if arguments.task == "play":
            play(arbiter, plan, arguments)
        if arguments.task == "measure":
            measure(arbiter, plan)
    finally:
        report(arbiter, plan)


if __name__ == "__main__":
    main()
