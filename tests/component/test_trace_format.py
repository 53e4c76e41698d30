"""docs/trace-format.md against the list of events that everything is made from."""

import re

from support.paths import SOURCE

KINDS = {"str": "string"}


def listed_fields():
    """{event: [(field, type)]} of src/core/events.h"""
    text = (SOURCE / "src/core/events.h").read_text(encoding="utf-8")
    names = re.findall(r"^  E\((\w+), (\w+)\)", text, re.MULTILINE)
    events = {}
    for upper, name in names:
        block = re.search(rf"#define TORCHTRACE_FIELDS_{upper}\(X\)(.*?)\n\n", text, re.DOTALL)
        fields = re.findall(r"X\((\w+), (\w+)\)", block[1])
        events[name] = [(field, KINDS.get(kind, kind)) for kind, field in fields]
    return events


def described_fields():
    """The same of the document."""
    text = (SOURCE / "docs/trace-format.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### `(\w+)`\n(.*?)(?=^##)", text, re.DOTALL | re.MULTILINE)
    row = re.compile(r"^\| `(\w+)` \| (\w+) \|", re.MULTILINE)
    return {name: row.findall(section) for name, section in sections}


def test_the_document_describes_every_field_in_order():
    listed = listed_fields()
    assert len(listed) >= 7 and all(listed.values())
    assert described_fields() == listed
