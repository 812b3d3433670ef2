"""Types: the package and what users write pass mypy --strict and pyright, and slips are found."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TYPED = ROOT / "python/tests/typing"
PACKAGE = ROOT / "python/gruppetto"


def mypy(*paths):
    command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", *paths]
    return subprocess.run(command, capture_output=True, text=True, cwd=TYPED, check=False).stdout


def pyright(*paths):
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *paths]
    return subprocess.run(command, capture_output=True, text=True, cwd=TYPED, check=False).stdout


def test_mypy_finds_nothing_wrong():
    assert "Success: no issues found" in mypy("as_users_write.py", PACKAGE)


def test_pyright_finds_nothing_wrong():
    said = pyright("as_users_write.py", PACKAGE)
    assert "\n0 errors" in f"\n{said}", said


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_slips_are_found(checker):
    marked = [number for number, line in enumerate((TYPED / "wrong.py").read_text().splitlines(), 1) if "# wrong" in line]
    found = {int(number) for number in re.findall(r"wrong\.py:(\d+)[^\n]*error", checker("wrong.py"))}
    assert found == set(marked)


def test_it_runs(capsys):
    sys.path.insert(0, str(TYPED))
    import as_users_write

    as_users_write.main()
    assert "complete" in capsys.readouterr().out
