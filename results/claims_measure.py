"""Measures what claims.toml lists: instructions by stage of the game, and hits of tables; and judges it."""

import json
import subprocess
from pathlib import Path

MEASURED = Path(__file__).resolve().parent / "claims-measured.json"

# Tools for studies of the engine: cargo build --release -p palimpsest --example studies
STUDIES = Path(__file__).resolve().parent.parent / "target/release/examples/studies"


# Options of the engine, as its bench has them.
OPTIONS = {"--personality": "Personality", "--variant": "Eval", "--disable": "Disable", "--enable": "Enable"}


def bench_of(arbiter, words):
    """What tells whether the player still searches and judges alike."""
    words = words.split()
    return arbiter.signature({OPTIONS[key]: value for key, value in zip(words[::2], words[1::2])})


def measured(arbiter, plan, program):
    """Tables of what `claims.py measure` has found about a program; † marks what another player did."""
    found = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    lines, shown = [], set()
    for measure in (one for one in plan["measure"] if one["program"] == program):
        lines += ["", f"Measured: {measure['says']}", ""]
        if not shown >= {row["words"] for row in measure["rows"]}:
            lines += table(arbiter, found, measure["rows"])
        shown |= {row["words"] for row in measure["rows"]}
        rows = [found[row["words"]]["stages"] for row in measure["rows"] if row["words"] in found]
        if len(rows) == len(measure["rows"]):
            holds, why = VERDICTS[measure["kind"]](measure, rows)
            lines.append(f"Verdict: {'**supported**' if holds else '**contradicted**'}: {why}.")
    return lines


def table(arbiter, found, rows):
    lines = ["| what | stage | nodes | instructions per node | speed | table probes per node | hits |", "|---|---|--:|--:|--:|--:|--:|"]
    for row in rows:
        stages = found.get(row["words"], {"stages": []})["stages"]
        old = " †" * bool(stages and found[row["words"]]["bench"] != bench_of(arbiter, row["words"]))
        for stage in stages:
            asked = stage["asked"] / stage["nodes"]
            speed = stages[0]["cost"] / stage["cost"]
            known = 100 * stage["known"] / stage["asked"]
            lines.append(
                f"| {row['name']}{old} | {stage['stage']} | {stage['nodes']:,} | {stage['cost']:,.0f} | {speed:.2f} | {asked:.2f} | {known:.1f} % |"
            )
    return [*lines, ""]


def judge_speeds(measure, rows):
    """Does the speed grow from stage to stage as claimed?"""
    speeds = [rows[0][0]["cost"] / stage["cost"] for stage in rows[0]]
    holds = all(abs(a / b - 1) <= measure["tolerance"] for a, b in zip(speeds, measure["speeds"]))
    return (
        holds,
        f"{' : '.join(f'{speed:.2f}' for speed in speeds)}; required: within {100 * measure['tolerance']:.0f} %",
    )


def judge_table(measure, rows):
    """Are more than half of the probes hits?"""
    shares = [stage["known"] / stage["asked"] for row in rows for stage in row]
    return min(shares) > 0.5, f"{100 * min(shares):.1f} to {100 * max(shares):.1f} % of the probes are hits"


def judge_saving(measure, rows):
    """Do the second and fourth row take fewer instructions than the first and third?"""
    mean = lambda row, key: sum(stage[key] for stage in row) / sum(stage["nodes"] for stage in row)
    cost = lambda row: sum(stage["cost"] * stage["nodes"] for stage in row) / sum(stage["nodes"] for stage in row)
    said, holds = [], True
    for number in range(1, len(rows), 2):
        before, after = rows[number - 1], rows[number]
        asked, taken = mean(after, "asked") / mean(before, "asked") - 1, cost(after) / cost(before) - 1
        said.append(
            f"{measure['rows'][number]['name']}: {100 * asked:+.1f} % table probes, and so complete evaluations, per node, {100 * taken:+.1f} % instructions per node"
        )
        holds = holds and taken <= -0.01
    return holds, "; ".join(said) + "; required: 1 % fewer instructions"


VERDICTS = {"speeds": judge_speeds, "table": judge_table, "saving": judge_saving}


def measure(arbiter, plan):
    """Searches by stage; the instructions that more nodes take, and the hits of the pawn hash table."""
    found = {}
    few, many = plan["measures"]["nodes"]
    for words in dict.fromkeys(row["words"] for one in plan["measure"] for row in one["rows"]):
        stages = []
        for stage in ("opening", "middlegame", "endgame"):
            (least, before), (most, after) = (count(words, stage, nodes) for nodes in (few, many))
            table = after["pawn_table"]
            stages.append(
                {
                    "stage": stage,
                    "nodes": after["nodes"],
                    "cost": (most - least) / (after["nodes"] - before["nodes"]),
                    "asked": table["looked_up"],
                    "known": table["found"],
                }
            )
        found[words] = {"bench": bench_of(arbiter, words), "stages": stages}
        MEASURED.write_text(json.dumps(found, indent=1) + "\n")


def count(words, stage, nodes):
    """Instructions and figures of the searches of one stage."""
    command = [
        "valgrind",
        "--tool=cachegrind",
        "--cache-sim=no",
        "--cachegrind-out-file=/dev/null",
        STUDIES,
    ]
    command += ["stages", *words.split(), "--only", stage, "--nodes", str(nodes), "--json"]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    total = next(line for line in done.stderr.splitlines() if "I   refs" in line or "I refs" in line)
    return int(total.split()[-1].replace(",", "")), json.loads(done.stdout)
