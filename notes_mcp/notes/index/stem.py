"""Pure: English words -> stems, exactly as the `porter` tokenizer of FTS5 makes them.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the exceptions of SQLite's
fts5_tokenize.c: words of up to two bytes or over 64 stay, and only bytes count. A test compares the two.
Used where stems are needed without the index: snippets, prefixes, suggestions. May import nothing.
"""

import itertools
from functools import lru_cache

_VOWELS = frozenset("aeiou")
_STEP2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("logi", "log"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"),
    ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP3 = (("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""))
_STEP4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
)  # fmt: skip
_ENDINGS = (*(old for old, _ in (*_STEP2, *_STEP3)), *_STEP4, "ing", "ed", "s", "es", "ies", "ly", "ability", "y")
_COMMON = ("ing", "ed", "er", "s", "es", "e", "y", "ion", "ly")


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The stem of one folded word."""
    if not 2 < len(word.encode()) <= 64:
        return word
    word = _step1b(_step1a(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP2)
    word = _replace(word, _STEP3)
    word = _step4(word)
    return _step5(word)


def hidden_by_prefix(prefix: str) -> tuple[str, ...]:
    """Words that begin with `prefix` but whose stems do not, one a stem: "relatio" -> "relation" (stem "relat")."""
    words = {prefix, *(prefix + ending for ending in _COMMON)}
    for ending in _ENDINGS:
        words.update(prefix + ending[n:] for n in range(1, len(ending)) if prefix.endswith(ending[:n]))
    found = {stem(word): word for word in sorted(words)}
    return tuple(word for s, word in found.items() if not s.startswith(prefix) and prefix.startswith(s[:-1]))


def _vowel_marks(word: str) -> list[bool]:
    marks: list[bool] = []
    for letter in word:
        marks.append(letter in _VOWELS or (letter == "y" and bool(marks) and not marks[-1]))
    return marks


def _has_vowel(part: str) -> bool:
    return any(_vowel_marks(part))


def _measure(part: str) -> int:
    marks = _vowel_marks(part)
    return sum(1 for before, after in itertools.pairwise(marks) if before and not after)


def _ends_short(part: str) -> bool:
    """Consonant, vowel, consonant other than w, x, y (Porter's *o)."""
    marks = _vowel_marks(part)
    return len(part) >= 3 and marks[-3:] == [False, True, False] and part[-1] not in "wxy"


def _step1a(word: str) -> str:
    if (word.endswith("sses") and len(word) > 4) or (word.endswith("ies") and len(word) > 3):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step1b(word: str) -> str:
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return _mend(rest) if _has_vowel(rest) else word
    return word


def _mend(rest: str) -> str:
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and rest[-1] not in "aeioulsz":
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _replace(word: str, table: tuple[tuple[str, str], ...]) -> str:
    for old, new in table:
        if word.endswith(old):
            rest = word[: -len(old)]
            return rest + new if _measure(rest) > 0 else word
    return word


def _step4(word: str) -> str:
    for ending in ("ement", "ment", "ent", *_STEP4):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if ending == "ion" and not rest.endswith(("s", "t")):
                return word
            return rest if _measure(rest) > 1 else word
    return word


def _step5(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
