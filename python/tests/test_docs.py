"""docs/python.md: what it shows runs, and the reference is what the docstrings say."""

import re
import subprocess
import sys
from pathlib import Path

import gruppetto as gp

ROOT = Path(__file__).resolve().parents[2]


def test_the_reference_is_up_to_date():
    subprocess.run([sys.executable, ROOT / "scripts/python-reference", "--check"], check=True)


def test_everything_that_is_exported_is_in_the_reference():
    page = (ROOT / "docs/python-reference.md").read_text()
    headings = set(re.findall(r"^### `(\w+)`", page, re.M)) | set(re.findall(r"^## `gp\.(\w+)`", page, re.M))
    assert set(gp.__all__) - headings == {"RunError", "ScenarioError", "__version__"}


def test_the_examples_of_the_page_run(monkeypatch, tmp_path):
    page = (ROOT / "docs/python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    monkeypatch.chdir(ROOT)
    names: dict = {}
    ran = 0
    for block in blocks:
        # Those with PyTorch and with packages of others are in tests of their own.
        if "torch" in block or "monitors" in block:
            continue
        exec(block, names)
        ran += 1
    assert ran == 2 and names["run"].summary["status"] == "complete"
