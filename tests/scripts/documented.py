#!/usr/bin/env python3
"""Runs the command blocks of README.md, docs/, python/ and mininet/ as printed.

A block begins with "```sh". A word after it sets when the block runs:

    ```sh           by default, one minute in all
    ```sh long      with --all: builds, trainings, experiments
    ```sh lab       never: needs machines, hardware, or programs that are not in the tree

The blocks of a document run in order, in one shell, in a scratch folder that has the tree's folders as links. The
shell has network, mount and process namespaces of its own, and ends with all its child processes. Documents run side
by side, except for those that work on the tree (make, cargo).

After a command that ends with "&" the next one waits until the process is ready: a switch or a controller has printed
that it listens, a host has opened its ports and its status socket. Other processes, and hosts before the first
command that is not a host's, have two seconds.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "docs/**/*.md", "python/README.md", "mininet/README.md"]
# Seconds for one document.
LIMIT_S = {"quick": 300, "long": 4 * 3600}
# Commands of these programs work on the tree, not on the scratch folder.
IN_TREE = ["make", "cargo"]
FENCE = re.compile(r"^```sh(?: +(\w+))?\s*$")
# Seconds that hosts have for their first rounds, and other processes to start.
FIRST_ROUNDS_S = 2
# Shell functions that count the signs of a ready process, and wait for one more or the end of the process.
READY = r"""
listening() { grep -c '^listening on' "$LOG" || true; }
ports() { cat /proc/net/packet /proc/net/udp | wc -l; }
wait_for_more() {
    until (( $("$2") > $3 )) || ! kill -0 "$1" 2> /dev/null; do sleep 0.02; done
}
wait_for_socket() {
    until [[ -S $2 ]] || { [[ $2 == *:* ]] && (: < "/dev/tcp/${2%:*}/${2##*:}") 2> /dev/null; } || ! kill -0 "$1" 2> /dev/null
    do sleep 0.02; done
}
"""
# Process groups of the documents that run.
RUNNING = set()


@dataclass
class Block:
    """A command block: its first line's number in the document, its kind, its lines."""

    document: str
    line: int
    kind: str
    lines: list

    def commands(self):
        """Returns (line number, command) for each command.

        A backslash at the end joins lines, as do a here-document up to its delimiter and a loop up to `done`.
        """
        commands, begun, until = [], None, None
        for number, line in enumerate(self.lines, self.line):
            if begun is None:
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                begun = (number, line)
                until = end_of(line)
            else:
                begun = (begun[0], begun[1] + "\n" + line)
                until = None if line == until else until
            if until is None and not line.endswith("\\"):
                commands.append(begun)
                begun = None
        return commands


def end_of(line):
    """Returns the line that ends a command beginning with this one; None if the line itself may end it."""
    document = re.search(r"<<'?(\w+)'?", line)
    if document:
        return document[1]
    return "done" if re.search(r"; do\s*$", line) else None


