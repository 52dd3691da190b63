"""A document that is a zip archive (DOCX, ODT): reads its parts within limits and writes the archive with changes.

The standard library's `zipfile` reads the directory and the parts. The archive is written by copying: the records of
unchanged parts are copied byte for byte, in the same order, with their dates, compression and extra fields, so that an
archive without changes is the same file. Nothing is extracted to disk, so the names of the parts need no checks; parts
that are not requested are never decompressed.

Zip64, encrypted archives and split archives are not supported; they are refused with a one-line error.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from regard.errors import InputError

MAX_PARTS = 10_000
MAX_BYTES = 64 * 1024 * 1024  # maximum decompressed size of all parts that are read

LOCAL = struct.Struct("<4s5H3L2H")  # signature, version, flags, method, time, date, crc, sizes, name and extra length
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
ENCRYPTED, SIZES_FOLLOW = 0x1, 0x8  # bits of the flags


@dataclass(frozen=True)
class Archive:
    """The bytes of a zip file and its directory."""

    data: bytes
    kind: str  # name in messages: "DOCX", "ODT"
    members: dict[str, zipfile.ZipInfo]

    def part(self, name: str, most: int = MAX_BYTES) -> bytes:
        """Returns the decompressed bytes of a part; raises before or while reading if it exceeds `most`."""
        member = self.members.get(name)
        if member is None:
            raise InputError(f"this {self.kind} file has no part {name}: it is damaged or of another kind")
        if member.flag_bits & ENCRYPTED:
            raise InputError(f"part {name} of this {self.kind} file is encrypted: save it without a password")
        too_large = f"part {name} of this {self.kind} file holds more than {most} bytes of text, the most that is read"
        if member.file_size > most:
            raise InputError(too_large)
        try:
            with zipfile.ZipFile(io.BytesIO(self.data)) as opened, opened.open(member) as stream:
                content = stream.read(most + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error) as error:
            raise InputError(f"part {name} of this {self.kind} file cannot be read: {error}") from None
        if len(content) > most:
            raise InputError(too_large)
        return content

    def parts(self, names: list[str]) -> dict[str, bytes]:
        """Returns several parts, whose total size must not exceed `MAX_BYTES`."""
        read: dict[str, bytes] = {}
        left = MAX_BYTES
        for name in names:
            read[name] = self.part(name, left)
            left -= len(read[name])
        return read

    def replaced(self, parts: Mapping[str, bytes]) -> bytes:
        """Returns the archive with these parts replaced and everything else unchanged, byte for byte."""
        by_place = sorted(self.members.values(), key=lambda member: member.header_offset)
        directory = directory_start(self.data)
        starts = [member.header_offset for member in by_place] + [directory]
        written = bytearray(self.data[: starts[0]])
        changes: dict[str, tuple[int, int, int, int]] = {}  # offset, crc, compressed and uncompressed size
        for member, start, end in zip(by_place, starts, starts[1:], strict=False):
            content = parts.get(member.filename)
            offset = len(written)
            if content is None:
                written += self.data[start:end]
                changes[member.filename] = (offset, member.CRC, member.compress_size, member.file_size)
            else:
                packed = deflated(content) if member.compress_type == zipfile.ZIP_DEFLATED else content
                numbers = (zlib.crc32(content), len(packed), len(content))
                changes[member.filename] = (offset, *numbers)
                written += local_header(self.data, start, numbers) + packed
        place = len(written)
        written += self.central_directory(directory, changes)
        length = len(written) - place
        end = directory_end(self.data)
        values = list(END.unpack_from(self.data, end))
        values[5], values[6] = length, place
        return bytes(written + END.pack(*values) + self.data[end + END.size :])

    def central_directory(self, start: int, changes: Mapping[str, tuple[int, int, int, int]]) -> bytes:
        """The central directory with the members' new offsets, checksums and sizes."""
        written = bytearray()
        for member in self.members.values():  # in the order of the directory
            values = list(CENTRAL.unpack_from(self.data, start))
            variable = values[10] + values[11] + values[12]  # name, extra field, comment
            offset, *numbers = changes[member.filename]
            if numbers != values[7:10]:
                values[3] &= ~SIZES_FOLLOW
            values[7:10], values[16] = numbers, offset
            written += CENTRAL.pack(*values) + self.data[start + CENTRAL.size : start + CENTRAL.size + variable]
            start += CENTRAL.size + variable
        return bytes(written)


def deflated(content: bytes) -> bytes:
    """Compresses content to a raw deflate stream, as in zip files."""
    packer = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


def local_header(data: bytes, start: int, numbers: tuple[int, int, int]) -> bytes:
    """The local header before a member's data, with a new checksum and new sizes."""
    values = list(LOCAL.unpack_from(data, start))
    variable = values[9] + values[10]
    values[2] &= ~SIZES_FOLLOW
    values[6:9] = numbers
    return LOCAL.pack(*values) + data[start + LOCAL.size : start + LOCAL.size + variable]


def directory_end(data: bytes) -> int:
    return data.rfind(b"PK\x05\x06")


def directory_start(data: bytes) -> int:
    return int(END.unpack_from(data, directory_end(data))[6])


def open_archive(data: bytes, kind: str) -> Archive:
    """Opens an archive and checks its directory: members must not overlap, be repeated, or be too many."""
    if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise InputError(
            f"this is not a {kind} file but an older or encrypted Office file: save it as {kind}, without a password"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            listed = opened.infolist()
            end = directory_end(data)
            place = directory_start(data)
            length = END.unpack_from(data, end)[5]
    except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError, UnicodeDecodeError) as error:
        raise InputError(f"this is not a {kind} file: {str(error)[:100].lower()}") from None
    if len(listed) > MAX_PARTS:
        raise InputError(f"this {kind} file has {len(listed)} parts, but at most {MAX_PARTS} are read")
    members = {member.filename: member for member in listed}
    if len(members) < len(listed):
        raise InputError(f"this {kind} file holds a part twice: it is damaged")
    if not listed:
        raise InputError(f"this {kind} file is an archive without parts")
    if place + length != end or not separate(listed, place, data):
        raise InputError(f"this {kind} file is damaged: its directory and its parts do not fit together")
    return Archive(data, kind, members)


def separate(listed: list[zipfile.ZipInfo], directory: int, data: bytes) -> bool:
    """Whether the members' records do not overlap: each lies between its start and the start of the next one."""
    by_place = sorted(listed, key=lambda member: member.header_offset)
    ends = [member.header_offset for member in by_place[1:]] + [directory]
    for member, end in zip(by_place, ends, strict=True):
        start = member.header_offset
        if start + LOCAL.size > end:
            return False
        header = LOCAL.unpack_from(data, start)
        if header[0] != b"PK\x03\x04" or start + LOCAL.size + header[9] + header[10] + member.compress_size > end:
            return False
    return True
