import json
import xml.etree.ElementTree

import numpy
import pandas
import pytest

import bonnetdb


def marks(svg):
    """The marks of a picture."""
    return [element for element in xml.etree.ElementTree.fromstring(svg).iter() if "mark" in element.get("class", "").split()]


def test_a_relation_is_drawn_as_copy_draws_it(con, tmp_path):
    rows = con.sql("SELECT 'm' || value AS model, value / 10.0 AS accuracy FROM generate_series(1, 4) ORDER BY 1")
    picture = rows.plot("bars", x="model", y="accuracy", title="Accuracy by model", width=400)
    assert len(marks(picture.svg)) == 4 and "Accuracy by model" in picture.svg
    con.sql(f"COPY (SELECT * FROM rows) TO '{tmp_path}/copy.svg' (KIND bars, X model, Y accuracy, TITLE 'Accuracy by model', WIDTH 400)")
    assert (tmp_path / "copy.svg").read_text() == picture.svg
    # Without a kind, the columns decide.
    assert len(marks(rows.plot().svg)) == 4


def test_a_notebook_gets_svg_and_vega_lite(con, tmp_path):
    picture = con.sql("SELECT value AS x, value * value AS y FROM generate_series(1, 5)").plot("points", "x", "y")
    bundle = picture._repr_mimebundle_()
    assert bundle["image/svg+xml"] == picture.svg == picture._repr_svg_()
    specification = bundle["application/vnd.vegalite.v6+json"]
    assert specification == picture.vega_lite and specification["$schema"].endswith("vega-lite/v6.json")
    assert [(row["x"], row["y"]) for row in specification["data"]["values"]] == [(x, x * x) for x in range(1, 6)]
    assert "application/vnd.vegalite.v6+json" not in picture._repr_mimebundle_(exclude={"application/vnd.vegalite.v6+json"})
    # Graphs have no such specification.
    edges = con.sql("SELECT * FROM cycle(5)").plot("graph", x="src", y="dst", seed=3)
    assert set(edges._repr_mimebundle_()) == {"image/svg+xml", "text/plain"} and "Picture" in repr(edges)
    with pytest.raises(bonnetdb.DatabaseError, match="Vega-Lite"):
        edges.vega_lite
    for name in ("a.svg", "a.html", "a.json"):
        assert picture.save(tmp_path / name) is picture
    assert (tmp_path / "a.svg").read_text() == picture.svg
    assert "<svg" in (tmp_path / "a.html").read_text() and json.loads((tmp_path / "a.json").read_text()) == specification
    with pytest.raises(bonnetdb.InterfaceError, match="a.png: a picture is written as"):
        picture.save(tmp_path / "a.png")


def test_a_picture_that_cannot_be_drawn_says_why(con):
    frame = pandas.DataFrame({"Group": ["a", "b"], "v": [1, 2], "w": [3, 4]})
    rows = con.sql("SELECT * FROM frame")
    assert "Group" in rows.plot("bars", x="Group", unpivot=["v", "w"], y="value", color="name").svg
    with pytest.raises(bonnetdb.DatabaseError, match="pie"):
        rows.plot("pie")
    with pytest.raises(bonnetdb.DatabaseError, match="nothing"):
        rows.plot("bars", x="nothing")
    with pytest.raises(bonnetdb.DatabaseError, match="(?i)widht"):
        rows.plot("bars", widht=300)
    for options in ({"width": 1.5}, {"title": ["x"]}, {"seed": True}, {"no option": 1}):
        with pytest.raises(bonnetdb.InterfaceError, match="option"):
            rows.plot("bars", **options)
    with pytest.raises(bonnetdb.Error):
        con.sql("CREATE TABLE t(x INT)").plot()


def test_diagrams_are_padded_to_one_length(con):
    rows = con.sql(
        """SELECT persistence_diagram(src, dst, w) FROM (VALUES (1, 0, 1, 1.0), (1, 1, 2, 2.0), (1, 2, 0, 3.0), (2, 0, 1, 5.0)) AS e(g, src, dst, w)
           GROUP BY g ORDER BY g"""
    )
    diagrams = [row[0] for row in rows]
    points, mask = bonnetdb.to_padded(rows)
    assert points.shape == (2, max(map(len, diagrams)), 3) and points.dtype == "float64" and mask.sum(axis=1).tolist() == list(map(len, diagrams))
    for number, diagram in enumerate(diagrams):
        assert points[number][mask[number]].tolist() == [[point["dim"], point["birth"], point["death"]] for point in diagram]
    assert numpy.isnan(points[~mask]).all()
    wide, mask = bonnetdb.to_padded([diagrams[0], None, []], size=7, fill=-1.0)
    assert wide.shape == (3, 7, 3) and mask.sum() == len(diagrams[0]) and (wide[1:] == -1.0).all()
    assert bonnetdb.to_padded([])[0].shape == (0, 0, 3)
    with pytest.raises(bonnetdb.DataError, match="size=1"):
        bonnetdb.to_padded(diagrams, size=1)
    for wrong in ([[1, 2]], [[{"birth": 0}]]):
        with pytest.raises(bonnetdb.DataError, match="diagram 0 is no list"):
            bonnetdb.to_padded(wrong)
    with pytest.raises(bonnetdb.ProgrammingError, match="one column"):
        bonnetdb.to_padded(con.sql("SELECT 1 AS a, 2 AS b"))
