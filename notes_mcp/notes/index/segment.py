"""Pure: text -> the form in which words are indexed and asked for; no I/O, no state.

Owns the folding of case, width and diacritics, and the word borders that a tokenizer for spaced scripts
cannot see. Note and query go through the same two functions, so what is written is what is found:
text -> `fold` -> `segment` -> the tokenizer of `schema`. Also `key`, under which names are compared.
May import nothing of the project.
"""

import re
import unicodedata

# Scripts written without spaces, and Hangul, whose particles stick to words: Unicode block ranges.
UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    "\u3105-\u312f\u31a0-\u31bf\ua000-\ua4cf"  # Bopomofo, Yi
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # old Kana, the rest of Han
)
EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
# Alphabets other than Latin that are written with spaces: Greek to Ethiopic, Mongolian, Georgian, extensions.
OTHER_ALPHABETS = "\u0370-\u0dff\u0f00-\u0fff\u10a0-\u10ff\u1200-\u177f\u1800-\u1cff\u1f00-\u1fff\u2c80-\u2dff"

# Marks that people leave out when they search: accents, Hebrew points, Arabic vowels, tatweel, joiners,
# variation selectors. Vowel signs of Indic scripts are letters of their words and stay. Lone surrogates
# cannot be stored as UTF-8.
_DROPPED = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u00ad\u1ab0-\u1aff\u1dc0-\u1dff\u200c-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff"
    "\ud800-\udfff]+"
)
# Each folds to the same whatever is around it: Latin letters, marks and spaces of Latin-1, dots, full-width forms.
_ALONE = re.compile("[\u00a0-\u024f\u1e00-\u1eff\u2026\u3000\uff01-\uff5e]")
# Characters that only lower case changes, and that join with none of each other.
_SIMPLE = re.compile(
    "[\x00-\x7f\u2012-\u2016\u2018-\u2023\u2190-\u2199\u2500-\u27ff\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u30fc"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f900-\U0001faff]*+"
)
# One character each after folding too: those of `_SIMPLE`, accented letters that are one character, full-width forms.
_AS_LONG = re.compile(_SIMPLE.pattern.replace("]*+", "\u00c0-\u00de\u00e0-\u00ff\u3000\uff01-\uff5e]*+"))
_OTHER_ALPHABET = re.compile(f"[{OTHER_ALPHABETS}]")
_BEYOND_ALPHABETS = re.compile("[^\x00-\u0dff]+")  # below are none of the next two; quicker to step over
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_EMOJI_RUN = re.compile(f"[{EMOJI}]+")
# Digits belong to the word before them.
_SCRIPT_CHANGE = re.compile(
    f"([a-z\u00df-\u024f][0-9]*(?=[{OTHER_ALPHABETS}])|[{OTHER_ALPHABETS}][0-9]*(?=[a-z\u00df-\u024f]))"
)
_PRIVATE = 0xF0000  # a plane of private letters: the tokenizer takes them for words, but not symbols
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile("[\u0020\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


def fold(text: str) -> str:
    """`text` without case, width, compatibility forms and the marks people leave out. Line breaks stay in number."""
    if text.isascii():
        return text.lower()
    text = _ALONE.sub(_plain_letter, text)
    return text.lower() if text.isascii() or _SIMPLE.fullmatch(text) else _fold_any(text)


def keeps_places(text: str) -> bool:
    """Whether it is plain that each character of `text` stands at the same place when it is folded."""
    return text.isascii() or _AS_LONG.fullmatch(text) is not None


def segment(folded: str) -> str:
    """`folded` with every character of an unspaced script a word, and a border where the script changes."""
    if folded.isascii():
        return folded
    text = _BEYOND_ALPHABETS.sub(_bordered, folded)
    return _SCRIPT_CHANGE.sub(r"\1 ", text) if _OTHER_ALPHABET.search(text) else text


def is_unspaced(token: str) -> bool:
    """Whether the token is a character of a script that `segment` splits, or an emoji as it stands for it."""
    return _UNSPACED_RUN.match(token) is not None or ord(token[0]) >= _PRIVATE


def as_written(token: str) -> str:
    """The emoji that a token of `segment` stands for; other tokens as they are."""
    code = ord(token[0]) - _PRIVATE
    if code < 0:
        return token
    return chr(code) if 0x2600 <= code <= 0x27BF else chr(0x10000 + code)


def key(name: str) -> str:
    """`name` as names are compared: Unicode normal form, case and kind of space do not count."""
    if name.isascii():
        return name.lower()
    text = unicodedata.normalize("NFC", _SURROGATES.sub("\ufffd", name)).casefold()
    return _SPACES.sub(" ", unicodedata.normalize("NFC", text))


def clean(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD, so that it can be stored."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _fold_any(text: str) -> str:
    decomposed = _DROPPED.sub("", unicodedata.normalize("NFKD", text)).casefold()
    return decomposed if decomposed.isascii() else unicodedata.normalize("NFC", decomposed)


def _plain_letter(letter: re.Match[str]) -> str:
    return _PLAIN_LETTERS[letter[0]]


def _bordered(run: re.Match[str]) -> str:
    return _EMOJI_RUN.sub(_spread_emoji, _UNSPACED_RUN.sub(_spread, run[0]))


def _spread(run: re.Match[str]) -> str:
    return f" {' '.join(run[0])} "


def _spread_emoji(run: re.Match[str]) -> str:
    return f" {' '.join(chr(_PRIVATE + (ord(char) & 0xFFFF)) for char in run[0])} "


_PLAIN_LETTERS = {
    chr(c): _fold_any(chr(c))
    for c in (*range(0xA0, 0x250), *range(0x1E00, 0x1F00), 0x2026, 0x3000, *range(0xFF01, 0xFF5F))
}
