"""Pictures as tests look at them. In: a PNG. Out: its size, and how much of it each colour takes."""

import io

from PIL import Image


def opened(png: bytes) -> Image.Image:
    """The picture, which has to be a PNG."""
    with Image.open(io.BytesIO(png)) as image:
        assert image.format == "PNG"
        return image.convert("RGB")


def colours_of(image: Image.Image) -> dict[str, int]:
    """Colour -> pixels."""
    counted = image.getcolors(image.width * image.height) or []
    return {f"#{red:02x}{green:02x}{blue:02x}": pixels for pixels, (red, green, blue) in counted}  # type: ignore[misc] # RGB
