"""What metrics and traces cost a fresh hit.

Traces have a setting, so a process without them and processes with them are measured side by side. Metrics are always
counted: their share, and that of the code of traces while these are off, is measured by where the CPU time of the
process without traces goes.
"""

import time

import servers
from collector import Collector
from generator import Generator
from process import BenchError
from report import Goal, median_text, ratios
from samples import Sampler
from sections.hit import PATH, WARM_UP_SECONDS, Contestant, fill, phone_requests, show_loads

EXPORT_SECONDS_MAX = 20
# Fewer samples say too little.
SAMPLES_MIN = 2_000
OVERHEAD_MAX = 1.05

# Code that counts for metrics, by file; the function that counts an immediate response reads the clock and the status.
METRIC_FILES = ("/LoopTally.swift", "/ServerCounters.swift")
METRIC_FUNCTIONS = ("noteImmediateResponse", "noteCounted", "addTally")
TRACE_FILES = ("/LoopTracing.swift", "/ServerSession+Tracing.swift")
TRACE_FOLDER = "/Sources/Traces/"


def run(bench):
    generator = Generator(bench.compiler, bench.folder)
    films = servers.Films(bench, "observing")
    collector = bench.enter(Collector())

    def larder(name, more=""):
        process = films.ready_larder(data=name, more_settings=more)
        fill(process)
        return process

    def traced(sample):
        return f"tracing: {{endpoint: '{collector.url}', sample: {sample}}}\n"

    def send(process, path, *, fields, **how):
        # Without a trace of their own, so that the setting decides which are recorded.
        requests = [_without_trace(one) for one in phone_requests(path, fields)]
        return generator.send(process, requests, **how)

    off = Contestant("no traces", larder("off"), PATH, load=send)
    again = Contestant("no traces, another process", larder("again"), PATH, load=send)
    sampled = Contestant("traces of 1 %", larder("sampled", traced(0.01)), PATH, load=send)
    every = Contestant("every trace", larder("every", traced(1)), PATH, load=send)
    contestants = [off, again, sampled, every]
    for contestant in contestants:
        contestant.run(WARM_UP_SECONDS)
    for turn in range(bench.rounds):
        first = turn % len(contestants)
        for contestant in contestants[first:] + contestants[:first]:
            contestant.loads.append(contestant.run(bench.seconds))
    _expect_spans(collector)
    report = bench.report
    report.line(
        f"Fresh hits by 64 keep-alive connections, {bench.rounds} rounds of {bench.seconds} s each in turn, medians. "
        "CPU is the server's own, the export of spans to a collector included."
    )
    show_loads(report, contestants)
    added = ratios(sampled.cpu, off.cpu)
    report.goals(
        [
            Goal("CPU a hit, traces of 1 % : none", added, digits=3),
            Goal("CPU a hit, every trace : none", ratios(every.cpu, off.cpu), digits=3),
            Goal("CPU a hit, none : none, for the noise", ratios(again.cpu, off.cpu), digits=3),
        ]
    )
    _show_shares(bench, off, added)


def _without_trace(message):
    lines = [line for line in message.split(b"\r\n") if not line.lower().startswith(b"traceparent:")]
    return b"\r\n".join(lines)


def _expect_spans(collector):
    deadline = time.monotonic() + EXPORT_SECONDS_MAX
    while collector.spans == 0:
        if time.monotonic() > deadline:
            raise BenchError("no span was exported")
        time.sleep(0.1)


def _show_shares(bench, off, added):
    missing = Sampler.missing()
    if missing:
        bench.report.line()
        bench.report.line(f"The share of metrics is not measured: {' and '.join(missing)} is missing here.")
        return
    sampler = Sampler(off.process, bench.larder, bench.folder, bench.seconds * 3)
    with sampler:
        while sampler.is_recording:
            off.run(bench.seconds)
    samples = sampler.samples()
    if samples.total < SAMPLES_MIN:
        raise BenchError(f"perf took only {samples.total} samples")
    counted = samples.count(_counts)
    # All readings of clocks, though not all are for metrics.
    metrics = (counted + samples.clock) / samples.total
    traces = samples.count(_traces) / samples.total
    if counted == 0:
        raise BenchError("no sample is in the code of metrics: the program has no debug information")
    bench.report.line()
    bench.report.line(
        f"Where the CPU time of hits without traces goes: {samples.total:,} samples, of which "
        f"{metrics:.2%} count for metrics or read a clock, and {traces:.2%} decide that nothing is traced."
    )
    # Of what a hit would take without either.
    without = 1 - metrics - traces
    bench.report.goals(
        [
            Goal("CPU a hit, metrics and traces of 1 % : neither", [one / without for one in added],
                 most=OVERHEAD_MAX, digits=3),
            Goal("share of a hit that traces take while they are off", [traces], most=0.01, digits=4),
        ]
    )


def _counts(function, file):
    return file.endswith(METRIC_FILES) or any(name in function for name in METRIC_FUNCTIONS)


def _traces(function, file):
    return (file.endswith(TRACE_FILES) or TRACE_FOLDER in file) and not _counts(function, file)
