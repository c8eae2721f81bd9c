#!/usr/bin/env python3
"""Builds the tests of the workspace and runs their programs side by side: what `make test` calls.

Each program runs in one of four lanes, which its package names in Cargo.toml (`[package.metadata.tests]`):

    compute    one program per processor, at idle priority (the default)
    real-time  waits for clocks, timers or sockets: one program at a time, at normal priority
    emulate    runs networks of processes in real time: one program at a time, at normal priority
    alone      needs the whole machine: runs after all others, one program at a time

A computing program gets only the processor time that the other two lanes leave over, so it delays no timer.

Last, each test of the lanes real-time, emulate and alone that failed runs once more, alone. If it passes then, the
runner prints it as flaky with the output of its failure, and the run does not fail because of it.
"""

import argparse
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMES = ROOT / "docs/evidence/test-times.md"
CARGO = os.environ.get("CARGO", "cargo")
SIDE_BY_SIDE = {"compute": os.cpu_count() or 1, "real-time": 1, "emulate": 1}
LANES = [*SIDE_BY_SIDE, "alone"]
# Lanes whose tests wait for other processes or for clocks, so that a busy machine may make them fail.
RETRIED = ["real-time", "emulate", "alone"]
# If more tests failed, the tree is broken, and the runner retries none.
MOST_RETRIES = 10
# The runner kills a program that is still running after this many seconds, and counts it as failed.
LIMIT_S = 1800
# Process groups of the programs that run, for Ctrl-C.
RUNNING = set()
RESULT = re.compile(r"^test result: .* (\d+) passed; (\d+) failed; (\d+) ignored", re.M)
# The last list of a program's output: the names of its failed tests.
FAILURES = re.compile(r"^failures:\n((?:    .+\n)+)\ntest result: ", re.M)
# Rows of the first table of TIMES: package, program, lane, tests, seconds.
ROW = re.compile(r"^\| ([\w-]+) \| (\S.*?) \| [\w-]+ \| *\d+ \| *([\d.]+) \|", re.M)


@dataclass
class Program:
    """A test program that cargo built, and the outcome of its run."""

    package: str
    name: str
    path: str
    folder: str
    lane: str
    expected_s: float = 0.0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    status: int = 0
    passed: int = 0
    failed: int = 0
    ignored: int = 0
    flaky: int = 0
    tests: list = field(default_factory=list)  # (name, seconds)
    failures: dict = field(default_factory=dict)  # output of each failed test, by its name

    def label(self):
        return f"{self.package} {self.name}"


def metadata():
    """Returns the packages of the workspace, by name without the prefix."""
    output = subprocess.check_output([CARGO, "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT)
    return {package["name"].removeprefix("inart-"): package for package in json.loads(output)["packages"]}


def changed_packages(packages):
    """Returns the names of the packages with changes that are not committed."""
    changed = set()
    for command in (["diff", "--name-only", "HEAD"], ["ls-files", "--others", "--exclude-standard"]):
        output = subprocess.check_output(["git", *command], cwd=ROOT, text=True)
        changed |= {ROOT / line for line in output.splitlines()}
    folders = {name: Path(package["manifest_path"]).parent for name, package in packages.items()}
    return [name for name, folder in folders.items() if any(folder in path.parents for path in changed)]


def targets(packages, names, programs):
    """Returns cargo's arguments for all test programs of the named packages, and for the named programs."""
    found = sorted(
        target["name"] for package in packages.values() for target in package["targets"] if target["kind"] == ["test"]
    )
    for name in programs:
        if name not in found:
            sys.exit(f"error: no test program {name!r} in the workspace; use one of {', '.join(found)}")
    chosen = [("--test", name) for name in programs]
    for name in names:
        if name not in packages:
            sys.exit(f"error: no package {name!r} in the workspace; use one of {', '.join(sorted(packages))}")
        for target in packages[name]["targets"]:
            kind = target["kind"][0]
            if target["test"] and kind != "example":
                chosen.append({"test": ("--test", target["name"]), "bin": ("--bin", target["name"])}.get(kind, ("--lib",)))
    # cargo takes `--lib` once, for all packages that it names.
    return [argument for target in dict.fromkeys(chosen) for argument in target]


def lane_of(package, name):
    """Returns the lane that a package's Cargo.toml names for a program, or for all of its programs."""
    lanes = (package["metadata"] or {}).get("tests", {})
    lane = lanes.get(name, lanes.get("lane", "compute"))
    if lane not in LANES:
        sys.exit(f"error: {package['manifest_path']}: unknown lane {lane!r}; use one of {', '.join(LANES)}")
    return lane


def build(packages, arguments):
    """Builds the test programs and returns them in cargo's order."""
    command = [CARGO, "test", "--no-run", "--message-format", "json-render-diagnostics", *arguments]
    output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if output.returncode:
        sys.exit(output.returncode)
    packages = {package["id"]: package for package in packages.values()}
    programs = {}
    for line in output.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] != "compiler-artifact" or not message["executable"] or not message["profile"]["test"]:
            continue
        package, target = packages[message["package_id"]], message["target"]
        name = target["name"] if "test" in target["kind"] else f"unit tests ({target['kind'][0]})"
        programs[message["executable"]] = Program(
            package=package["name"].removeprefix("inart-"),
            name=name,
            path=message["executable"],
            folder=str(Path(package["manifest_path"]).parent),
            lane=lane_of(package, "unit" if name != target["name"] else name),
        )
    return list(programs.values())


def run(program, arguments, timed, idle):
    """Runs a program until it ends or LIMIT_S is over, and returns its output."""
    environment = dict(os.environ, CARGO_MANIFEST_DIR=program.folder, CARGO=CARGO)
    command = [program.path, *arguments]
    if timed:
        # libtest prints times only where unstable options are allowed.
        environment["RUSTC_BOOTSTRAP"] = "1"
        command += ["-Zunstable-options", "--report-time"]

    def settle():
        os.setpgid(0, 0)
        if idle:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            command, cwd=program.folder, env=environment, preexec_fn=settle,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )
        watch = threading.Timer(LIMIT_S, os.killpg, (child.pid, signal.SIGKILL))
        watch.start()
        RUNNING.add(child.pid)
        _, status, usage = os.wait4(child.pid, 0)
        RUNNING.discard(child.pid)
        watch.cancel()
        child.returncode = program.status = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    program.wall_s = time.monotonic() - began
    program.cpu_s = usage.ru_utime + usage.ru_stime
    for result in RESULT.finditer(text):
        program.passed, program.failed, program.ignored = map(int, result.groups())
    times = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. \w+ <([\d.]+)s>", text, re.M)
    program.tests = [(name, float(seconds)) for name, seconds in times]
    if program.status and not program.failed:
        program.failed = 1  # It crashed, or the runner killed it.
    program.failures = failures(text)
    return text


