#!/usr/bin/env python3
"""Creates the images in Fixtures.swift with Pillow, numpy and TurboJPEG: python3 fixtures.py > Fixtures.swift

All images show the same gradient. Gradient.swift contains its formula, so that decoders aren't compared with themselves.
"""
import base64, ctypes, io, struct, textwrap, zlib
import numpy as np
from PIL import Image

W, H = 16, 12
y, x = np.mgrid[0:H, 0:W]
RGB = np.stack([x * 16, y * 20, (x + y) * 8], axis=-1).astype(np.uint8)
ALPHA = (255 - x * 10 - y * 4).astype(np.uint8)
RGBA = np.dstack([RGB, ALPHA])
GRAY = (x * 10 + y * 5).astype(np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def rows(samples, depth):
    """Returns scanlines without filters. `samples` is [height][width][channels]."""
    out = b""
    for row in samples:
        flat = [int(v) for v in row.reshape(-1)]
        if depth == 16:
            packed = b"".join(struct.pack(">H", v) for v in flat)
        elif depth == 8:
            packed = bytes(flat)
        else:
            bits = "".join(format(v, f"0{depth}b") for v in flat)
            bits += "0" * (-len(bits) % 8)
            packed = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        out += b"\0" + packed
    return out


def png(samples, color, depth, interlaced=False, extra=()):
    h, w = samples.shape[:2]
    if interlaced:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        raw = b"".join(rows(samples[py::sy, px::sx], depth) for px, py, sx, sy in passes
                       if samples[py::sy, px::sx].size)
    else:
        raw = rows(samples, depth)
    ihdr = struct.pack(">IIBBBBB", w, h, depth, color, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", ihdr) + b"".join(chunk(*e) for e in extra)
            + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def ycck():
    """Returns a YCCK image, in which TurboJPEG stores CMYK. The inks are inverted, as is common."""
    lib = ctypes.CDLL("libturbojpeg.so.0")
    lib.tjInitCompress.restype = ctypes.c_void_p
    cmyk = np.dstack([RGB, np.full((H, W), 255, np.uint8)]).copy()
    buffer, size = ctypes.c_void_p(), ctypes.c_ulong()
    status = lib.tjCompress2(
        ctypes.c_void_p(lib.tjInitCompress()), cmyk.ctypes.data_as(ctypes.c_void_p), W, 0, H, 11, ctypes.byref(buffer),
        ctypes.byref(size), 0, 100, 0)
    assert status == 0
    return ctypes.string_at(buffer, size.value)


rgb, rgba = Image.fromarray(RGB), Image.fromarray(RGBA)
gray = Image.fromarray(GRAY)
# Sixteen columns, each with the color of the first row.
palette = b"".join(bytes(c) for c in RGB[0])
indexed = np.tile(np.arange(W, dtype=np.uint8), (H, 1))[..., None]
cmyk = Image.fromarray(np.dstack([255 - RGB, np.zeros((H, W), np.uint8)]), "CMYK")
large = np.stack([np.mgrid[0:48, 0:64][1] * 4, np.mgrid[0:48, 0:64][0] * 5, np.full((48, 64), 90)], -1).astype(np.uint8)
solid = [Image.new("RGB", (W, H), c) for c in ("#ff0000", "#00ff00", "#0000ff")]
fixtures = {
    "pngRGB": png(RGB, 2, 8),
    "pngRGBA": png(RGBA, 6, 8),
    "pngGray": png(GRAY[..., None], 0, 8),
    "pngGrayAlpha": png(np.dstack([GRAY, ALPHA]), 4, 8),
    "pngPalette": png(indexed, 3, 4, extra=[(b"PLTE", palette), (b"tRNS", bytes(range(255, 95, -10)))]),
    "pngBits": png(((x + y) % 2)[..., None], 0, 1),
    "pngRGB16": png(RGB.astype(np.uint16) * 257, 2, 16),
    "pngGray16": png((GRAY.astype(np.uint16) * 257)[..., None], 0, 16),
    "pngInterlaced": png(RGBA, 6, 8, interlaced=True),
    "pngColorKey": png(RGB, 2, 8, extra=[(b"tRNS", struct.pack(">HHH", *(int(v) for v in RGB[3, 5])))]),
    "jpegBaseline": saved(rgb, "JPEG", quality=100, subsampling=0),
    "jpegProgressive": saved(rgb, "JPEG", quality=100, subsampling=0, progressive=True),
    "jpegGray": saved(gray, "JPEG", quality=100),
    "jpegCMYK": saved(cmyk, "JPEG", quality=100, subsampling=0),
    "jpegYCCK": ycck(),
    "jpegLarge": saved(Image.fromarray(large), "JPEG", quality=90),
    "webPLossy": saved(rgb, "WEBP", quality=100),
    "webPLossless": saved(rgb, "WEBP", lossless=True),
    "webPAlpha": saved(rgba, "WEBP", lossless=True, exact=True),
    "webPLossyAlpha": saved(rgba, "WEBP", quality=100, alpha_quality=100),
    "webPAnimated": saved(solid[0], "WEBP", save_all=True, append_images=solid[1:], duration=[100, 200, 300], loop=2,
                          lossless=True),
}
print("import Foundation\n\n/// Small images that fixtures.py has made.\nenum Fixtures {")
for name, data in fixtures.items():
    lines = textwrap.wrap(base64.b64encode(data).decode(), 104)
    print(f'    static let {name} = image(\n        """')
    print("\n".join("        " + line for line in lines))
    print('        """)')
print("""
    private static func image(_ base64: String) -> Data {
        Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data()
    }
}""")
