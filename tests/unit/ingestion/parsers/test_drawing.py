"""Photos and pages as pictures that a recogniser can read."""

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.registry import LARGEST_SIDE, MOST_PAGES, draw_page, open_picture
from tests.unit.ingestion.parsers.files import write_pdf

TURNED_RIGHT = 6  # of the EXIF tag Orientation: the camera was held upright
ORIENTATION = 0x0112


def _opened(path: Path, page: int = 0) -> Image.Image:
    return Image.open(io.BytesIO(open_picture(path, page, name=path.name).content))


def _saved(picture: Image.Image, path: Path, **options: Any) -> Path:
    picture.save(path, **options)
    return path


def _code(path: Path) -> FailureCode:
    try:
        open_picture(path, 0, name=path.name)
    except SourceError as error:
        return error.code
    except Exception:
        return FailureCode.FILE_DAMAGED  # as `registry` says of whatever a damaged file raises
    raise AssertionError("it was opened")


def test_a_page_is_drawn_at_300_dots_an_inch(tmp_path: Path) -> None:
    drawing = draw_page(write_pdf(tmp_path / "f", [["One."], ["Two."]]), 1)
    assert drawing.pages == 2
    assert Image.open(io.BytesIO(drawing.content)).size == pytest.approx((8.5 * 300, 11 * 300), abs=1)


def test_a_photo_is_turned_as_its_camera_says(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = TURNED_RIGHT
    path = _saved(Image.new("RGB", (2000, 1500)), tmp_path / "a.jpg", exif=exif)
    assert _opened(path).size == (1500, 2000)


def test_a_large_photo_is_reduced_and_a_small_one_enlarged(tmp_path: Path) -> None:
    large = _opened(_saved(Image.new("L", (9000, 3000)), tmp_path / "a.png"))
    small = _opened(_saved(Image.new("L", (300, 200)), tmp_path / "b.png"))
    assert (max(large.size), small.size) == (LARGEST_SIDE, (600, 400))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"])
def test_every_kind_of_colour_is_made_plain(tmp_path: Path, mode: str) -> None:
    path = (
        _saved(Image.new(mode, (1300, 40)), tmp_path / "a.tiff")
        if mode != "LA"
        else _saved(Image.new(mode, (1300, 40)), tmp_path / "a.png")
    )
    assert _opened(path).mode in {"L", "RGB"}


def test_what_shows_through_is_white(tmp_path: Path) -> None:
    path = _saved(Image.new("RGBA", (1300, 1300), (0, 0, 0, 0)), tmp_path / "a.png")
    assert _opened(path).getpixel((5, 5)) == (255, 255, 255)


def test_pages_of_a_tiff_are_pages_and_frames_of_an_animation_are_not(tmp_path: Path) -> None:
    pages = [Image.new("L", (1300 + 10 * number, 20)) for number in range(3)]
    tiff = _saved(pages[0], tmp_path / "a.tiff", save_all=True, append_images=pages[1:])
    gif = _saved(pages[0], tmp_path / "a.gif", save_all=True, append_images=pages[1:])
    assert (open_picture(tiff, 0, name="a").pages, open_picture(gif, 0, name="a").pages) == (3, 1)
    assert _opened(tiff, 2).width == 1320


def test_a_picture_cut_short_is_damaged(tmp_path: Path) -> None:
    path = _saved(Image.effect_noise((400, 400), 50), tmp_path / "a.png")
    path.write_bytes(path.read_bytes()[:5000])
    assert _code(path) is FailureCode.FILE_DAMAGED


def test_a_picture_of_too_many_pixels_is_not_decoded(tmp_path: Path) -> None:
    path = _saved(Image.new("1", (20_000, 20_000)), tmp_path / "a.png")
    assert _code(path) is FailureCode.FILE_TOO_HEAVY


def test_a_format_that_would_start_another_program_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.eps"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n")
    assert _code(path) is FailureCode.FILE_DAMAGED


def test_a_tiff_of_endless_pages_is_refused_before_they_are_counted(tmp_path: Path) -> None:
    first, *others = [Image.new("1", (8, 8)) for _ in range(MOST_PAGES + 2)]
    first.save(tmp_path / "a.tiff", save_all=True, append_images=others)
    with pytest.raises(SourceError) as caught:
        open_picture(tmp_path / "a.tiff", 0, name="a.tiff")
    assert caught.value.code is FailureCode.FILE_TOO_HEAVY
