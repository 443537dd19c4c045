"""One picture a table: bars on a linear and on a logarithmic scale."""
import os

from harness import figures
from report.tables import conditions

COLOURS = {"doublets": "#1b6ca8", "heap": "#c0504d", "lean": "#e0a458", "split": "#7f7f7f", "united": "#b8b8b8", "SQLite": "#6aa84f",
           "Redis": "#c0504d"}


def draw(folder, name, section, about, rows):
    """Returns the file's name."""
    # matplotlib keeps a cache in the home folder; a benchmark without charts needs none of it
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "pg_doublets", "font.size": 8, "axes.spines.top": False,
                                "axes.spines.right": False, "path.simplify": True})
    from matplotlib import pyplot
    variants = [v for v in [section.ours, *section.others] if any(v in row for row in rows.values())]
    labels = list(rows)
    figure, panels = pyplot.subplots(1, 2, figsize=(10, 0.6 + 0.17 * len(labels) * (len(variants) + 1)), sharey=True)
    step = 0.8 / len(variants)
    for scale, panel in zip(("linear", "log"), panels):
        for index, variant in enumerate(variants):
            places = [row + (index - (len(variants) - 1) / 2) * step for row in range(len(labels))]
            values = [figures.median(rows[label][variant]["values"]) if variant in rows[label] else 0 for label in labels]
            panel.barh(places, values, step * 0.9, color=COLOURS.get(variant, "#444444"), label=variant)
        panel.set_xscale(scale)
        panel.set_xlabel(next(iter(rows[labels[0]].values()))["unit"] + (", logarithmic" if scale == "log" else ""))
        panel.set_yticks(range(len(labels)), labels)
    panels[0].invert_yaxis()
    panels[0].legend(fontsize=7, frameon=False)
    figure.suptitle(f"{section.title}: {conditions(about)}", fontsize=9)
    figure.tight_layout()
    file = name + ".svg"
    figure.savefig(os.path.join(folder, file), metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return file
