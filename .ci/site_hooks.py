"""What MkDocs does beside the pages of `docs`: pages from the repository's root, and redirects from old addresses.

The README is the site's first page, so the two cannot differ. A link to a file that is on the site follows it there; a
link to another file of the repository becomes plain text.
"""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages of the site by the files of the root that they are."""
MOVED = {
    "api": "reference/api",
    "check_vector_env": "reference/checks",
    "choosing": "physics",
    "compilation": "how_it_works/compilation",
    "contacts": "physics",
    "far": "reference/far",
    "fields": "reference/fields",
    "gpu": "how_it_works/gpu",
    "hindsight": "training",
    "inverse_kinematics": "planning",
    "learning": "reference/learning",
    "managers": "your_own_task",
    "meshes": "physics",
    "numbers": "reference/numbers",
    "pairs": "reference/pairs",
    "parity": "reference/parity",
    "path_tracing": "pictures",
    "performance": "reference/performance",
    "pipeline": "reference/pipeline",
    "policies": "training",
    "robustness": "your_own_task",
    "rough_ground": "ground",
    "runs": "training",
    "scene": "scenes",
    "scene/coming_from": "reference/genesis",
    "scene/control": "scenes",
    "scene/coverage": "reference/genesis_names",
    "scene/defaults": "reference/genesis_defaults",
    "scene/drone": "scenes",
    "scene/entities": "scenes",
    "scene/grasp": "scenes",
    "scene/hello_robot": "scenes",
    "scene/parallel": "scenes",
    "scene/sensors": "scenes",
    "scene/state_tensors": "reference/state_tensors",
    "scene/task": "scenes",
    "scene/walking": "scenes",
    "support": "reference/support",
    "tasks/flight": "environments",
    "tasks/hand": "environments",
    "tasks/manipulation": "environments",
    "tasks/suite": "environments",
    "tasks/walking": "environments",
    "terrain": "ground",
    "urdf": "physics",
    "viewer": "pictures",
    "your_own_mechanism": "how_it_works/your_own_mechanism",
}
"""Addresses of pages, or of folders of pages, by those that they had before."""
REDIRECT = '<!doctype html><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url={}">\n'


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the root, the licence and the examples."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    for path in (ROOT / "LICENSE", *sorted((ROOT / "examples").rglob("*.*"))):
        if path.suffix != ".pyc":
            files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Rewrite the links of a page that lead out of `docs`, or out of the root's own pages."""
    names = {page: source for source, page in PAGES.items()}
    source = PurePosixPath(names.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match.groups(default="")
        path = os.path.normpath(source.parent / target)
        if new := MOVED.get(
            path.removeprefix("docs/").removesuffix(".md").removesuffix("/index")
        ):  # in the list of changes
            path = f"docs/{new}.md"
        if not (ROOT / path).is_file() or (source.parts[0] == "docs" and path.startswith("docs/")):
            return match[0]
        place = PAGES.get(path, path.removeprefix("docs/"))
        if files.get_file_from_path(place) is None:
            return words
        return f"[{words}]({os.path.relpath(place, PurePosixPath(page.file.src_uri).parent)}{anchor})"

    return re.sub(r"\[([^][]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)", link, markdown)


def on_post_build(config: Any) -> None:
    """Write a page at each old address that sends browsers to the new one."""
    site = Path(config["site_dir"])
    for old, new in MOVED.items():
        pages = [path.relative_to(site / new).parent for path in (site / new).rglob("index.html")]
        if not pages:
            raise PluginError(f"MOVED: no page is at {new}/")
        for page in pages:
            folder = site / old / page
            if not (folder / "index.html").exists():
                folder.mkdir(parents=True, exist_ok=True)
                address = os.path.relpath(site / new / page, folder)
                (folder / "index.html").write_text(REDIRECT.format(f"{address}/"), encoding="utf-8")
