"""A made-up folder of notes: any number, mixed scripts, links, tags, properties and sizes as real folders have them.

Deterministic for a seed. Notes are about something: a few words of the rarer ones come again and again in each. Most
links lead to a note, a few notes are linked to by many, and one link in thirty leads nowhere.
"""

import random
from datetime import date, timedelta
from pathlib import Path

from benchmarks.vocabulary import CYRILLIC, HAN, HANGUL, KANA, LATIN, Vocabulary, vocabulary

__all__ = ["CYRILLIC", "FOLDERS", "HAN", "HANGUL", "KANA", "LATIN", "TAGS", "make"]

FOLDERS = ("", "Projects", "Projects/Archive", "Daily", "Books", "Recipes", "日记", "会议")
TAGS = ("project", "project/active", "reading", "recipe", "idea", "日记", "工作/计划", "travel")
_SCRIPTS = (("latin", 45), ("han", 35), ("kana", 8), ("hangul", 7), ("cyrillic", 5))
_FIRST_DAY = date(1990, 1, 1)
_TOPICS = 8
_WORDS_OF_TOPIC = 0.1


def make(root: Path, count: int, *, mean_bytes: int = 5_000, seed: int = 7) -> int:
    """Write `count` notes below `root`; returns the bytes written."""
    rng = random.Random(seed)
    written = 0
    folders = [*FOLDERS, *(f"Projects/{vocabulary('latin').topic(rng).title()}" for _ in range(min(count // 100, 60)))]
    tags = [*TAGS, *(f"{rng.choice(TAGS)}/{vocabulary('latin').topic(rng)}" for _ in range(count // 40))]
    for folder in folders:
        (root / folder).mkdir(parents=True, exist_ok=True)
    names = _names(rng, count, folders)
    for number, (folder, name) in enumerate(names):
        data = _note(rng, number, names, tags, mean_bytes).encode()
        (root / folder / f"{name}.md").write_bytes(data)
        written += len(data)
    return written


def _names(rng: random.Random, count: int, folders: list[str]) -> list[tuple[str, str]]:
    """(folder, name) of every note: days in Daily, else some words, never the same twice."""
    names: dict[str, str] = {}
    while len(names) < count:
        number = len(names)
        folder = folders[number % len(folders)]
        name = (_FIRST_DAY + timedelta(number // len(folders))).isoformat()
        if folder != "Daily":
            words = vocabulary(rng.choice(("latin", "latin", "han")))
            name = words.blank.join(words.topic(rng).capitalize() for _ in range(rng.randint(2, 4)))
        names.setdefault(name if name not in names else f"{name} {number}", folder)
    return [(folder, name) for name, folder in names.items()]


def _note(rng: random.Random, number: int, names: list[tuple[str, str]], tags: list[str], mean_bytes: int) -> str:
    own = rng.sample(tags, rng.randint(0, 2)) + rng.sample(TAGS, rng.randint(0, 1))
    day = (_FIRST_DAY + timedelta(number % 12_000)).isoformat()
    lines = ["---", f"created: {day}", f"tags: [{', '.join(dict.fromkeys(own))}]"]
    lines += [f"status: {rng.choice(('open', 'done', '进行中'))}"] if rng.random() < 0.3 else []
    lines += [f"aliases: [{names[number][1][:12]} {number}]"] if rng.random() < 0.05 else []
    lines += ["---", f"# {names[number][1]}", ""]
    main = rng.choices([script for script, _ in _SCRIPTS], [share for _, share in _SCRIPTS])[0]
    topics = {script: [vocabulary(script).topic(rng) for _ in range(_TOPICS)] for script in {main, "latin", "han"}}
    size, target = 0, min(rng.lognormvariate(0, 0.9), 8) * mean_bytes / 1.5
    while size < target:
        script = main if rng.random() < 0.75 else rng.choice(("latin", "han"))
        words = vocabulary(script)
        paragraph = _paragraph(rng, words, topics[script])
        if rng.random() < 0.3:
            paragraph += f" [[{_target(rng, names)}]]"
        if rng.random() < 0.02:
            paragraph += f" #{rng.choice(tags)}"
        if rng.random() < 0.15:
            lines += [f"## {words.blank.join(rng.choices(topics[script], k=2)).capitalize()}", ""]
        lines += [paragraph, ""]
        size += len(paragraph.encode())
    return "\n".join(lines) + f"\nrare{number:06x}\n"


def _target(rng: random.Random, names: list[tuple[str, str]]) -> str:
    """Of a link: mostly a note, and more often one of the first."""
    if rng.random() < 1 / 30:
        return " ".join(vocabulary("latin").topic(rng) for _ in range(3))
    return names[int(len(names) * rng.random() ** 3)][1]


def _paragraph(rng: random.Random, words: Vocabulary, topics: list[str]) -> str:
    drawn = words.draw(rng, rng.randint(20, 80))
    for at in range(len(drawn)):
        if rng.random() < _WORDS_OF_TOPIC:
            drawn[at] = rng.choice(topics)
    sentences, start = [], 0
    while start < len(drawn):
        end = start + rng.randint(6, 16)
        sentences.append(words.blank.join(drawn[start:end]).capitalize())
        start = end
    return words.full_stop.join(sentences) + words.full_stop.rstrip()
