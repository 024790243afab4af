"""The report as JSON text: everything that the run recorded."""

import json

from cctest.report.model import Report, to_json


def json_text(report: Report) -> str:
    """Write the report as indented JSON in ASCII, so that no terminal or mail system can damage it."""
    return json.dumps(to_json(report), indent=2, allow_nan=False) + "\n"
