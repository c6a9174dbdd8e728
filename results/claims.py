"""Plays and measures the claims in claims.toml, and writes seeds.md and evaluations.md beside this file.

claims-games.json keeps the result of each run, so that continuing and reporting need no store.
"""

import argparse
import difflib
import fcntl
import functools
import itertools
import json
import resource
import shutil
import statistics
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from claims_measure import STUDIES, measure, measured

HERE = Path(__file__).resolve().parent
PLAN = HERE / "claims.toml"
GAMES = HERE / "claims-games.json"


class Arbiter:
    """The program, the store, and how deep benches of the searches are."""

    def __init__(self, program, store, benches):
        self.program, self.store, self.benches = program, str(store), benches

    def run(self, *words):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([self.program, *words], **pipes) as process:
            try:
                said = process.communicate()
            except KeyboardInterrupt:
                # The program hears it, too, and brings its games to disk.
                process.communicate()
                raise
        return subprocess.CompletedProcess(words, process.returncode, *said)

    def report(self, run):
        """What became of a run, or nothing if there is none or it has not ended."""
        found = self.run("report", run, "--results", self.store, "--format", "json")
        document = json.loads(found.stdout) if found.returncode == 0 else {}
        return document if document.get("ending") == "complete" else None

    @functools.cache
    def version(self):
        return self.run("--version").stdout.strip()

    def estimate(self, pairs):
        """Elo of pairs by their points, LL to WW."""
        counts = ",".join(map(str, pairs))
        found = self.run("stats", "sprt", "--counts", counts, "--format", "json")
        return json.loads(found.stdout)

    @functools.cache
    def bench(self, options, depth):
        """Nodes of a bench with these options."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen([self.program, "engine"], **pipes) as engine:
            settings = [f"setoption name {key} value {value}" for key, value in options]
            print(*settings, f"bench {depth}", sep="\n", file=engine.stdin, flush=True)
            nodes = next(line for line in engine.stdout if "Nodes searched" in line)
        return int(nodes.split()[-1])

    def signature(self, player):
        """What tells whether a player still searches and judges alike: a short bench of it, and a longer one of
        its search. Other engines than Palimpsest are known by their names alone."""
        if "cmd" in player:
            return player["cmd"]
        options = tuple((key, player[key]) for key in player if key != "name")
        search = player.get("Personality", "palimpsest")
        own = (("Personality", search), ("Eval", search))
        return [self.bench(options, 3), self.bench(own, self.benches[search])]


def runs_on_record():
    """What became of the runs, by their names."""
    try:
        return json.loads(GAMES.read_text()) if GAMES.exists() else {}
    except ValueError as error:
        sys.exit(f"{GAMES}: {error}; restore the last committed file (git checkout)")


def put_on_record(name, record):
    """Adds a run to the file, a line each. Others may do so at the same time."""
    with PLAN.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        runs = runs_on_record()
        before = runs.get(name, {"cpu": 0})
        if {**before, "cpu": 0} == {**record, "cpu": 0}:
            # The run was there already, and cost nothing now.
            record["cpu"] = max(record["cpu"], before["cpu"])
        runs[name] = record
        lines = [f"{json.dumps(key)}: {json.dumps(runs[key], sort_keys=True)}" for key in sorted(runs)]
        whole = GAMES.with_suffix(".new")
        whole.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        whole.replace(GAMES)


def record_of(found, arbiter, players, cpu):
    """What is kept of a run that has ended."""
    record = {"bench": list(map(arbiter.signature, players)), "cpu": round(cpu, 1), "version": arbiter.version()}
    if tournament := found.get("tournament"):
        keys = ["engine", "wins", "draws", "losses", "elo", "elo_low", "elo_high"]
        short = lambda value: round(value, 2) if isinstance(value, float) else value
        record["standings"] = [{key: short(row[key]) for key in keys} for row in tournament["standings"]]
    else:
        record["pairs"] = found["pentanomial"]
    return record


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
        words += ["--openings", f"start={1 + sum(self.blocks[:block])}"]
        return ["match", *words, "--name", self.run_name(block), "--about", self.claim["hypothesis"]]

    def players(self):
        return [self.claim["first"], self.claim["second"]]

    def kind(self):
        """What the players differ in."""
        first, second = self.players()
        keys = {key for key in first | second if first.get(key) != second.get(key)} - {"name"}
        return {frozenset(["Disable"]): "ablation", frozenset(["Enable"]): "experiment"}.get(frozenset(keys), "race")

    def read(self, arbiter, runs):
        """The blocks that are there, together."""
        names = [self.run_name(block) for block in range(len(self.blocks))]
        found = list(itertools.takewhile(bool, map(runs.get, names)))
        self.done, self.found = len(found), found
        self.pairs = [sum(run["pairs"][n] for run in found) for n in range(5)]
        self.figures = arbiter.estimate(self.pairs) if self.done else None
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
        if not self.done:
            return "not yet played"
        if self.pairs[2] == sum(self.pairs):
            return "supported: all pairs are level" if self.expects_equal() else "no difference: all pairs are level"
        if self.sign():
            supported = not self.expects_equal() and self.sign() > 0
            return "**supported**" if supported else "**contradicted**"
        if self.is_decided():
            return "no difference found" + (", as claimed" if self.expects_equal() else "")
        return "undecided"

    def expects_equal(self):
        return self.claim.get("expected") == "equal"


def tests_of(plan):
    usual = [limit for limit, settings in plan["limits"].items() if not settings.get("named")]
    for claim in claims_of(plan):
        for limit in claim.get("limits", usual):
            yield Test(plan, claim, limit)


class Rating:
    """A round robin at one limit."""

    def __init__(self, plan, rating, limit):
        self.rating, self.limit, self.set = rating, limit, rating["limits"][limit]
        self.each = f"{self.set},{plan['each']}"
        self.clock = self.set.startswith("tc=")

    def run_name(self):
        return f"rating-{self.rating['id']}-{self.set.replace('=', '-').replace('+', '-')}"

    def players(self):
        return self.rating["players"]

    def command(self):
        words = [player(options) for options in self.rating["players"]]
        words += ["--each", self.each, "--pairs", str(self.rating["pairs"])]
        return ["tournament", "round-robin", *words, "--name", self.run_name(), "--about", self.rating["title"]]


def ratings_of(plan):
    return [Rating(plan, rating, limit) for rating in plan["rating"] for limit in rating["limits"]]


def limits_of(plan):
    return list(dict.fromkeys([*plan["limits"], *(one.limit for one in ratings_of(plan))]))


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Plays:
    """Plays what is not decided, and knows which runs failed."""

    def __init__(self, arbiter, plan, arguments):
        self.arbiter, self.plan, self.arguments = arbiter, plan, arguments
        self.runs = {} if arguments.again else runs_on_record()
        self.deadline = time.monotonic() + 60 * arguments.minutes if arguments.minutes else None
        self.played, self.failed = [], []

    def is_chosen(self, about, limit, clock):
        ids, limits = self.arguments.id, self.arguments.limit
        named = not ids or about["id"] in ids
        return named and (limit in limits if limits else self.arguments.clock or not clock)

    def all(self):
        """First blocks of all tests of a limit before second blocks of any."""
        ratings = ratings_of(self.plan)
        for limit in limits_of(self.plan):
            for rating in (one for one in ratings if one.limit == limit):
                if self.is_chosen(rating.rating, limit, rating.clock) and rating.run_name() not in self.runs:
                    self.carry_out(rating.command(), rating.players(), rating.clock)
            for block in range(min(len(self.plan["blocks"]), self.arguments.blocks or sys.maxsize)):
                for test in (one for one in tests_of(self.plan) if one.limit == limit):
                    clock = test.settings.get("clock", False)
                    if not self.is_chosen(test.claim, limit, clock):
                        continue
                    if test.read(self.arbiter, self.runs).done == block and not test.is_decided():
                        self.carry_out(test.command(block), test.players(), clock)

    def carry_out(self, command, players, clock):
        if self.deadline and time.monotonic() > self.deadline:
            sys.exit("time limit reached; run the same command again to continue")
        # Games by the clock have the machine to themselves.
        concurrency = 1 if clock else self.arguments.concurrency
        words = [*command, "--concurrency", str(concurrency), "--results", self.arbiter.store]
        name = command[command.index("--name") + 1]
        print(name, flush=True)
        before = cpu_of_children()
        done = self.arbiter.run(*words, "--resume-or-start")
        found = self.arbiter.report(name)
        # What the store has by that name may be another run, which the program refuses to go on with.
        if done.returncode != 0 or not found:
            print(f"{done.stdout}{done.stderr}\nexit code {done.returncode}", flush=True)
            self.failed.append(name)
            return
        self.runs[name] = record_of(found, self.arbiter, players, cpu_of_children() - before)
        put_on_record(name, self.runs[name])
        self.played.append(name)


def elo(figures, low="elo_low", high="elo_high", centre="elo"):
    bound = lambda key: "open" if figures[key] is None else f"{figures[key]:+.1f}"
    if figures[low] is None and figures[high] is None:
        return f"{bound(centre)}, no interval"
    return f"{bound(centre)} [{bound(low)}, {bound(high)}]"


def options_of(side):
    shown = [f"{key} {value}" for key, value in side.items() if key not in ("name", "cmd", "args")]
    return f"{side['name']} ({'; '.join(shown)})".replace(",", ", ")


VERDICT_KINDS = ["supported", "contradicted", "no difference", "undecided", "not yet played"]


def summary(plan, tests):
    """Verdicts counted by limit, and where games contradict the documents most."""
    lines = [f"| limit | {' | '.join(VERDICT_KINDS)} | games | games left, at most | CPU hours for them |", "|---|" + "--:|" * 8]
    for limit in plan["limits"]:
        here = [test for test in tests if test.limit == limit]
        counts = [sum(test.verdict().strip("*").startswith(kind) for test in here) for kind in VERDICT_KINDS]
        games = sum(2 * sum(test.pairs) for test in here)
        left = sum(test.games_left() for test in here if not test.is_decided())
        hours = left * plan["limits"][limit]["cpu"] / 3600
        lines.append(f"| {limit} | {' | '.join(map(str, counts))} | {games:,} | {left:,} | {hours:.1f} |")
    against = [test for test in tests if "contradicted" in test.verdict()]
    margin = lambda test: min(abs(test.figures[key] or test.figures["elo"]) for key in ("elo_low", "elo_high"))
    worst = {}
    for test in sorted(against, key=margin, reverse=True):
        worst.setdefault(test.claim["id"], test)
    if worst:
        lines += ["", "Strongest contradictions, sorted by the end of the interval nearest to zero:", ""]
    for test in list(worst.values())[:3]:
        name = plan["programs"][test.claim["program"]]["name"]
        lines.append(f"- {name}: {test.claim['hypothesis']} {test.limit}: {elo(test.figures)} Elo.")
    return lines


def is_old(arbiter, record, players):
    """Whether a run is of players that search or judge otherwise today."""
    return record["bench"] != list(map(arbiter.signature, players))


def seeds(arbiter, plan, runs):
    """The table of claims."""
    tests = [test.read(arbiter, runs) for test in tests_of(plan)]
    played = [test for test in tests if test.done]
    games = sum(2 * sum(test.pairs) for test in played)
    told = [test for test in played if test.sign()]
    versions = ", ".join(sorted({run["version"] for test in played for run in test.found}))
    hours = sum(run["cpu"] for run in runs.values()) / 3600
    blocks = plan["blocks"]
    looks = " and ".join(f"{2 * sum(blocks[: n + 1]):,}" for n in range(len(blocks)))
    lines = [
        "# Claims of the documents, tested in games",
        "",
        "`python3 results/claims.py report` writes this page from `results/claims-games.json`. `results/claims.toml` is the",
        "plan. `python3 results/claims.py play --clock` continues undecided tests; with `--again` it plays all tests again.",
        "",
        f"{len(list(claims_of(plan)))} claims in {len(tests)} tests, each of one claim at one limit. {len(played)} tests have games, {games:,} in total, and {len(told)}",
        f"show a difference. {len(plan['measure'])} more claims are measured; they are below the tables. CPU time, including the ratings: at",
        f"least {hours:.1f} hours (of an interrupted run, only the last part is counted).",
        "",
        *summary(plan, tests),
        "",
        "Tests: in an *ablation* the second player lacks a feature (`Disable`); in an *experiment* one player has a change",
        "(`Enable`); any other test is a *race*. *Measured* claims are below the table of their program. Where a",
        "document states no hypothesis, the hypothesis is ours.",
        "",
        "Elo is that of the first player against the second, with its 95 % interval. The unit of evidence is the pair of",
        f"games from one opening. Each test is analysed after {looks} games, each time with new openings, with a {100 - 5 / len(blocks):.1f} %",
        "interval, so that the error probability of both analyses together is at most 5 %. Therefore a test whose 95 %",
        f"interval barely excludes zero is still undecided. About {0.05 * len(played):.0f} of {len(played)} tests may be wrong, and effects found at the",
        "first analysis are probably too large. Undecided tests may play the remaining games; they",
        "use all 1,000 openings of the bundled book of that time.",
        "",
        "Palimpsest plays with one thread and 4 MiB, or 16 MiB against GNU Chess. Timed games were played one at a time on",
        "an otherwise idle processor; games against GNU Chess, which uses a processor while it waits, on two.",
        "",
        f"Players: the engine of {versions}. Each run is stored with a bench of its players to depth 3 and a deeper bench of",
        "their search. Figures with † include games of players whose benches differ today. They are valid for the players at",
        "that time; `play --again` repeats these games in a store without the old games.",
    ]
    for program, about in plan["programs"].items():
        lines += ["", f"## {about['name']}", "", f"Document: {about['document']}.", ""]
        lines += ["| claim, *hypothesis*, `id` | test | limit | games | Elo | verdict |", "|---|---|---|--:|---|---|"]
        before = None
        for test in (test for test in tests if test.claim["program"] == program):
            claim, first = test.claim, test.claim is not before
            before = claim
            said = [f"{claim['says']} *{claim['hypothesis']}* `{claim['id']}`", test.kind()] if first else ["", ""]
            figures = elo(test.figures) if test.done else ""
            figures += " †" * any(is_old(arbiter, run, test.players()) for run in test.found)
            count = f"{2 * sum(test.pairs):,}" if test.done else "0"
            lines.append(f"| {' | '.join(said)} | {test.limit} | {count} | {figures} | {test.verdict()} |")
        lines += measured(arbiter, plan, program)
    lines += ["", "## The players", "", "| id | first | second |", "|---|---|---|"]
    for claim in claims_of(plan):
        lines.append(f"| `{claim['id']}` | {options_of(claim['first'])} | {options_of(claim['second'])} |")
    return "\n".join(lines) + "\n"


def evaluations(arbiter, plan, runs):
    """The ratings."""
    lines = [
        "# Ratings of evaluations and searches",
        "",
        "`python3 results/claims.py report` writes this page from round robins that `python3 results/claims.py play` plays.",
        "Ratings are from all games of a table, around a mean of 0, with 95 % intervals. Tables with † include players whose",
        "search or evaluation is different today.",
    ]
    for rating in ratings_of(plan):
        found = runs.get(rating.run_name())
        old = " †" * bool(found and is_old(arbiter, found, rating.players()))
        lines += ["", f"## {rating.rating['title']}: {rating.limit}{old}", ""]
        if not found:
            players = len(rating.rating["players"])
            games = players * (players - 1) * rating.rating["pairs"]
            lines.append(f"Not yet played: {games:,} games.")
            continue
        lines += standings(found)
    table = subprocess.run([STUDIES, "topics", "--markdown"], text=True, capture_output=True, check=True).stdout.strip()
    origin = "From `cargo run --release -p palimpsest --example studies -- topics --markdown`."
    lines += ["", "## Knowledge in each evaluation", "", origin, "", table]
    return "\n".join(lines) + "\n"


def standings(found):
    lines = ["| rank | player | Elo | games | won | drawn | lost | draw rate |", "|--:|---|---|--:|--:|--:|--:|--:|"]
    for rank, row in enumerate(found["standings"], 1):
        won, drawn, lost = row["wins"], row["draws"], row["losses"]
        figures = elo(row)
        games = won + drawn + lost
        lines.append(
            f"| {rank} | {row['engine']} | {figures} | {games:,} | {won} | {drawn} | {lost} | {100 * drawn / games:.1f} % |"
        )
    return lines


def report(arbiter, plan):
    runs = runs_on_record()
    if not any(test.run_name(0) in runs for test in tests_of(plan)):
        sys.exit(f"{GAMES} contains no run of the plan: reports are unchanged; use 'play' first")
    (HERE / "seeds.md").write_text(seeds(arbiter, plan, runs))
    (HERE / "evaluations.md").write_text(evaluations(arbiter, plan, runs))


def positive(kind):
    def parse(text):
        if not (value := kind(text)) > 0:
            raise ValueError
        return value

    parse.__name__ = "number above 0"
    return parse


def arguments_of(plan):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["play", "measure", "report"])
    parser.add_argument("--arbiter", default="arbiter", help="program [default: arbiter]")
    parser.add_argument("--results", default=HERE, help="folder of the store only [default: results]")
    parser.add_argument(
        "--concurrency", type=positive(int), default=2, help="concurrency; timed games are played one at a time [default: 2]"
    )
    parser.add_argument(
        "--clock", action="store_true", help="also play timed games; needs an idle machine"
    )
    parser.add_argument(
        "--again", action="store_true", help="also repeat recorded runs; requires --results with a folder without these runs"
    )
    parser.add_argument("--limit", action="append", help="only this limit (a name in claims.toml); may be repeated")
    parser.add_argument("--blocks", type=positive(int), help="maximum number of blocks")
    parser.add_argument(
        "--id", action="append", help="only claims and round robins whose id is, or begins with, this text"
    )
    parser.add_argument("--minutes", type=positive(float), help="start no run after this many minutes")
    arguments = parser.parse_args()
    ids = [one["id"] for one in [*claims_of(plan), *plan["rating"]]]
    for limit in arguments.limit or []:
        if limit not in limits_of(plan):
            parser.error(f"no limit {limit!r}; there are {', '.join(limits_of(plan))}")
    for start in arguments.id or []:
        if not any(name.startswith(start) for name in ids):
            near = difflib.get_close_matches(start, ids, 3) or ids
            parser.error(f"no id begins with {start!r}; there are {', '.join(near)}")
    arguments.id = {
        name for start in arguments.id or [] for name in ids if name == start or start not in ids and name.startswith(start)
    }
    if not shutil.which(arguments.arbiter):
        parser.error(f"program {arguments.arbiter} not found; use --arbiter to name it")
    return arguments


def main():
    plan = tomllib.loads(PLAN.read_text())
    arguments = arguments_of(plan)
    arbiter = Arbiter(arguments.arbiter, arguments.results, plan["benches"])
    if arguments.task == "play":
        plays = Plays(arbiter, plan, arguments)
        try:
            plays.all()
        except KeyboardInterrupt:
            plays.failed.append("an interrupted run; run the same command again to continue")
        finally:
            if plays.played:
                report(arbiter, plan)
        if plays.failed:
            sys.exit(f"not on record: {', '.join(plays.failed)}")
        if not plays.played:
            print("nothing to play: all selected tests are recorded and decided")
        return
    if arguments.task == "measure":
        measure(arbiter, plan)
    report(arbiter, plan)


if __name__ == "__main__":
    main()
