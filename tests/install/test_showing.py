"""What a person sees and is asked."""

import io

import pytest

from notes_mcp.faults import UsageError
from notes_mcp.install.showing import WIDTH, Talk, difference


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def talk(said):
    return Talk(Terminal(said), Terminal())


@pytest.mark.parametrize(
    ("said", "agreed"),
    [("y\n", True), (" YES \n", True), ("n\n", False), ("\n", False), ("", False), ("yeah\n", False), ("j\n", False)],
)
def test_only_a_yes_is_a_yes(said, agreed):
    with_terminal = talk(said)
    assert with_terminal.agreed("Write this?") is agreed
    assert with_terminal.says.getvalue() == "Write this? [y/N] "


def test_control_c_is_a_no():
    class Interrupted(Terminal):
        def readline(self, *_):
            raise KeyboardInterrupt

    says = Terminal()
    assert Talk(Interrupted(), says).agreed("Write this?") is False
    assert says.getvalue().endswith("\n")


@pytest.mark.parametrize(
    ("hears", "says"), [(None, Terminal()), (io.StringIO("y\n"), Terminal()), (Terminal("y\n"), io.StringIO())]
)
def test_without_a_terminal_nobody_is_asked(hears, says):
    with pytest.raises(UsageError, match="nobody is there") as caught:
        Talk(hears, says).agreed("Write this?")
    assert caught.value.exit_code == 2
    assert "--yes" in caught.value.fix
    assert says.getvalue() == ""


def test_a_terminal_that_cannot_show_a_letter_shows_a_mark():
    raw = io.BytesIO()
    says = io.TextIOWrapper(raw, "ascii")
    Talk(None, says).say("a 中 \x1b[31m \u202e b")
    assert raw.getvalue().splitlines() == [b"a ? ?[31m ? b"]


def test_a_difference_has_one_line_around_it():
    before = "".join(f"{number}\r\n" for number in range(9))
    assert difference(before, before.replace("4", "four")).splitlines() == [
        "--- before",
        "+++ after",
        "@@ -4,3 +4,3 @@",
        " 3",
        "-4",
        "+four",
        " 5",
    ]


@pytest.mark.parametrize(("before", "after"), [("", "a\n"), ("a\n", "")])
def test_a_file_that_comes_or_goes_is_shown_whole(before, after):
    sign = "+" if after else "-"
    assert difference(before, after).splitlines()[3:] == [f"{sign}a"]


def test_of_a_very_long_line_only_the_change_is_shown():
    before = "{" + '"key": "value", ' * 1000 + "}"
    after = before[:8001] + '"new": 1, ' + before[8001:]
    shown = difference(before, after).splitlines()[3:]
    assert [len(line) < WIDTH for line in shown] == [True, True]
    assert [line[:2] for line in shown] == ["-…", "+…"]
    assert '"new": 1' in shown[1] and '"new"' not in shown[0]


def test_a_change_at_either_end_of_a_long_line_is_shown():
    long = "x" * 500
    assert difference(long, long + "END").splitlines()[-1].endswith("xEND")
    assert difference(long, "START" + long).splitlines()[-1].startswith("+STARTx")


def test_a_long_line_nearby_is_cut():
    shown = difference("x" * 500 + "\na", "x" * 500 + "\nb").splitlines()
    assert (len(shown[3]), shown[3][-1]) == (WIDTH + 1, "…")
