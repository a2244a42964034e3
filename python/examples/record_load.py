"""Records the load of this computer as a CSV file of bits over time, for csv_bits.py.

    python record_load.py load.csv --seconds 600

Ten times a second it reads /proc/stat (Linux) and writes a line of 0 and 1:

- for each processor, whether it was busy for more than half of the time since the previous line;
- whether a process was started;
- whether there were more interrupts than in the previous interval;
- whether a process waits for a disk.
"""

import argparse
import time
from typing import Dict, List


def counters() -> Dict[str, List[int]]:
    with open("/proc/stat", encoding="ascii") as file:
        lines = [line.split() for line in file]
    return {line[0]: [int(number) for number in line[1:]] for line in lines}


def bits(before: Dict[str, List[int]], now: Dict[str, List[int]], interrupts: int) -> List[int]:
    """Returns one line: the processors in order, then the other bits."""
    line = []
    for name in processors(now):
        spent = [b - a for a, b in zip(before[name], now[name])]
        idle = spent[3] + spent[4]
        line.append(int(2 * idle < sum(spent[:8])))
    line.append(int(now["processes"][0] > before["processes"][0]))
    line.append(int(now["intr"][0] - before["intr"][0] > interrupts))
    line.append(int(now["procs_blocked"][0] > 0))
    return line


def processors(of: Dict[str, List[int]]) -> List[str]:
    return [name for name in of if name.startswith("cpu") and name != "cpu"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--every", type=float, default=0.1, help="seconds between lines")
    asked = parser.parse_args()
    before, interrupts = counters(), 0
    with open(asked.csv, "w", encoding="ascii") as file:
        print(*processors(before), "begun", "more_interrupts", "blocked", sep=",", file=file)
        for _ in range(round(asked.seconds / asked.every)):
            time.sleep(asked.every)
            now = counters()
            print(*bits(before, now, interrupts), sep=",", file=file)
            interrupts = now["intr"][0] - before["intr"][0]
            before = now


if __name__ == "__main__":
    main()
