"""Any XML: its words, and nothing from outside."""

from pathlib import Path

from tests.unit.ingestion.parsers.reading import read_bytes, told


def _texts(folder: Path, content: str, name: str = "a.xml") -> list[str]:
    return [text for _, text in told(read_bytes(folder, content.encode(), name=name))]


def test_elements_with_words_are_paragraphs(tmp_path: Path) -> None:
    content = "<?xml version='1.0'?><a><b>раз <i>два</i> три</b><c><d>четыре</d></c></a>"
    assert _texts(tmp_path, content) == ["раз два три", "четыре"]


def test_drawings_tell_their_words(tmp_path: Path) -> None:
    content = "<svg xmlns='http://www.w3.org/2000/svg'><style>x</style><text>Схема</text></svg>"
    assert _texts(tmp_path, content, "a.svg") == ["Схема"]


def test_what_is_no_xml_after_all_is_text(tmp_path: Path) -> None:
    assert _texts(tmp_path, "<?xml version='1.0'?><a>не закрыт") == ["<?xml version='1.0'?><a>не закрыт"]


def test_no_file_of_this_machine_is_ever_told(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("TOPSECRET")
    entity = f"<!DOCTYPE a [<!ENTITY x SYSTEM 'file://{secret}'>]>"
    texts = _texts(tmp_path, f"<?xml version='1.0'?>{entity}<a>слова &x;</a>")
    assert "TOPSECRET" not in " ".join(texts)


def test_entities_do_not_grow(tmp_path: Path) -> None:
    entities = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10 if n else 'xx'}'>" for n in range(9))
    texts = _texts(tmp_path, f"<?xml version='1.0'?><!DOCTYPE a [{entities}]><a>слова &e8;</a>")
    assert sum(map(len, texts)) < 2_000
