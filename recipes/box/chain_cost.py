"""What the stages of a chain cost: `cost.json`, written after each of them, and the table of it.

python recipes/box/chain_cost.py runs/general/cost.json                        as Markdown
python recipes/box/chain_cost.py runs/general/cost.json --docs docs/bundled-models.md   between two marks of that page
"""

from __future__ import annotations

import argparse
import json
import re
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from regard.files import write_atomically
from regard.report.table import Table

MARKS = ("<!-- the cost of the chain -->", "<!-- end of the cost -->")


@dataclass
class StageCost:
    """One stage, or one of several runs of it."""

    stage: str
    device: str
    started: str = field(default_factory=lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    seconds: float = 0.0  # from start to end, everything counted
    planned: float = 0.0  # seconds
    tokens: int = 0  # target tokens learnt from, or translated
    working: float = 0.0  # seconds of updates, or of searching
    flops: float = 0.0
    note: str = ""

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.working if self.working else 0.0


class CostLog:
    """The costs of a chain so far, also of earlier sessions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stages: list[StageCost] = []
        if path.is_file():
            self.stages = [StageCost(**row) for row in json.loads(path.read_text(encoding="utf-8"))["stages"]]

    def done(self, stage: str, run: str = "") -> bool:
        """Whether a stage is there; of a training, the one of this run."""
        return any(cost.stage == stage and cost.note.startswith(f"{run}:" if run else "") for cost in self.stages)

    def add(self, cost: StageCost) -> None:
        self.stages.append(cost)
        text = json.dumps({"stages": [asdict(one) for one in self.stages]}, indent=1)
        write_atomically(self.path, lambda path: path.write_text(text + "\n", encoding="utf-8"))

    def table(self) -> Table:
        rows = [
            [
                cost.stage,
                cost.device,
                f"{cost.seconds:,.0f} s",
                f"{cost.planned:,.0f} s",
                f"{cost.tokens / 1e6:,.1f} M" if cost.tokens else "–",
                f"{cost.tokens_per_second:,.0f}" if cost.tokens else "–",
                f"{cost.flops:.2g}" if cost.flops else "–",
                re.sub(r"(?<!\S)/\S*/", "", cost.note),  # of a place on some machine its name
            ]
            for cost in self.stages
        ]
        seconds, flops = sum(cost.seconds for cost in self.stages), sum(cost.flops for cost in self.stages)
        rows.append(["together", "", f"{seconds / 60:.1f} min", "", "", "", f"{flops:.2g}", ""])
        on_gpu = [cost for cost in self.stages if cost.device == "cuda"]
        if on_gpu:
            minutes, flops = sum(cost.seconds for cost in on_gpu) / 60, sum(cost.flops for cost in on_gpu)
            rows.append(["on the GPU", "", f"{minutes:.1f} min", "", "", "", f"{flops:.2g}", ""])
        header = ["stage", "device", "took", "planned", "target tokens", "tokens/s", "FLOPs", ""]
        return Table(header, rows, left=(0, 1, 7))


def put_between(page: str, table: str) -> str:
    """The page with what stands between the marks replaced.

    >>> put_between(f"a\\n{MARKS[0]}\\nold\\n{MARKS[1]}\\nb", "new").splitlines()[3]
    'new'
    """
    (before, first, rest), last = page.partition(MARKS[0]), MARKS[1]
    if last not in rest:
        raise SystemExit(f"the page must have the lines {MARKS[0]} and {MARKS[1]}, between which the table is put")
    return f"{before}{first}\n\n{table.strip()}\n\n{last}{rest.partition(last)[2]}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("cost", type=Path, help="cost.json of a chain")
    options.add_argument("--docs", type=Path, help="a page to put the table into")
    given = options.parse_args()
    if not given.cost.is_file():
        raise SystemExit(f"there is no {given.cost}; chain.py writes it into its --out")
    table = CostLog(given.cost).table().markdown()
    print(table)
    if given.docs:
        page = put_between(given.docs.read_text(encoding="utf-8"), table)
        write_atomically(given.docs, lambda path: path.write_text(page, encoding="utf-8"))


if __name__ == "__main__":
    main()