def failures(text):
    """Returns the output of each failed test, by its name. A program that crashed names none."""
    names = [name.strip() for listed in FAILURES.findall(text)[-1:] for name in listed.splitlines()]
    _, _, outputs = text.partition("\nfailures:\n")
    found = {}
    for name in names:
        _, _, output = outputs.partition(f"---- {name} stdout ----\n")
        found[name] = re.split(r"^(?:---- \S+ stdout ----|failures:)$", output, maxsplit=1, flags=re.M)[0].strip()
    return found


def run_all(programs, options):
    """Runs the programs in their lanes, the longest first, then those that run alone; or all in cargo's order."""
    if options.one_by_one:
        run_lanes({None: 1}, programs, options)
    else:
        run_lanes(SIDE_BY_SIDE, programs, options)
        run_lanes({"alone": 1}, programs, options)


def run_lanes(lanes, programs, options):
    """Runs the programs of each lane on as many threads as the lane has places; lane None has all programs."""
    lock = threading.Lock()

    def work(waiting):
        while True:
            try:
                program = waiting.get_nowait()
            except queue.Empty:
                return
            idle = program.lane == "compute" and not options.one_by_one
            text = run(program, options.arguments, options.times, idle)
            with lock:
                report(program, text)

    workers = []
    for lane, places in lanes.items():
        waiting = queue.SimpleQueue()
        chosen = [program for program in programs if lane in (None, program.lane)]
        if lane:
            chosen.sort(key=lambda program: -program.expected_s)
        for program in chosen:
            waiting.put(program)
        workers += [threading.Thread(target=work, args=(waiting,), daemon=True) for _ in range(places)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    except KeyboardInterrupt:
        for group in list(RUNNING):
            os.killpg(group, signal.SIGINT)
        sys.exit("interrupted")


def report(program, text):
    """Prints a line for a program, and its whole output if it failed."""
    outcome = f"{program.failed} FAILED (exit status {program.status})" if program.status else "ok"
    print(f"{program.label():32} {program.passed:4} passed  {program.wall_s:6.1f} s  {outcome}", flush=True)
    if program.status:
        limit = f" after {LIMIT_S} s, killed" if program.wall_s >= LIMIT_S else ""
        print(f"---- {program.label()}{limit}:\n{text}\n---- end of {program.label()}", flush=True)


def retry(programs, options):
    """Runs each failed test of the lanes RETRIED once more, alone. A test that passes then counts as flaky."""
    chosen = [
        (program, name, output) for program in programs if program.lane in RETRIED
        for name, output in program.failures.items()
    ]
    if len(chosen) > MOST_RETRIES:
        print(f"{len(chosen)} tests failed: none runs once more, since more than {MOST_RETRIES} mean a broken tree", flush=True)
        return
    for program, name, output in chosen:
        alone = replace(program, passed=0, failed=0, ignored=0)
        text = run(alone, [name, "--exact", *(["--ignored"] if options.soak else [])], False, False)
        if alone.status or alone.passed != 1:
            print(f"failed twice: {program.label()} {name}\n{text}\n---- end of {name}", flush=True)
            continue
        print(f"flaky: {program.label()} {name}: failed next to others, passed alone\n{output}\n---- end of {name}", flush=True)
        program.flaky += 1
        program.passed += 1
        program.failed -= 1
        if not program.failed:
            program.status = 0


def run_doc_tests(arguments):
    """Runs the examples in the documentation; returns how many passed, failed and were ignored."""
    command = [CARGO, "test", "--doc", *arguments]
    output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    results = [tuple(map(int, result.groups())) for result in RESULT.finditer(output.stdout)]
    passed, failed, ignored = (sum(column) for column in zip(*results)) if results else (0, 0, 0)
    print(f"{'examples in the documentation':32} {passed:4} passed", flush=True)
    if output.returncode:
        print(output.stdout, flush=True)
        failed = failed or 1
    return passed, failed, ignored


def expect(programs):
    """Sets each program's expected time from the committed table."""
    if TIMES.exists():
        known = {(package, name): float(seconds) for package, name, seconds in ROW.findall(TIMES.read_text())}
        for program in programs:
            program.expected_s = known.get((program.package, program.name), 0.0)


def write_times(path, programs, wall_s, one_by_one):
    """Writes the tables of docs/evidence/test-times.md."""
    how = "one by one" if one_by_one else "side by side"
    lines = [
        "# Times of the tests",
        "",
        "`tests/scripts/test.py --times docs/evidence/test-times.md` writes this page. `make test` starts the longest programs of",
        "each lane first by this table. With `--one-by-one` each program has the machine to itself.",
        "",
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} processors, programs {how}: {len(programs)} programs took "
        f"{wall_s:.0f} s and {sum(program.cpu_s for program in programs):.0f} s of processor time.",
        "",
        "| package | program | lane | tests | seconds | processor seconds |",
        "|---|---|---|---|---|---|",
    ]
    for program in sorted(programs, key=lambda program: -program.wall_s):
        lines.append(
            f"| {program.package} | {program.name} | {program.lane} | {program.passed} "
            f"| {program.wall_s:.1f} | {program.cpu_s:.1f} |"
        )
    lines += ["", "Tests of two seconds and more:", "", "| package | program | test | seconds |", "|---|---|---|---|"]
    slow = [(seconds, program, name) for program in programs for name, seconds in program.tests if seconds >= 2]
    for seconds, program, name in sorted(slow, key=lambda row: -row[0]):
        lines.append(f"| {program.package} | {program.name} | {name} | {seconds:.1f} |")
    Path(path).write_text("\n".join(lines) + "\n")


