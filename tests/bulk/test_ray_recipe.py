"""The Ray Data recipe with two local workers: the translations of `translate`, and what is there is skipped."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from regard.translator import Translator
from support import LINES, load_script

RECIPE = Path(__file__).parents[2] / "recipes" / "ray" / "translate_dataset.py"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_two_workers(run_folder: Path, translator: Translator, tmp_path: Path) -> None:
    ray, cloudpickle = (pytest.importorskip(name) for name in ("ray", "ray.cloudpickle"))
    pytest.importorskip("pandas")  # Ray Data needs it
    recipe = load_script(RECIPE)
    cloudpickle.register_pickle_by_value(recipe)  # as it is with a script that is run
    for name, times in (("one", 3), ("two", 2)):
        texts = [source for source, _ in LINES] * times
        pq.write_table(pa.table({"id": range(len(texts)), "text": [*texts[1:], None]}), tmp_path / f"{name}.parquet")
    inputs, out = recipe.input_files(str(tmp_path / "*.parquet")), tmp_path / "out"
    (out / "two.parquet.unfinished").mkdir(parents=True)  # left by a run that was stopped
    (out / "two.parquet.unfinished" / "half").write_text("")
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        with pytest.raises(SystemExit, match="3 actors take all 3 cores"):
            recipe.translate_dataset(inputs, str(out), actors=3)
        options = {"model": str(run_folder), "actors": 2, "batch_size": 5, "beam": 1}
        assert recipe.translate_dataset(inputs[:1], str(out), **options) == 1
        before = {path: path.stat().st_mtime_ns for path in (out / "one.parquet").iterdir()}
        assert recipe.translate_dataset(inputs, str(out), **options) == 1
        assert {path: path.stat().st_mtime_ns for path in (out / "one.parquet").iterdir()} == before
    finally:
        ray.shutdown()
    assert sorted(path.name for path in out.iterdir()) == ["one.parquet", "two.parquet"]
    for name in ("one", "two"):
        rows = sorted(pq.read_table(out / f"{name}.parquet").to_pylist(), key=lambda row: row["id"])
        assert [row["text"] for row in rows] == pq.read_table(tmp_path / f"{name}.parquet").column("text").to_pylist()
        texts = [row["text"] for row in rows[:-1]]
        assert [row["text_translated"] for row in rows] == [
            *(t.text for t in translator.translate(texts, beam=1)),
            None,
        ]
