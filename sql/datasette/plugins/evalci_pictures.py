"""Datasette shows what forest_svg and heatmap_svg draw as pictures, not as text:

    datasette evals.db --load-extension build/evalci -m sql/datasette/metadata.yaml \
        --plugins-dir sql/datasette/plugins

A picture becomes an image whose data are in its address: a browser runs no script in such an image, whatever
the text in the cell contains.
"""
import base64

from datasette import hookimpl
from markupsafe import Markup

DRAWN = '<svg xmlns="http://www.w3.org/2000/svg" class="evalci"'


@hookimpl
def render_cell(value):
    if not isinstance(value, str) or not value.startswith(DRAWN):
        return None
    data = base64.b64encode(value.encode()).decode()
    return Markup(f'<img alt="A picture drawn by evalci" style="max-width:100%" src="data:image/svg+xml;base64,{data}">')
