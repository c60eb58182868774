"""Made-up words in five scripts, in numbers as real folders have them, drawn by Zipf's law. Deterministic.

The commonest words are real ones. Behind them come invented ones that the syllables and characters of the script
make, so that there are always words that only a few notes have.
"""

import itertools
import random
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

LATIN = (
    "garden water light paper bread river window letter morning winter table music stone apple story "
    "market bridge coffee summer engine harbour meadow lantern copper violet thunder orchard pebble compass "
    "ledger saddle walnut glacier mosaic thistle quarry beacon falcon marble cinder"
).split()
HAN = (
    "今天 我们 学习 项目 计划 会议 时间 问题 方法 朋友 城市 音乐 书籍 历史 经济 市场 科学 技术 研究 设计 "
    "春天 山水 茶叶 适者生存 止损 读书 笔记 厨房 面包 旅行 编程 数据 网络 语言 文化 故事 电影 健康 运动 家庭"
).split()
KANA = "しりとり ひらがな カタカナ 今日は 天気 料理 旅行 電車 約束 思い出 図書館 宿題".split()
HANGUL = "오늘 학교 끝말잇기 공부 계획 회의 시간 문제 친구 도시 음악 여행".split()
CYRILLIC = "сегодня город книга время вопрос друг музыка работа письмо утро зима река".split()

COMMON = 1_000  # words before this place say little about the note that has them
_FLATTENED = 2.7  # Mandelbrot's addition: the first words are not that far ahead of each other
_EXPONENT = 1.05


class Vocabulary(NamedTuple):
    """`words`, the commonest first, the weights to draw them by, and what stands between two words."""

    words: tuple[str, ...]
    cumulated: tuple[float, ...]
    blank: str
    full_stop: str

    def draw(self, rng: random.Random, number: int) -> list[str]:
        """Words as a text has them."""
        return rng.choices(self.words, cum_weights=self.cumulated, k=number)

    def topic(self, rng: random.Random) -> str:
        """A word that some notes are about: neither one of all notes nor one of none."""
        return self.words[int(COMMON // 4 * (len(self.words) * 4 // COMMON) ** rng.random())]


@lru_cache
def vocabulary(script: str) -> Vocabulary:
    """That of `latin`, `han`, `kana`, `hangul` or `cyrillic`."""
    rng = random.Random(script)
    first, size, spaced, invent = {
        "latin": (LATIN, 40_000, True, _syllables("bcdfghklmnprstvw", "aeiou", ["", "", "n", "r", "s", "l"])),
        "han": (HAN, 30_000, False, _characters([chr(0x4E00 + n * 7) for n in range(2_900)], (1, 2, 2, 2, 2, 2, 3, 4))),
        "kana": (KANA, 8_000, False, _characters([chr(n) for n in range(0x3042, 0x3094)], (2, 3, 3, 4))),
        "hangul": (HANGUL, 8_000, True, _characters([chr(0xAC00 + n * 13) for n in range(850)], (2, 2, 3, 4))),
        "cyrillic": (CYRILLIC, 8_000, True, _syllables("бвгдзклмнпрст", "аеиоуы", ["", "", "н", "р", "й"])),
    }[script]
    words = dict.fromkeys(first)
    while len(words) < size:
        words[invent(rng)] = None
    weights = (1 / (rank + _FLATTENED) ** _EXPONENT for rank in range(len(words)))
    return Vocabulary(tuple(words), tuple(itertools.accumulate(weights)), " " * spaced, ". " if spaced else "。")


@lru_cache
def places(script: str) -> dict[str, int]:
    """Word -> how many words are commoner."""
    return {word: place for place, word in enumerate(vocabulary(script).words)}


def _syllables(consonants: str, vowels: str, ends: list[str]) -> Callable[[random.Random], str]:
    def invent(rng: random.Random) -> str:
        return "".join(
            rng.choice(consonants) + rng.choice(vowels) + rng.choice(ends) for _ in range(rng.choice((2, 2, 3, 3, 4)))
        )

    return invent


def _characters(characters: list[str], lengths: tuple[int, ...]) -> Callable[[random.Random], str]:
    """Few characters are in many words, as in any of these scripts."""
    weights = list(itertools.accumulate(1 / (rank + 20) for rank in range(len(characters))))
    shuffled = random.Random(len(characters)).sample(characters, len(characters))

    def invent(rng: random.Random) -> str:
        return "".join(rng.choices(shuffled, cum_weights=weights, k=rng.choice(lengths)))

    return invent