def parse():
    parser = argparse.ArgumentParser(description="Build the workspace's tests and run the programs side by side")
    parser.add_argument("--one-by-one", action="store_true", help="Run one program at a time, in cargo's order")
    parser.add_argument("--times", metavar="FILE", help="Write each program's and test's time to FILE (Markdown)")
    parser.add_argument("--soak", action="store_true", help="Run the long tests that are ignored by default")
    parser.add_argument("--package", action="append", default=[], metavar="NAME", help="Test only this package")
    parser.add_argument("--program", action="append", default=[], metavar="NAME", help="Test only this program")
    parser.add_argument("--changed", action="store_true", help="Test only packages with changes that are not committed")
    parser.add_argument("--lane", choices=LANES, action="append", help="Run only programs of this lane")
    parser.add_argument("--features", help="Build with these features (cargo's syntax)")
    parser.add_argument("filter", nargs="*", help="Run only tests whose name contains this")
    return parser.parse_args()


def main():
    options = parse()
    options.arguments = [*options.filter, *(["--ignored"] if options.soak else [])]
    cargo = ["--workspace", "--locked", *(["--features", options.features] if options.features else [])]
    packages = metadata()
    if options.changed:
        options.package += changed_packages(packages)
        if not options.package:
            sys.exit(print("no package has changes that are not committed"))
    began = time.monotonic()
    programs = build(packages, [*cargo, *targets(packages, options.package, options.program)])
    left_out = [
        program for program in programs
        if (options.package or options.program)
        and program.package not in options.package
        and program.name not in options.program
        or options.lane and program.lane not in options.lane
    ]
    programs = [program for program in programs if program not in left_out]
    expect(programs)
    built_s = time.monotonic() - began
    print(f"built {len(programs)} test programs in {built_s:.0f} s", flush=True)
    run_all(programs, options)
    retry(programs, options)
    ran_s = time.monotonic() - began - built_s
    counts = [[program.passed, program.failed, program.ignored] for program in programs]
    if not (options.soak or options.package or options.program or options.lane or options.filter):
        counts.append(run_doc_tests(cargo))
    passed, failed, ignored = map(sum, zip(*counts)) if counts else (0, 0, 0)
    if options.times:
        write_times(options.times, programs, ran_s, options.one_by_one)
    for program in programs:
        if program.status:
            print(f"failed: {program.label()}: {program.path}")
    print(f"the tests took {time.monotonic() - began - built_s:.0f} s after a build of {built_s:.0f} s")
    flaky = sum(program.flaky for program in programs)
    print(f"{passed} passed, {failed} failed, {ignored} skipped, {flaky} flaky")
    if not passed + failed + ignored and not options.changed:
        sys.exit("error: no test has such a name, package, program and lane; leave one out")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
