"""Loading of object files. All sections of a file are put side by side in one mapping.

LLVM's own loader maps code and constants apart. In a fragmented address space they may lie more than 2 GiB apart, which
the code's 32-bit relative addresses cannot span, and the process ends. So the object files of `ir.machine_code` are
loaded here: ELF for x86-64 (System V ABI, AMD64 supplement, chapter 4), with the relocation types that such code uses.
"""

import ctypes
import struct
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_SECTION, _SYMBOL, _RELOCATION = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), struct.Struct("<QQq")
_SYMBOLS, _RELOCATIONS, _ZEROS = 2, 4, 8  # section types SHT_SYMTAB, SHT_RELA, SHT_NOBITS
_LOADED = 2  # section flag SHF_ALLOC: the section occupies memory of the process
_ABSOLUTE = 0xFFF1  # SHN_ABS: section number of symbols whose value is a number, not an address
_FAR_JUMP = b"\xff\x25\0\0\0\0"  # jmp to the 64-bit address that follows
_FAR_JUMP_SIZE = 16
_DISTANCES = (2, 4)  # R_X86_64_PC32, R_X86_64_PLT32: 32-bit distances from the place of the relocation
_ADDRESS = 1  # R_X86_64_64
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE, _ANONYMOUS = 2, 32


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


class ObjectFile:
    """An ELF object file, with the layout of its sections in memory.

    Args:
        code: the contents of the file.

    Raises:
        ValueError: the file is no object file for x86-64.

    Attributes:
        size: bytes that the mapping needs.
    """

    def __init__(self, code: bytes) -> None:
        if code[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", code, 16) != (1, 62):
            raise ValueError("no object file for x86-64")
        self._code = code
        (first,), (size, count, _) = struct.unpack_from("<Q", code, 40), struct.unpack_from("<HHH", code, 58)
        self._sections = [_Section(*_SECTION.unpack_from(code, first + i * size)) for i in range(count)]
        self._symbols = [symbol for section in self._sections for symbol in self._symbols_of(section)]
        self._places: dict[int, int] = {}  # offset in the mapping of each loaded section, by section number
        end = 0
        for number, section in enumerate(self._sections):
            if section.flags & _LOADED:
                end = -(-end // section.alignment) * section.alignment if section.alignment else end
                self._places[number] = end
                end += section.size
        self._jumps: dict[str, int] = {}  # offset of the far jump to each external function, by its name
        end = -(-end // _FAR_JUMP_SIZE) * _FAR_JUMP_SIZE
        for name, place, _ in self._symbols:
            if place == 0 and name:
                self._jumps[name] = end
                end += _FAR_JUMP_SIZE
        self.size = end

    def _symbols_of(self, section: _Section) -> Iterator[tuple[str, int, int]]:
        """Yield name, section number and value of each symbol, if the section is a symbol table."""
        if section.kind != _SYMBOLS:
            return
        names = self._sections[section.link].offset
        for at in range(section.offset, section.offset + section.size, _SYMBOL.size):
            name, _, _, place, value, _ = _SYMBOL.unpack_from(self._code, at)
            yield self._code[names + name : self._code.index(b"\0", names + name)].decode(), place, value

    def image(self, base: int) -> bytes:
        """Return the contents of the mapping, relocated for the address `base`.

        Raises:
            ValueError: a relocation has an unknown type, or the process lacks a function that the code calls.
        """
        image = bytearray(self.size)
        for number, place in self._places.items():
            section = self._sections[number]
            if section.kind != _ZEROS:
                image[place : place + section.size] = self._code[section.offset : section.offset + section.size]
        for name, place in self._jumps.items():
            image[place : place + 14] = _FAR_JUMP + struct.pack("<Q", _function(name))
        for section in self._sections:
            if section.kind == _RELOCATIONS and section.info in self._places:
                self._relocate(image, base, section)
        return bytes(image)

    def _relocate(self, image: bytearray, base: int, section: _Section) -> None:
        """Apply the relocations of one section to the image."""
        for at in range(section.offset, section.offset + section.size, _RELOCATION.size):
            offset, info, addend = _RELOCATION.unpack_from(self._code, at)
            symbol, kind = info >> 32, info & 0xFFFFFFFF
            place, target = self._places[section.info] + offset, self._address(symbol, base) + addend
            if kind in _DISTANCES:
                struct.pack_into("<i", image, place, target - (base + place))
            elif kind == _ADDRESS:
                struct.pack_into("<Q", image, place, target)
            else:
                raise ValueError(f"relocation of type {kind}, which is not known here")

    def _address(self, number: int, base: int) -> int:
        """Return the address of a symbol: in the mapping, that of its far jump, or its value if absolute."""
        name, place, value = self._symbols[number]
        if place == _ABSOLUTE:
            return value
        return base + (self._jumps[name] if place == 0 else self._places[place] + value)

    def functions(self, base: int) -> dict[str, int]:
        """Return the addresses of all named symbols, by name, for a mapping at `base`."""
        inside = {
            name: base + self._places[place] + value for name, place, value in self._symbols if place in self._places
        }
        return {name: address for name, address in inside.items() if name}


def load_object(code: bytes) -> dict[str, int]:
    """Load an object file into this process and never unload it; return the addresses of its functions by name.

    Raises:
        ValueError: the file cannot be loaded here; the message says why.
        MemoryError: the system grants no memory for it, or does not let it be executed.
    """
    file = ObjectFile(code)
    base = _memory().mmap(None, file.size, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
    if base in (None, ctypes.c_void_p(-1).value):
        raise MemoryError(f"no memory for {file.size:,} bytes of machine code")
    ctypes.memmove(base, file.image(base), file.size)
    if _memory().mprotect(base, file.size, _READ | _EXECUTE):
        raise MemoryError("this system does not let a process execute code that it has loaded")
    return file.functions(base)


@cache
def _memory() -> ctypes.CDLL:
    """Return the C library, with the argument and result types of mmap and mprotect declared."""
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


@cache
def _function(name: str) -> int:
    """Return the address of a function of the process, such as `pow`."""
    for library in (None, "libm.so.6"):
        try:
            address = ctypes.cast(getattr(ctypes.CDLL(library), name), ctypes.c_void_p).value
        except (AttributeError, OSError):
            continue
        if address:
            return address
    raise ValueError(f"this process has no function {name}, which machine code calls")
