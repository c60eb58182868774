"""`python -m benchmarks.fuzz --seconds 60 [TARGET…]`: looks for bytes that break `benchmarks.invariants`.

Coverage-guided, by atheris (`pip install 'notes-mcp[fuzz]'`): the time is shared out among the targets, one process
after the other, which start from the sample notes and the golden dialogues. Exit code 1 if a promise is broken, the
work grows faster than the input, or one input takes longer than `UNIT_SECONDS`; the bytes are printed. `--corpus DIR`
keeps what was learnt.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAX_BYTES = 4_096
MAX_PIECE_BYTES = 48  # of what is repeated
UNIT_SECONDS = 10
MEMORY_MB = 2_048
TOLD_CHARS = 4_000
FIELDS = {"front_matter": 2, "tags": 2, "changes": 4}  # put before the note, see `invariants`
WORDS = """{"jsonrpc":"2.0","id":1,"method":"m","params":{}} \\ud83d \\ude00 1e999 NaN [[ ]] ![[ ](< ]: %% ``` ~~~ $$
--- ... tags: aliases: |+ >- &a *a !!str <<: "' '' # ^block #tag/nested - [x] > [!note] <!-- --> || \\| OR -tag:
path: title: [prop:value] file: prefix* “ ” «» 「」 止损 한국어 ไทย 😀 é ﷺ""".split()
_EXECUTIONS = re.compile(rb"stat::number_of_executed_units:\s*(\d+)")


def seeds(target: str) -> Iterator[bytes]:
    """What a target starts from."""
    if target == "messages":
        for file in sorted((ROOT / "tests" / "transcripts").glob("*.jsonl")):
            yield from (b"\x07" + line[6:-1] for line in file.read_bytes().splitlines() if line.startswith(b'{">": '))
        return
    if target in ("queries", "repeated"):
        yield from (word.encode() for word in WORDS)
        yield 'plan tag:项目 -"a b" [status:done] gard* OR 止损'.encode()
        return
    for file in sorted((ROOT / "sample_notes").rglob("*.md")):
        note = file.read_bytes()
        yield b"\xff" * FIELDS.get(target, 0) + note[: MAX_BYTES - 16]
    for words in ([b"status", b'["a", 1]'], [b"project", b"neu"], [b"\x05", b"## New", b"", b"Log"]):
        if len(words) == FIELDS.get(target):
            yield b"\xff".join([*words, b"---\nstatus: x # c\ntags: [project, b]\n---\n# Log\n\n#project text\n"])


def hunt(target: str, corpus: Path, seconds: int) -> None:
    """Runs one target in this process, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=["notes_mcp"]):
        from benchmarks import invariants

    function = invariants.TARGETS[target]
    one = function if target == "repeated" else partial(invariants.in_few_steps, function)
    dictionary = corpus.parent / f"{target}.dict"
    dictionary.write_text("".join(f'"{_escaped(word)}"\n' for word in WORDS), encoding="ascii")
    most = MAX_PIECE_BYTES if target == "repeated" else MAX_BYTES
    options = (f"-max_total_time={seconds}", f"-max_len={most}", f"-timeout={UNIT_SECONDS}", "-print_final_stats=1")
    more = (f"-rss_limit_mb={MEMORY_MB}", f"-dict={dictionary}", f"-artifact_prefix={corpus.parent}/{target}-")
    atheris.Setup([sys.argv[0], *options, *more, str(corpus)], one)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(chr(byte) if 32 < byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in word.encode())


def _hunted(target: str, base: Path, seconds: int) -> bool:
    """One target in a process of its own; whether every promise held. Prints what was tried, or the bytes."""
    corpus = base / target
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (corpus / f"seed-{number}").write_bytes(seed)
    command = [
        sys.executable,
        "-m",
        "benchmarks.fuzz",
        "--one",
        target,
        "--corpus",
        str(base),
        "--seconds",
        str(seconds),
    ]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tried = _EXECUTIONS.search(done.stdout)
    times = f"{int(tried[1]):,}" if tried else "?"
    print(f"{target}: {times} inputs in {seconds} s, {len(list(corpus.iterdir())):,} kept", flush=True)
    if done.returncode:
        print(done.stdout.decode("utf-8", "replace")[-TOLD_CHARS:])
        for found in sorted(base.glob(f"{target}-*")):
            print(f"{found.name}: {found.read_bytes()!r}")
    return done.returncode == 0


def main() -> int:
    """Hunt and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all if left out")
    parser.add_argument("--seconds", type=int, default=60, help="for all targets together")
    parser.add_argument("--corpus", type=Path, help="where inputs are kept; a scratch directory if left out")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        hunt(arguments.one, arguments.corpus / arguments.one, arguments.seconds)
    from benchmarks.invariants import TARGETS

    targets = arguments.targets or list(TARGETS)
    if unknown := [name for name in targets if name not in TARGETS]:
        parser.error(f"no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    with tempfile.TemporaryDirectory(prefix="notes-mcp-fuzz-") as scratch:
        base = arguments.corpus or Path(scratch)
        held = [_hunted(target, base, max(1, arguments.seconds // len(targets))) for target in targets]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
