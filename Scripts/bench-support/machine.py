"""The machine of the measurement: without it the figures mean little."""

import os
import platform


def description(larder):
    cores = len(os.sched_getaffinity(0))
    lines = [
        f"{_model()}, {cores} cores for this process, Linux {platform.release()}",
        f"load average at the start {os.getloadavg()[0]:.1f}; what else ran shares these cores, so "
        "only ratios of one run mean something",
    ]
    if larder:
        lines.append(f"Larder's program has {os.path.getsize(larder) / 1e6:.1f} MB")
    return lines


def _model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
