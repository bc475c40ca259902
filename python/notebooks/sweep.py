"""A sweep as a DataFrame with a figure. `marimo edit sweep.py`, or `python3 sweep.py`."""
import marimo

app = marimo.App()


@app.cell
def _():
    import folkmoot

    town = {
        "title": "A stubborn minority",
        "population": 30,
        "agents": [
            {"group": "town", "producers": 3},
            {"group": "silent", "share": 0.2, "strategy": {"kind": "silent"}},
        ],
        "consensus": {"dormant_after": 0},
        "length": {"blocks": 6},
    }
    return folkmoot, town


@app.cell
def _(folkmoot, town):
    sweep = folkmoot.sweep(
        town,
        {"agents.silent.share": [0.0, 0.2, 0.4], "consensus.policy": ["bft", "majority"]},
        replicates=3,
        responses=["finalized_share"],
    )
    runs = sweep.runs()
    runs
    return runs, sweep


@app.cell
def _(folkmoot, sweep):
    # A DataFrame of pandas has `to_dict`, one of polars `to_dicts`; without both it is a list.
    table = sweep.summary()
    rows = table if isinstance(table, list) else (
        table.to_dicts() if hasattr(table, "to_dicts") else table.to_dict("records")
    )
    means = {
        policy: [(row["share"], row["mean"]) for row in rows
                 if row["measure"] == "finalized_share" and row["policy"] == policy]
        for policy in ("bft", "majority")
    }
    title = folkmoot.measures["finalized_share"]["title"]
    return means, title


@app.cell
def _(means, title):
    try:
        from matplotlib import pyplot
    except ImportError:
        # The report in the next cell has figures too.
        figure = None
    else:
        figure, axes = pyplot.subplots()
        for policy, points in means.items():
            axes.plot(*zip(*points), marker="o", label=policy)
        axes.set(xlabel="share that never votes", ylabel=title)
        axes.legend()
    figure
    return (figure,)


@app.cell
def _(sweep):
    report = sweep.report()
    report
    return (report,)


if __name__ == "__main__":
    app.run()
