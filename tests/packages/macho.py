"""Reads a program or library for macOS: its header, its exports and imports, and whether its signature matches.

Format: Apple's <mach-o/loader.h>, <mach-o/nlist.h> and, of the signature, <kern/cs_blobs.h>.
"""
import hashlib
import struct

MAGIC = b"\xcf\xfa\xed\xfe"
CPUS = {0x0100000C: "arm64", 0x01000007: "x86_64"}
KINDS = {2: "program", 6: "library"}
SEGMENT, SYMBOLS, LOAD_LIBRARY, LIBRARY_ID, BUILD, SIGNATURE = 0x19, 0x2, 0xC, 0xD, 0x32, 0x1D
MACOS, ADHOC, SHA256 = 1, 0x2, 2
DYLD_INFO, EXPORTS = 0x80000022, 0x80000033
INDEPENDENT = 0x200000


def text_at(data, start):
    return data[start:data.index(b"\0", start)].decode()


def uleb(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def trie(data, node=0, name=""):
    """The names in a tree of exports, which is what the loader looks them up in."""
    size, at = uleb(data, node)
    names = [name] if size else []
    at += size
    children, at = data[at], at + 1
    for _ in range(children):
        edge = text_at(data, at)
        child, at = uleb(data, at + len(edge) + 1)
        names += trie(data, child, name + edge)
    return names


class MachO:
    def __init__(self, data):
        self.data = data
        magic, cpu, _, kind, count, _, flags, _ = struct.unpack_from("<8I", data)
        if data[:4] != MAGIC:
            raise ValueError(f"not a Mach-O file of 64 bits: {magic:#x}")
        self.cpu, self.kind, self.independent = CPUS.get(cpu), KINDS.get(kind), bool(flags & INDEPENDENT)
        self.libraries, self.rights, self.exports, self.imports = [], {}, [], set()
        self.name = self.minimum = self.signature = self.code = None
        at = 32
        for _ in range(count):
            command, size = struct.unpack_from("<2I", data, at)
            self.read(command, at)
            at += size

    def read(self, command, at):
        data = self.data
        if command == SEGMENT:
            name = data[at + 8:at + 24].rstrip(b"\0").decode()
            rights = struct.unpack_from("<I", data, at + 60)[0]
            self.rights[name] = rights
            for i in range(struct.unpack_from("<I", data, at + 64)[0]):
                section = at + 72 + 80 * i
                if data[section:section + 16].rstrip(b"\0") == b"__text":
                    self.code = struct.unpack_from("<QI", data, section + 40)
        elif command in (LOAD_LIBRARY, LIBRARY_ID):
            name = text_at(data, at + struct.unpack_from("<I", data, at + 8)[0])
            if command == LIBRARY_ID:
                self.name = name
            else:
                self.libraries.append(name)
        elif command == BUILD:
            platform, minimum = struct.unpack_from("<2I", data, at + 8)
            self.minimum = (minimum >> 16, minimum >> 8 & 0xFF) if platform == MACOS else None
        elif command in (DYLD_INFO, EXPORTS):
            offset, size = struct.unpack_from("<2I", data, at + (40 if command == DYLD_INFO else 8))
            self.exports += trie(data[offset:offset + size]) if size else []
        elif command == SYMBOLS:
            self.read_symbols(*struct.unpack_from("<3I", data, at + 8))
        elif command == SIGNATURE:
            self.signature = struct.unpack_from("<2I", data, at + 8)

    def read_symbols(self, table, count, names):
        for i in range(count):
            name, kind, section = struct.unpack_from("<I2B", self.data, table + 16 * i)
            # Seen outside, and in no section of this file.
            if kind & 0x1F == 1 and section == 0:
                self.imports.add(text_at(self.data, names + name).removeprefix("_"))

    def signed(self):
        """Whether it is signed by nobody in particular, and each of its pages has the hash that the signature names."""
        if self.signature is None:
            return False
        start = self.signature[0]
        _, _, blobs = struct.unpack_from(">3I", self.data, start)
        for i in range(blobs):
            slot, offset = struct.unpack_from(">2I", self.data, start + 12 + 8 * i)
            if slot == 0:
                return self.pages_fit(start + offset)
        return False

    def pages_fit(self, at):
        magic, _, _, flags, hashes, _, _, count, limit, length, kind, _, page = struct.unpack_from(">9I4B", self.data, at)
        pages = [self.data[i:min(i + (1 << page), limit)] for i in range(0, limit, 1 << page)]
        stored = [self.data[at + hashes + length * i:][:length] for i in range(count)]
        return (magic == 0xFADE0C02 and flags & ADHOC and kind == SHA256 and limit == self.signature[0]
                and stored == [hashlib.sha256(page).digest() for page in pages])

    def fused(self):
        """How many multiply-adds that round once are in its ARM code: fmadd and its kin, fmla and fmls."""
        size, offset = self.code
        words = struct.unpack_from(f"<{size // 4}I", self.data, offset)
        return sum(word >> 24 == 0x1F or word & 0xBF20FC00 == 0x0E20CC00 or word & 0xAF80B400 == 0x0F801000 for word in words)
