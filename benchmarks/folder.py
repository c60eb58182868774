"""A made-up folder of notes: any number, mixed scripts, links, tags and sizes as real folders have them.

Deterministic for a seed. Words follow a Zipf-like law, so that common and rare words both exist.
"""

import random
from pathlib import Path

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
FOLDERS = ("", "Projects", "Projects/Archive", "Daily", "Books", "Recipes", "日记", "会议")
TAGS = ("project", "project/active", "reading", "recipe", "idea", "日记", "工作/计划", "travel")


def make(root: Path, count: int, *, mean_bytes: int = 5_000, seed: int = 7) -> int:
    """Write `count` notes below `root`; returns the bytes written."""
    rng = random.Random(seed)
    written = 0
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        folder = FOLDERS[number % len(FOLDERS)]
        name = f"{rng.choice(LATIN).title()} {rng.choice(HAN)} {number}.md"
        data = _note(rng, number, count, mean_bytes).encode()
        (root / folder / name).write_bytes(data)
        written += len(data)
    return written


def _note(rng: random.Random, number: int, count: int, mean_bytes: int) -> str:
    tags = rng.sample(TAGS, rng.randint(0, 3))
    lines = ["---", f"created: 2025-{number % 12 + 1:02}-{number % 28 + 1:02}", f"tags: [{', '.join(tags)}]", "---"]
    lines += [f"# {rng.choice(LATIN).title()} {number}", ""]
    size, target = 0, min(rng.lognormvariate(0, 0.9), 8) * mean_bytes / 1.4
    while size < target:
        paragraph = _paragraph(rng)
        if rng.random() < 0.2:
            paragraph += f" [[{rng.choice(LATIN).title()} {rng.choice(HAN)} {rng.randrange(count)}]]"
        if rng.random() < 0.1:
            lines += [f"## {rng.choice(LATIN).title()} {rng.choice(HAN)}", ""]
        lines += [paragraph, ""]
        size += len(paragraph.encode())
    return "\n".join(lines) + f"\nrare{number:06x}\n"


def _paragraph(rng: random.Random) -> str:
    script = rng.random()
    words, joint = (LATIN, " ") if script < 0.5 else (HAN, "") if script < 0.9 else (KANA, "")
    count = rng.randint(20, 80)
    weights = [1 / (rank + 1) for rank in range(len(words))]
    picked = rng.choices(words, weights, k=count)
    # Invented words make the vocabulary grow with the folder, as real ones do.
    picked[rng.randrange(count)] = f"w{rng.randrange(50_000):x}" if joint else chr(rng.randrange(0x4E00, 0x9FA0)) * 2
    return joint.join(picked) + ("." if joint else "。")
