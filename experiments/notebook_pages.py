"""Notebooks on paper: each one is run, turned into a page by pandoc, and printed by Chromium."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from experiments.views import STATIC

__all__ = ["PRINTERS", "main", "page_of", "pdf_of"]

ROOT = Path(__file__).parents[1]
WRAPPED = "<style>pre, pre code, code { white-space: pre-wrap !important; }</style>"  # on paper
PRINTERS = ("chromium", "chromium-browser", "google-chrome")


def page_of(notebook: Path, folder: Path) -> Path:
    """Run a notebook and write it as one HTML file.

    Parameters
    ----------
    notebook : Path
    folder : Path
        Where ``NAME.html`` goes.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell fails, as an exercise with a wrong answer does.
    subprocess.CalledProcessError
        If pandoc fails.
    """
    import nbclient
    import nbformat

    content = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    nbclient.NotebookClient(
        content, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
    ).execute()
    folder.mkdir(parents=True, exist_ok=True)
    run = folder / notebook.name
    page = folder / f"{notebook.stem}.html"
    nbformat.write(content, run)  # type: ignore[no-untyped-call]
    try:
        # Pandoc 2.19 calls the last one --embed-resources, and still knows it.
        command = ["pandoc", str(run), "--mathml", "--standalone", "--self-contained"]
        command += ["--variable", f"header-includes={WRAPPED}"]
        command += ["--metadata", f"pagetitle={notebook.stem}", "-o", str(page)]
        subprocess.run(command, check=True)
    finally:
        run.unlink()
    return page


def pdf_of(page: Path) -> Path | None:
    """Print a page to a PDF beside it; None if no Chromium is installed."""
    printer = next((found for name in PRINTERS if (found := shutil.which(name))), None)
    if printer is None:
        return None
    pdf = page.with_suffix(".pdf")
    command = [printer, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    command += [f"--print-to-pdf={pdf}", page.resolve().as_uri()]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return pdf


def main(arguments: list[str]) -> int:
    """Write pages and PDFs of the given notebooks, or of all; 1 without pandoc."""
    parser = argparse.ArgumentParser(prog="make notebooks-pdf", description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of notebooks/")
    chosen = parser.parse_args(arguments).notebooks
    if shutil.which("pandoc") is None:
        sys.stderr.write("error: pandoc is not installed (https://pandoc.org)\n")
        return 1
    os.environ[STATIC] = "1"
    for notebook in chosen or sorted((ROOT / "notebooks").glob("*.ipynb")):
        page = page_of(notebook, ROOT / "build" / "notebooks")
        sys.stdout.write(f"{(pdf_of(page) or page).relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
