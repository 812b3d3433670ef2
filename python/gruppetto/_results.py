"""What comes out of a run: tables, models, latencies, the report."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Table:
    """Rows of a run, as columns. Polars, pyarrow and others read it without copies (Arrow's PyCapsule interface)."""

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column as a NumPy array; what is missing is NaN."""
        values, kind = self._native.raw(name)
        return np.array(values) if kind == "text" else np.frombuffer(values, dtype=kind)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame."""
        frame: pandas.DataFrame = _imported("pandas").DataFrame({name: self[name] for name in self})
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars DataFrame, without copies."""
        frame: polars.DataFrame = _imported("polars").DataFrame(self)
        return frame

    def to_pyarrow(self) -> pyarrow.Table:
        """The table as a pyarrow Table, without copies."""
        return _imported("pyarrow").table(self)


def _imported(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise ImportError(f"{name} is not installed: pip install {name}, or use the columns as NumPy arrays") from None


class Latency:
    """How long clients took for one phase."""

    def __init__(self, folder: Path, phase: str, run: str) -> None:
        self._where = folder, phase, run

    def percentile(self, part: float) -> float:
        """Seconds that ``part`` percent of the clients' rounds did not exceed."""
        folder, phase, run = self._where
        return _native.latency(folder, phase, [part])[run][0]


class Run:
    """A scenario that was run: its summary, tables, models and report."""

    def __init__(self, path: Path, summary: dict[str, Any], temporary: object | None) -> None:
        self.path = path
        self.summary = summary
        # It goes with the run.
        self._temporary = temporary

    @property
    def rounds(self) -> Table:
        """A row for every aggregation."""
        return Table(_native.table(self.path, "rounds"))

    @property
    def clients(self) -> Table:
        """A row for every participation of a client."""
        return Table(_native.table(self.path, "clients"))

    @property
    def runs(self) -> Table:
        """A row for every run: a variant with a seed and, with a sweep, a value of every swept key."""
        return Table(_native.table(self.path, "runs"))

    @property
    def report(self) -> Path:
        """The page that explains the run."""
        return self.path / "report.html"

    def model(
        self, variant: str | None = None, seed: int | None = None, **swept: Any
    ) -> dict[str, npt.NDArray[Any]]:
        """The final parameters of a variant, by name.

        With a sweep also its values, by the last part of the key: ``run.model("fednova", deadline="5s")``.
        """
        return _tensors(self.path / f"model-{self._cell(variant, seed, swept)}.safetensors")

    def latency(self, phase: str, variant: str | None = None, seed: int | None = None, **swept: Any) -> Latency:
        """Latencies of a phase: download, compute, upload, round, staleness or idle."""
        known = ["download", "compute", "upload", "round", "staleness", "idle"]
        if phase not in known:
            raise ValueError(f"phase {phase!r}: expected one of {', '.join(known)}")
        return Latency(self.path, phase, self._cell(variant, seed, swept))

    def _cell(self, variant: str | None, seed: int | None, swept: dict[str, Any]) -> str:
        """How files name a run."""
        cells: list[dict[str, Any]] = self.summary["variants"]
        keys = {key: one["key"] for one in self.summary.get("swept", []) for key in (one["key"], one["label"])}
        for key in keys.copy():
            keys[key.replace(".", "_")] = keys[key]
        unknown = [key for key in swept if key not in keys]
        if unknown:
            known = ", ".join(one["label"] for one in self.summary.get("swept", [])) or "nothing"
            raise ValueError(f"{unknown[0]!r} is not swept: the run sweeps {known}")
        seeds = sorted({cell["seed"] for cell in cells})
        number = seeds[0] if seed is None else seed
        names = list(dict.fromkeys(cell["name"] for cell in cells))
        found = [
            cell
            for cell in cells
            if cell["seed"] == number
            and variant in (None, cell["name"], cell.get("variant", cell["name"]))
            and all(cell["swept"][keys[key]] == value for key, value in swept.items())
        ]
        if not found:
            asked = "".join(f", {key}={value!r}" for key, value in swept.items())
            raise ValueError(f"variant {variant!r}, seed {number}{asked}: the run has {', '.join(names)} with seeds {seeds}")
        if len(found) > 1:
            listed = ", ".join(dict.fromkeys(cell["name"] for cell in found))
            raise ValueError(f"the run has several variants: say which of {listed}")
        [cell] = found
        if "cell" in cell:
            return f"{cell['variant']}-{cell['cell']}"
        return f"{cell['name']}-{number}" if len(seeds) > 1 else str(cell["name"])

    def __repr__(self) -> str:
        return f"<Run {self.summary['name']!r}: {self.summary['status']}, {len(self.summary['variants'])} runs, {self.path}>"

    def _repr_html_(self) -> str:
        page = html.escape(self.report.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 70vh; border: 1px solid #ccc; box-sizing: border-box"></iframe>'


def _tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The tensors of a safetensors file: a header in JSON, then numbers."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            kind = {"F64": "<f8", "F32": "<f4"}[entry["dtype"]]
            found[name] = np.frombuffer(data[begin:end], dtype=kind).reshape(entry["shape"])
    return found
