"""A debate of mock models, which decide in this process. `marimo edit debate.py`."""
import marimo

app = marimo.App()


@app.cell
def _():
    import folkmoot

    def mock_model(prompt, chance):
        """Stands for a model: the opinion that the prompt repeats most, with some obstinacy."""
        ayes, noes = prompt.count("approve"), prompt.count("reject")
        return "approve" if ayes + chance % 3 > noes + 1 else "reject"

    return folkmoot, mock_model


@app.cell
def _(folkmoot, mock_model):
    rounds = 2

    @folkmoot.decider(batch=16)
    def debate(questions):
        answers = []
        for question in questions:
            said = [remark["message"] for remark in question.block["remarks"]]
            opinion = mock_model(" ".join(said), question.view["chance"])
            if question.view["round"] < rounds:
                message = f"I would {opinion}, after {len(said)} remarks."
                answers.append([
                    {"do": "say", "stance": opinion, "message": message},
                    {"do": "wait", "ms": 1500},
                ])
            else:
                answers.append(folkmoot.vote(opinion, f"{len(said)} remarks heard"))
        return answers

    return debate, rounds


@app.cell
def _(debate, folkmoot):
    town = {
        "title": "A debate",
        "population": 12,
        "agents": [{"group": "town", "producers": 2}, {"group": "models", "count": 8}],
        "length": {"blocks": 3},
    }
    run = folkmoot.run(town, seed="debate", deciders={"models": debate})
    return (run,)


@app.cell
def _(run):
    remarks = run.events("consensus_discussion")
    remarks
    return (remarks,)


@app.cell
def _(run):
    page = run.page()
    page
    return (page,)


if __name__ == "__main__":
    app.run()
