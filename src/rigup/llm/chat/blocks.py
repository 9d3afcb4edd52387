"""Markdown that is still being written, parted into blocks that are finished and one that is not."""

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_GOES_ON = re.compile(r"\s|(?:[-*+]|\d{1,9}[.)])\s|>|\|")
_MOST_LINES = 400  # of a block; a longer one is given out in parts


class Blocks:
    """Text comes in as it is said; a block comes out when nothing can change it any more."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._tail = ""
        self._fence, self._gap = "", False

    def take(self, text: str) -> list[str]:
        """What has been finished by this piece."""
        *whole, self._tail = (self._tail + text).split("\n")
        return [done for line in whole for done in self._line(line)]

    def _line(self, line: str) -> list[str]:
        done: list[str] = []
        if self._fence:
            self._lines.append(line)
            mark = _FENCE.match(line)
            if mark and mark[1].startswith(self._fence) and not line[mark.end() :].strip():
                self._fence = ""
                done += self._finish()
            return done or self._part()
        if not line.strip():
            self._gap = bool(self._lines)
            self._lines += [line] if self._lines else []
            return done
        if self._gap and not (_GOES_ON.match(line) and _GOES_ON.match(self._lines[0])):
            done += self._finish()  # items of a list may stand apart; a list behind a paragraph is another block
        self._gap = False
        mark = _FENCE.match(line)
        if mark:
            done += self._finish()
            self._fence = mark[1]
        self._lines.append(line)
        return done or self._part()

    def _part(self) -> list[str]:
        """The beginning of a block that has grown too long; of code both parts are code."""
        if len(self._lines) < _MOST_LINES:
            return []
        fence = self._fence
        head = next((line for line in self._lines if _FENCE.match(line)), fence) if fence else ""
        done = "\n".join([*self._lines, fence] if fence else self._lines)
        self._lines = [head] if fence else []
        return [done]

    def _finish(self) -> list[str]:
        done = "\n".join(self._lines).strip("\n")
        self._lines, self._gap = [], False
        return [done] if done.strip() else []

    def unfinished(self, lines: int, width: int) -> str:
        """The end of what is not finished, at most so many lines of a screen."""
        tail = [*self._lines[-lines:], self._tail[-lines * width :]]
        return "\n".join(line[-lines * width :] for line in tail)

    def rest(self) -> str:
        """What is left when nothing more comes."""
        left = "\n".join([*self._lines, self._tail]).strip("\n")
        self._lines, self._tail, self._fence = [], "", ""
        return left
