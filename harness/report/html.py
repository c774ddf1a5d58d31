"""One self-contained page: nothing is fetched, everything that comes from a record is escaped."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .model import Report

TEMPLATES = Path(__file__).parent / "templates"


def render_html(report: Report) -> str:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, auto_reload=False
    )
    # Our own two files are the only text that goes in as it is.
    style, script = (
        Markup((TEMPLATES / name).read_text(encoding="utf-8")) for name in ("report.css", "report.js")
    )
    return environment.get_template("report.html").render(report=report, css=style, js=script)
