"""A change whose caller is cancelled, at every stage: the caller is free at once, and no note is half changed."""

import threading

import anyio
import pytest
from _served import DEADLINE_S, fill, serving

from notes_mcp.notes.changes import steps
from notes_mcp.notes.disk.writelock import WriteLock

COUNT = 12


def notes(tmp_path):
    return fill(tmp_path / "n", {f"{number}.md": f"#old [[target]] {number}\n" for number in range(COUNT)})


def contents(root):
    return {path.name: path.read_text() for path in root.glob("*.md")}


async def rename_tags(library):
    def transform(document):
        return document.data.replace(b"#old", b"#new"), 1

    await library.change_many(transform, tags=["old"], tool="update_tags")


async def move(library):
    await library.move("target.md", "moved.md", tool="move_note")


async def edit(library):
    await library.edit("1.md", lambda document: document.data + b"more\n", tool="edit_note")


class Gate:
    """Stands in for a function: says that it was reached, the `nth` time, and goes on when it is opened."""

    def __init__(self, function, nth=1):
        self._function, self._left = function, nth
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, *args, **named):
        self._left -= 1
        if self._left == 0:
            self.reached.set()
            assert self.opened.wait(DEADLINE_S)
        return self._function(*args, **named)


async def cancelled_at(gate, call):
    """Cancels the call while it stands at the gate; the caller is free before the gate opens."""
    with anyio.fail_after(DEADLINE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anyio.to_thread.run_sync(gate.reached.wait)
            tasks.cancel_scope.cancel()
    assert not gate.opened.is_set()
    gate.opened.set()


@pytest.mark.parametrize("change", [edit, move, rename_tags])
async def test_what_waits_for_the_writer_never_begins(tmp_path, change):
    root = notes(tmp_path)
    (root / "target.md").write_text("here\n")
    async with serving(tmp_path, root) as (library, _):
        before, gate = contents(root), Gate(lambda: None)
        with anyio.fail_after(DEADLINE_S):
            async with anyio.create_task_group() as holding:
                holding.start_soon(library._write, gate)
                await anyio.to_thread.run_sync(gate.reached.wait)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(change, library)
                    while not library.writing:
                        await anyio.sleep(0)
                    tasks.cancel_scope.cancel()
                gate.opened.set()
            await library._workers.drained()
        assert contents(root) == before
        assert not library.writing
        assert (await library.info()).recent_changes == ()


@pytest.mark.parametrize("change", [edit, move, rename_tags])
async def test_what_waits_for_another_server_never_begins(tmp_path, monkeypatch, change):
    root = notes(tmp_path)
    (root / "target.md").write_text("here\n")
    waited = threading.Event()
    original = WriteLock._wait

    def wait(self, deadline, taken):
        waited.set()
        original(self, deadline, taken)

    monkeypatch.setattr(WriteLock, "_wait", wait)
    async with serving(tmp_path, root) as (library, _):
        before = contents(root)
        with anyio.fail_after(DEADLINE_S), WriteLock(root, None):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(change, library)
                await anyio.to_thread.run_sync(waited.wait)
                tasks.cancel_scope.cancel()
            await library._workers.drained()  # it gives up while the lock is still held
        assert contents(root) == before


@pytest.mark.parametrize("change", [move, rename_tags])
@pytest.mark.parametrize("step", [1, 5, COUNT])
async def test_what_is_half_written_is_taken_back(tmp_path, monkeypatch, change, step):
    root = notes(tmp_path)
    (root / "target.md").write_text("here\n")
    async with serving(tmp_path, root) as (library, _):
        before = contents(root)
        gate = Gate(steps.take, step)
        monkeypatch.setattr(steps, "take", gate)
        await cancelled_at(gate, lambda: change(library))
        await library._workers.drained()
        last = change is rename_tags and step == COUNT
        assert (contents(root) == before) is not last, "the last step was under way: then the change is whole"
        if last:
            assert all("#new" in text for name, text in contents(root).items() if name != "target.md")
        changed = (await library.info()).recent_changes
        assert len(changed) == last
        monkeypatch.undo()
        await change(library)
        assert contents(root) != before


async def test_a_change_over_several_folders_is_taken_back_in_all_of_them(tmp_path, monkeypatch):
    first, second = (fill(tmp_path / name, {"a.md": "#old\n", "b.md": "#old\n"}) for name in ("one", "two"))
    async with serving(tmp_path, first, second) as (library, _):
        gate = Gate(steps.take, 3)  # the first of two in the second folder
        monkeypatch.setattr(steps, "take", gate)
        await cancelled_at(gate, lambda: rename_tags(library))
        await library._workers.drained()
        assert contents(first) == contents(second) == {"a.md": "#old\n", "b.md": "#old\n"}


async def test_planning_ends_at_the_next_note(tmp_path, monkeypatch):
    root = notes(tmp_path)
    async with serving(tmp_path, root) as (library, _):
        seen = []
        gate = Gate(lambda document: (seen.append(document.path), (document.data + b"x", 1))[1], 3)
        await cancelled_at(gate, lambda: library.change_many(gate, tool="update_tags"))
        await library._workers.drained()
        assert len(seen) == 3
        assert all(not text.endswith("x") for text in contents(root).values())
