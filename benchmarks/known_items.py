"""Known-item search: from notes taken at random, a few words that somebody may remember; is the note found by them?

The words are 2 to 4 that follow each other in the text. They tell the note apart by the law its words are drawn by: it
would put them, in this order, into less than one note of ten such folders. What is found has no say in the choice.
"""

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.vocabulary import places, vocabulary

ITEMS = 300
MOST_EXPECTED = 0.1
_BODY = re.compile(r"\A---\n.*?\n---\n#[^\n]*\n", re.DOTALL)
_LATIN_SENTENCE = re.compile(r"[A-Za-z]+(?: [a-z]+)+")
_HAN_SENTENCE = re.compile(r"[\u4e00-\u9fff]{4,}")
_LONGEST_HAN_WORD = 4


def known_items(search: Callable[[str], list[str]], root: Path, notes: Sequence[Path]) -> dict[str, float]:
    """Per script: in percent, how often the note is among the first ten that `search` gives, and how often it is first.

    Chinese is asked for in one piece and with blanks between the words in turns, as people type both.
    """
    words_in_all = sum(path.stat().st_size for path in notes) / 2 / 7  # about half the bytes are of either script
    figures: dict[str, float] = {}
    for script, name, split in (("latin", "Latin", _latin_words), ("han", "Chinese", _han_words)):
        rng = random.Random(script)
        tried = first = ten = 0
        for path in rng.sample(notes, len(notes)):
            words = _remembered(rng, script, split(_BODY.sub("", path.read_text("utf-8"))), words_in_all)
            if not words:
                continue
            found = search(("" if script == "han" and tried % 2 else " ").join(words))
            wanted = path.relative_to(root).as_posix()
            tried += 1
            first += found[:1] == [wanted]
            ten += wanted in found[:10]
            if tried == ITEMS:
                break
        figures[f"known item, {name}, in ten, %"] = 100 * ten / max(tried, 1)
        figures[f"known item, {name}, first, %"] = 100 * first / max(tried, 1)
    return figures


def _remembered(rng: random.Random, script: str, sentences: list[list[str]], words_in_all: float) -> list[str]:
    """One of those that tell the note apart, at random; none if there is none."""
    drawn = vocabulary(script).cumulated
    known = places(script)
    telling = []
    for sentence in sentences:
        length = rng.randint(2, 4)
        for start in range(len(sentence) - length + 1):
            words = sentence[start : start + length]
            expected = words_in_all
            for word in words:
                place = known.get(word)
                expected *= (drawn[place] - (drawn[place - 1] if place else 0)) / drawn[-1] if place is not None else 1
            if expected < MOST_EXPECTED:
                telling.append(words)
    return rng.choice(telling) if telling else []


def _latin_words(text: str) -> list[list[str]]:
    return [sentence.lower().split() for sentence in _LATIN_SENTENCE.findall(text)]


def _han_words(text: str) -> list[list[str]]:
    """The longest words of the vocabulary from the left; what is in none stands alone."""
    known = places("han")
    sentences = []
    for sentence in _HAN_SENTENCE.findall(text):
        words, at = [], 0
        while at < len(sentence):
            lengths = range(min(_LONGEST_HAN_WORD, len(sentence) - at), 0, -1)
            length = next((n for n in lengths if sentence[at : at + n] in known), 1)
            words.append(sentence[at : at + length])
            at += length
        sentences.append(words)
    return sentences