def blocks(document):
    """Returns the command blocks of a document, given as a path below ROOT."""
    found, current = [], None
    for number, line in enumerate((ROOT / document).read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if current is None and fence:
            kind = fence[1] or "quick"
            if kind not in ("quick", "long", "lab"):
                sys.exit(f"error: {document}:{number}: a block is `sh`, `sh long` or `sh lab`, not `sh {kind}`")
            current = Block(document, number + 1, kind, [])
        elif current is not None and line.startswith("```"):
            found.append(current)
            current = None
        elif current is not None:
            current.lines.append(line)
    return found


def around(command):
    """Returns shell lines for before and after a command in the background, which wait until its process is ready."""
    shows = {"switch": "listening", "controller": "listening", "host": "ports"}
    name = re.match(r"inart (\w+)\b", command)
    if not name or name[1] not in shows:
        return [], [f"sleep {FIRST_ROUNDS_S}"]
    shown, status = shows[name[1]], re.search(r"--status (\S+)", command)
    waits = [f'wait_for_more $! {shown} "$before"', *([f"wait_for_socket $! {status[1]}"] if status else [])]
    return [f"before=$({shown})"], waits


def script(chosen, progress):
    """Returns the shell script that runs the blocks and first writes each command to the file `progress`."""
    out = [f"exec 3>{shlex.quote(str(progress))}", "set -Eeuo pipefail", READY, "ip link set lo up"]
    out += [f'{name}() {{ (cd "$ROOT" && command {name} "$@"); }}' for name in IN_TREE]
    trains = False
    for block in chosen:
        for number, command in block.commands():
            is_host = re.match(r"inart host\b", command)
            if trains and not is_host:
                out.append(f"sleep {FIRST_ROUNDS_S}")
            in_background = re.search(r"&\s*(#.*)?$", command)
            trains = bool(is_host and in_background)
            out.append(f"echo {shlex.quote(f'{block.document}:{number}: {command}')} >&3")
            before, after = around(command) if in_background else ([], [])
            out += [*before, command, *after]
    return "\n".join(out) + "\n"


def scratch(folder):
    """Fills a scratch folder with links to the tracked files and folders at the top of the tree."""
    names = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split("\n")
    for name in {name.split("/")[0] for name in names if name}:
        (folder / name).symlink_to(ROOT / name)


def run(document, chosen, inart, limit_s):
    """Runs the blocks of one document; returns whether all commands succeeded."""
    with tempfile.TemporaryDirectory(prefix="inart-documented-") as name:
        folder = Path(name) / "work"
        folder.mkdir()
        scratch(folder)
        (Path(name) / "bin").mkdir()
        (Path(name) / "bin" / "inart").symlink_to(inart)
        path = f"{name}/bin:{os.environ['PATH']}"
        progress, log = Path(name) / "commands", Path(name) / "log"
        own_paths = {"PATH": path, "ROOT": str(ROOT), "LOG": str(log), "XDG_STATE_HOME": f"{name}/state"}
        environment = {**os.environ, **own_paths}
        own = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-c"]
        progress.touch()
        with log.open("w") as output:
            start = time.monotonic()
            process = subprocess.Popen(
                [*own, script(chosen, progress)], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )
            RUNNING.add(process.pid)
            try:
                status = process.wait(timeout=limit_s)
            except subprocess.TimeoutExpired:
                status = f"no end within {limit_s} s"
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            RUNNING.discard(process.pid)
        seconds = time.monotonic() - start
        commands = re.findall(r"^\S+?:\d+: .*", progress.read_text(), re.M)
        if status == 0:
            print(f"{document}: {len(commands)} commands in {seconds:.1f} s")
            return True
        last = commands[-1] if commands else document
        end = log.read_text(errors="replace").splitlines()[-25:]
        lines = [last, f"    failed ({status}); the end of its output:", *(f"    {line}" for line in end)]
        print("\n".join(lines), file=sys.stderr)
        return False


def run_all(runs, inart, limit_s, at_once):
    """Runs the blocks of each document, several documents at once. Returns whether all commands succeeded."""
    tree = threading.Lock()

    def one(document):
        works_on_tree = any(re.match(rf"({'|'.join(IN_TREE)})\b", command)
                            for block in runs[document] for _, command in block.commands())
        if works_on_tree:
            with tree:
                return run(document, runs[document], inart, limit_s)
        return run(document, runs[document], inart, limit_s)

    with ThreadPoolExecutor(at_once) as pool:
        try:
            return all(list(pool.map(one, runs)))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for group in list(RUNNING):
                os.killpg(group, signal.SIGKILL)
            raise


def makefile():
    """Returns the recipes of the Makefile as a block."""
    lines = (ROOT / "Makefile").read_text().splitlines()
    return Block("Makefile", 1, "long", [line.lstrip("\t@") if line.startswith("\t") else "" for line in lines])


def invocations(command):
    """Returns (whether parts are left out, arguments) for each call of `inart`. "--flag …" is left out, "[--flag]" is passed."""
    command = re.sub(r"\$\(inart|<\(inart", "; inart", command.replace("\\\n", " "))
    command = re.sub(r"\[(--[^\]]*)\]", r"\1", re.sub(r"\$\([^()]*\)", "1", command))
    command, left_out = re.subn(r"(--\S+ )?[^\s>]*…\S*", "", command)
    command = re.sub(r"(?<=\s)\d(?=>)", "", command)
    shell = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    shell.whitespace, shell.whitespace_split, shell.commenters = " \t", True, "#"
    found, simple = [], []
    for word in [*shell, ";"]:
        if not set(word) <= set("();<>|&\n"):
            simple.append(word)
            continue
        while simple and re.match(r"\w+=", simple[0]):
            simple.pop(0)
        if simple and simple[0] in ("inart", "target/debug/inart", "target/release/inart"):
            found.append((left_out > 0, simple[1:]))
        simple = []
    return found


def main():
    """Runs or lists the blocks; exits with status 1 if a command fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", help="documents, relative to the tree (default: all)")
    parser.add_argument("--all", action="store_true", help="also run the long blocks")
    parser.add_argument("--list", action="store_true", help="print the blocks that do not run by default, and end")
    parser.add_argument("--arguments", action="store_true", help="print [place, is shortened, [argument, ...]] for each `inart` command, the Makefile's too, and end")
    parser.add_argument("--at-once", type=int, default=min(os.cpu_count() or 1, 4), metavar="N",
                        help="run N documents side by side (default: one per processor, at most 4)")
    parser.add_argument("--inart", type=Path, help="the command (default: target/debug/inart)")
    arguments = parser.parse_args()
    known = sorted({str(path.relative_to(ROOT)) for glob in DOCUMENTS for path in ROOT.glob(glob)})
    chosen = {document: blocks(document) for document in arguments.documents or known}
    if arguments.list:
        for document, all_blocks in chosen.items():
            for block in all_blocks:
                if block.kind != "quick":
                    print(f"{document}:{block.line}: {block.kind}: {block.lines[0] if block.lines else ''}")
        return 0
    if arguments.arguments:
        everything = [*(block for all_blocks in chosen.values() for block in all_blocks), makefile()]
        for block in everything:
            for number, command in block.commands():
                for is_shortened, called_with in invocations(command):
                    print(json.dumps([f"{block.document}:{number}", is_shortened, called_with]))
        return 0
    if os.geteuid() != 0:
        sys.exit("error: the commands run in namespaces of their own: run as root")
    inart = (arguments.inart or ROOT / "target/debug/inart").resolve()
    if not inart.exists():
        sys.exit(f"error: {inart}: no such file; build it with `cargo build --bin inart`, or name one with --inart")
    for tool in ("unshare", "ip", "bash"):
        if shutil.which(tool) is None:
            sys.exit(f"error: {tool}: not found; install util-linux, iproute2 and bash")
    kinds = ("quick", "long") if arguments.all else ("quick",)
    limit_s = LIMIT_S["long" if arguments.all else "quick"]
    of_kinds = {document: [block for block in found if block.kind in kinds] for document, found in chosen.items()}
    runs = {document: found for document, found in of_kinds.items() if found}
    return 0 if run_all(runs, inart, limit_s, arguments.at_once) else 1


if __name__ == "__main__":
    sys.exit(main())
