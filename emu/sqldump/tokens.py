"""The tokens of a MySQL dump: words, names, numbers, and strings with all their escapes."""

from __future__ import annotations

import re

from emu.sqldump.source import CHUNK, Source

MAX_STATEMENT = 256 * 1024 * 1024
"""Bytes of one statement."""
MAX_VALUE = 1024 * 1024
"""Bytes of one value in the file."""
MAX_IDENTIFIER = 256
"""Bytes of a table's or column's name."""
Value = str | int | float | bytes | None
"""A value of a row: text is `str`, binary and hex literals are `bytes`."""

_BLANK = re.compile(rb"[\s\0]*+")
_TO_LINE_END = re.compile(rb"[^\n]*+")
WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*+")
_NAME = re.compile(rb"`((?:[^`]|``){1,256}+)`|\"([^\"]{1,256}+)\"|([A-Za-z0-9_$\x80-\xff]{1,256}+)")
_UNNESTED = re.compile(rb"[^;'\"`#/\-(),]++|[/\-(),]")
_NUMBER = re.compile(
    rb"[+-]?(?:0x([0-9A-Fa-f]++)\b|0b([01]++)\b|(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?+)"
)
_INSIDE = {
    quote: re.compile(rb"(?:[^\\%c]++|\\.|%c%c)*+" % (quote, quote, quote), re.DOTALL)
    for quote in b"'\""
} | {ord("`"): re.compile(rb"(?:[^`]++|``)*+")}
_ESCAPE = {quote: re.compile(rb"\\(.)|%c%c" % (quote, quote), re.DOTALL) for quote in b"'\""}
_ESCAPES = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a",
            b"%": b"\\%", b"_": b"\\_"}  # fmt: skip


