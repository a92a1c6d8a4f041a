"""Count lines of code per folder: no blank lines, comments or docstrings. `python .ci/count.py [COMMIT]`."""

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter

PRODUCTION = "assets", "benchmarks", "envs", "physics", "scene", "soft", "terrain", "training", "viewer"
IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def lines_of_code(source: str) -> int:
    """Return the number of lines with a token of the program on them, docstrings left out."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in IGNORED:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def main() -> None:
    """Print files and lines of code of each folder at a commit, HEAD by default."""
    commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    names = subprocess.check_output(["git", "ls-tree", "-r", "--name-only", commit], text=True).splitlines()
    files, lines = Counter[str](), Counter[str]()
    for name in names:
        if name.endswith(".py"):
            folder = name.split("/")[0] if "/" in name else "(top)"
            source = subprocess.check_output(["git", "show", f"{commit}:{name}"], text=True)
            files[folder] += 1
            lines[folder] += lines_of_code(source)
    for folder in sorted(files):
        print(f"{folder:12}{files[folder]:6}{lines[folder]:8}")
    print(f"{'production':12}{sum(files[f] for f in PRODUCTION):6}{sum(lines[f] for f in PRODUCTION):8}")


if __name__ == "__main__":
    main()
