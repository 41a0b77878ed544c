"""docs/reference/report-json.md names every key, and no other."""

import re
from pathlib import Path

import tierlab.diagnosis.finding
from tierlab.report.reported import Reported

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "report-json.md"


def test_every_key_is_documented_and_every_documented_key_exists():
    schema = Reported.model_json_schema()
    models = {"The object": schema, **schema["$defs"]}
    # Those are in findings.md.
    models = {
        name: of for name, of in models.items() if not hasattr(tierlab.diagnosis.finding, name)
    }
    text = REFERENCE.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    for name, model in models.items():
        keys = set(model["properties"])
        if name in sections:
            cells = re.findall(r"^\| (`.+?) \|", sections[name], re.MULTILINE)
            assert set(re.findall(r"`(\w+)`", " ".join(cells))) == keys, name
        else:  # a small one stands in the row of the key that holds it: "Queue: `mean` ..."
            (row,) = re.findall(rf"{name}: (.+)", text)
            assert keys <= set(re.findall(r"`(\w+)`", row)), name
    assert set(sections) <= set(models)