class DumpTokenizer:
    """Reads tokens from a source. Errors are `FileFormatError` with the line."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._statement = 0

    def begin(self) -> bool:
        """Go to the next statement; False at the end of the file."""
        found = self.skip_blank()
        self._statement = self._source.consumed
        return found

    def skip_blank(self) -> bool:
        """Go past white space and comments; False at the end of the file."""
        source = self._source
        while True:
            self.skip_white()
            start = source.peek(3)
            if not start:
                return False
            # MySQL needs a blank behind "--"; without it the two signs are an operator.
            if start[:1] == b"#" or (start[:2] == b"--" and start[2:].strip(b" \t\r\n\0") == b""):
                self.skip_line()
            elif start[:2] == b"/*":
                source.pos += 2
                self._skip_past(b"*/")
            else:
                return True

    def skip_white(self) -> None:
        """Go past white space, but not past comments."""
        self._run(_BLANK)

    def skip_line(self) -> None:
        """Go to the end of the line."""
        self._run(_TO_LINE_END)

    def _skip_past(self, end: bytes) -> None:
        """Go past the end of a comment."""
        source = self._source
        while (found := source.buffer.find(end, source.pos)) < 0:
            # The end mark may be cut by the chunk, so its first bytes stay in the buffer.
            source.pos = max(source.pos, len(source.buffer) - len(end) + 1)
            if not source.fill():
                raise source.error("the file ends inside a comment; was it cut short?")
        source.pos = found + len(end)

    def _run(self, pattern: re.Pattern[bytes]) -> None:
        """Consume a match of any length, a chunk at a time."""
        source = self._source
        while True:
            found = pattern.match(source.buffer, source.pos)
            if found is not None:
                source.pos = found.end()
            # A match that reaches the end of the buffer may go on in the next chunk.
            if source.pos < len(source.buffer) or not source.fill():
                return

    def word(self) -> bytes:
        """Consume and return an unquoted word in upper case, b"" if there is none."""
        self.need()
        found = self._source.match(WORD, MAX_IDENTIFIER)
        if found is None:
            return b""
        self._source.pos = found.end()
        return found[0].upper()

    def need(self) -> None:
        """Go to the next token; raise an error if the file ends before it."""
        if not self.skip_blank():
            raise self._source.error("the file ends inside a statement; was it cut short?")
        # Counted from its first byte, so that an endless one is refused.
        if self._source.consumed - self._statement > MAX_STATEMENT:
            raise self._source.error(f"a statement is longer than {MAX_STATEMENT} bytes")

    def next(self) -> bytes:
        """Return the first byte of the next token without consuming it."""
        self.need()
        return self._source.peek(1)

    def take(self, byte: bytes) -> bool:
        """Consume one byte if it is the next token."""
        if self.next() != byte:
            return False
        self._source.pos += 1
        return True

    def expect(self, byte: bytes) -> None:
        """Consume one byte, which must be the next token."""
        if not self.take(byte):
            raise self._source.error(f"expected {byte.decode()!r}")

    def name(self) -> str:
        """Consume a table's or column's name."""
        self.need()
        found = self._source.match(_NAME, 2 * MAX_IDENTIFIER)
        if found is None:
            raise self._source.error("expected a name")
        self._source.pos = found.end()
        quoted = found[1].replace(b"``", b"`") if found[1] is not None else found[2]
        return text_of(quoted if quoted is not None else found[3])

    def skip_token(self) -> bytes:
        """Go past one token inside parentheses; return its first byte."""
        first = self.next()
        if not self.skip_string():
            found = self._source.match(_UNNESTED, CHUNK)
            # A byte that no pattern accepts is skipped alone, so the reader always advances.
            self._source.pos = self._source.pos + 1 if found is None else found.end()
        return first

    def skip_string(self) -> bool:
        """Go past a quoted string, if it is the next token."""
        if self._source.peek(1) not in (b"'", b'"', b"`"):
            return False
        self.quoted(MAX_STATEMENT, keep=False)
        return True

    def value(self) -> Value:
        """Read one value of any form."""
        first = self.next()
        if first in (b"'", b'"'):
            # The value decides how text is read: UTF-8 if it is valid, otherwise Latin-1.
            return text_of(self.quoted(MAX_VALUE))
        found = self._source.match(_NUMBER, MAX_VALUE)
        if found is not None:
            self._source.pos = found.end()
            return self._number(found)
        word = self.word()
        if word in (b"NULL", b"DEFAULT"):
            return None
        if word in (b"TRUE", b"FALSE"):
            return int(word == b"TRUE")
        if word and (word in (b"X", b"B", b"N") or word.startswith(b"_")):
            if self.next() in (b"'", b'"'):
                return self._introduced(word, self.quoted(MAX_VALUE))
            if word == b"_BINARY":
                value = self.value()
                return value.encode() if isinstance(value, str) else value
        raise self._source.error("expected a value: a string, a number or NULL")

    def _number(self, found: re.Match[bytes]) -> int | float | bytes:
        text = found[0]
        if len(text) > MAX_VALUE:
            raise self._source.error(f"a value is longer than {MAX_VALUE} bytes")
        if found[1] is not None:
            # An odd number of hex digits has an implied zero in front, as in MySQL.
            return bytes.fromhex(found[1].decode().rjust(len(found[1]) + len(found[1]) % 2, "0"))
        # Converting a very long number is slow, and no column holds one.
        if len(text) > 400:
            raise self._source.error("a number has more than 400 digits")
        if found[2] is not None:
            return int(found[2], 2)
        return float(text) if text.strip(b"+-0123456789") else int(text)

    def _introduced(self, word: bytes, raw: bytes) -> Value:
        """Return the value of a string with an introducer: x'..', b'..', _binary '..'."""
        try:
            if word == b"X":
                return bytes.fromhex(raw.decode("ascii"))
            if word == b"B":
                return int(raw or b"0", 2) if len(raw) <= 64 else raw
        except ValueError as error:
            raise self._source.error(f"{word.decode()}'...' holds other digits") from error
        return raw if word == b"_BINARY" else text_of(raw, latin=word == b"_LATIN1")

    def quoted(self, limit: int, *, keep: bool = True) -> bytes:
        """Consume a quoted string; return its value (b"" unless `keep`)."""
        source = self._source
        quote = source.buffer[source.pos]
        source.pos += 1
        parts: list[bytes] = []
        size = 0
        while True:
            found = _INSIDE[quote].match(source.buffer, source.pos)
            end = found.end() if found is not None else source.pos
            size += end - source.pos
            if size > limit:
                raise source.error(f"a value is longer than {limit} bytes")
            if keep:
                parts.append(source.buffer[source.pos : end])
            source.pos = end
            mark = source.peek(2)
            # A doubled quotation mark is one mark inside the string and does not end it.
            if mark[:1] == bytes((quote,)) and mark[1:] != mark[:1]:
                source.pos += 1
                break
            if len(mark) < 2:
                raise source.error("the file ends inside a string; was it cut short?")
        raw = b"".join(parts)
        # Most strings have no escapes and need no second pass.
        return raw if b"\\" not in raw and quote not in raw else _unescaped(raw, quote)


def _unescaped(raw: bytes, quote: int) -> bytes:
    return _ESCAPE[quote].sub(_unescape, raw)


def _unescape(found: re.Match[bytes]) -> bytes:
    escaped: bytes | None = found[1]
    if escaped is None:
        # Without a letter behind a backslash it was a doubled quotation mark.
        return found[0][:1]
    # MySQL ignores the backslash before any other letter.
    return _ESCAPES.get(escaped, escaped)


def text_of(raw: bytes, *, latin: bool = False) -> str:
    """Return bytes as text: UTF-8, else Latin-1, which accepts all bytes."""
    if not latin:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return raw.decode("latin-1")
