"""From PTX to a shared object, as the emulated driver asks for it: `python -m tests.cuda.ptx_compile IN.ptx OUT.so`.

What gcc made is kept in the folder CUDA_EMULATION_CACHE, under a name that is made of the PTX, this translator and the
options; the same kernel costs nothing the next time.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .ptx_reader import Refused
from .ptx_to_c import translated

# Without optimization gcc takes 7 seconds for 110,000 lines of PTX, with -O1 130 (24 if registers are not arrays), and
# what it makes runs at a third of the speed. Products and sums are fused only where PTX says so.
OPTIONS = ["-O0", "-w", "-shared", "-fPIC", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fwrapv"]
OPTIONS += ["-fno-strict-aliasing", "-fvisibility=default"]


def _processor() -> str:
    """What -march=native depends on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line for line in lines if line.startswith("flags")), "")


def cache_name(ptx: str, counting: bool) -> str:
    """A name for what the PTX becomes."""
    sources = [path for ending in ("ptx_*.py", "prelude.h") for path in sorted(Path(__file__).parent.glob(ending))]
    texts = [ptx, str(counting), " ".join(OPTIONS), _processor(), *(path.read_text() for path in sources)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


def compile_ptx(ptx: str, counting: bool, cache: Path) -> Path:
    """The shared object of a module, from the cache where it is there."""
    kept = cache / f"{cache_name(ptx, counting)}.so"
    if kept.exists():
        return kept
    source = translated(ptx, counting)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        made = Path(folder, "module.so")
        Path(folder, "module.c").write_text(source)
        subprocess.run(["gcc", *OPTIONS, "-o", made, Path(folder, "module.c"), "-lm"], check=True)
        made.rename(kept)
    return kept


def main() -> None:
    """Translate a file; what is refused is said on stderr, with its line."""
    path, out = map(Path, sys.argv[1:3])
    counting = bool(os.environ.get("CUDA_EMULATION_COUNTS"))
    try:
        kept = compile_ptx(path.read_text(), counting, Path(os.environ["CUDA_EMULATION_CACHE"]))
    except Refused as refusal:
        sys.exit(f"emulated CUDA: {path}: {refusal}")
    shutil.copyfile(kept, out)  # its own copy: two modules with the same text have variables of their own


if __name__ == "__main__":
    main()
