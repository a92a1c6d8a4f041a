"""The survey of URDF files: outcomes of files in wheels, its section of the page, and the share that is promised."""

import csv
import re
import zipfile
from collections import Counter
from pathlib import Path

from . import survey, urdf_survey

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "support.md"
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="{}"/></inertial>'
JOINT = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
LINK = f'<link name="a">{INERTIAL.format(1)}</link>'
MESH = '<collision><geometry><mesh filename="m.stl"/></geometry></collision></link>'
FILES = {
    "good.urdf": f"<robot>{LINK}</robot>",
    "same.urdf": f"<robot>{LINK}</robot>",
    "unbalanced.urdf": f'<robot><link name="a">{INERTIAL.format(3)}</link></robot>',
    "light.urdf": f'<robot>{LINK}<link name="b"/>{JOINT}</robot>',
    "elsewhere.urdf": f"<robot>{LINK.replace('</link>', MESH)}</robot>",
    "broken.urdf": "<robot><link/></robot>",
    "part.urdf": "<robot/>",
    "readme.txt": "no robot",
}
OUTCOMES = {
    "good.urdf": "loads",
    "unbalanced.urdf": "balance_inertia",
    "light.urdf": "least_mass",
    "elsewhere.urdf": "elsewhere",
    "broken.urdf": "fails",
    "part.urdf": "no robot",
}


def test_outcomes_records_and_the_section(tmp_path, monkeypatch, capsys):
    with zipfile.ZipFile(tmp_path / "some_robots-1.2-py3-none-any.whl", "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(f"some_robots/{name}", text)
    records = tmp_path / "records.jsonl"
    found = list(urdf_survey.survey(tmp_path, records))
    assert {one.name.rpartition("/")[2]: one.outcome for one in found} == OUTCOMES
    assert {one.package for one in found} == {"some-robots 1.2"}
    monkeypatch.setattr(urdf_survey, "look_at", None)  # all are in the records
    assert list(urdf_survey.survey(tmp_path, records)) == found
    section = urdf_survey.markdown(found)
    assert "**1 of 4 URDF files load (25.0 %)**, 2 more with an option" in section
    assert "| some-robots 1.2 | 4 | 1 | 2 | 1 | 1 | 1 |" in section
    rows = {name: rest for _, name, *rest in urdf_survey.others(found)}
    assert rows["broken.urdf"][0] == "fails" and rows["broken.urdf"][1].startswith("line 1: <link>")
    assert rows["light.urdf"][0] == "balance_inertia=True, least_mass=1e-3" and "good.urdf" not in rows
    page = urdf_survey.put_section("# Page\n\ntext\n", section)
    assert page.startswith("# Page\n\ntext\n\n") and urdf_survey.section_of(page) == section
    assert urdf_survey.put_section(page, section) == page


def test_the_other_survey_keeps_the_section(tmp_path, monkeypatch):
    page = tmp_path / "support.md"
    section = f"{urdf_survey.BEGIN}\nkept\n{urdf_survey.END}\n"
    page.write_text(f"old\n\n{section}")
    monkeypatch.setattr(survey, "survey", lambda *_: [survey.Found("p", "p/a.xml", frozenset())])
    monkeypatch.setattr("sys.argv", ["survey", "--write", str(page)])
    assert survey.main() == 0
    text = page.read_text()
    assert "old" not in text and text.endswith(section) and "**1 of 1 models load.**" in text


def test_the_page_keeps_the_promise():
    """At least 95 % of the public URDF files load; of those that are no random objects, with options that errors name.

    Every other has its reason.
    """
    section = urdf_survey.section_of(PAGE.read_text(encoding="utf-8"))
    found = re.findall(r"\*\*(\d+) of (\d+) URDF files load .*?\*\*, (\d+) more", section)
    (loads, counted, helped), (own, different, more) = [[int(number) for number in each] for each in found]
    assert loads >= urdf_survey.LEAST * counted and counted > 1000 and different > 250
    assert own + more >= urdf_survey.LEAST * different
    with PAGE.with_name("urdf.csv").open(encoding="utf-8", newline="") as stream:
        outcomes = Counter(row[2] for row in csv.reader(stream))
    assert outcomes["fails"] + sum(outcomes[words] for words in urdf_survey.WORDS.values()) == counted - loads
    assert counted - loads - outcomes["fails"] == helped
