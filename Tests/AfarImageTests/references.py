#!/usr/bin/env python3
"""Computes the expected results of filters in floating point: python3 references.py > References.swift"""
import numpy as np

W, H = 12, 9
y, x = np.mgrid[0:H, 0:W].astype(float)
# Waves of several lengths between 40 and 215, so that the kernel's lobes don't exceed the range from 0 to 255.
PICTURE = np.round(127 + 50 * np.sin(x * 0.9 + y * 0.4) + 37 * np.cos(y * 1.1 - x * 0.3))


def lanczos(t):
    return np.where(np.abs(t) < 3, np.sinc(t) * np.sinc(t / 3), 0)


def weights(size, start, length, count):
    """Returns the weight of each of `size` pixels in each of `count` results, which cover `length` pixels from `start`."""
    ratio = length / count
    width = max(ratio, 1)
    result = np.zeros((count, size))
    for i in range(count):
        center = start + (i + 0.5) * ratio
        for j in range(int(np.floor(center - 3 * width)) - 1, int(np.ceil(center + 3 * width)) + 1):
            # Outside the picture, the pixels at the edge are repeated.
            result[i, min(max(j, 0), size - 1)] += lanczos((j + 0.5 - center) / width)
    return result / result.sum(axis=1, keepdims=True)


def scaled(picture, width, height, part=None):
    h, w = picture.shape
    px, py, pw, ph = part or (0, 0, w, h)
    across, down = weights(w, px, pw, width), weights(h, py, ph, height)
    return down @ picture @ across.T


def blurred(picture, deviation):
    def matrix(size):
        result = np.zeros((size, size))
        for i in range(size):
            for j in range(i - 60, i + 61):
                result[i, min(max(j, 0), size - 1)] += np.exp(-((i - j) ** 2) / (2 * deviation ** 2))
        return result / result.sum(axis=1, keepdims=True)
    return matrix(picture.shape[0]) @ picture @ matrix(picture.shape[1]).T


def rounded(width, height, radius):
    """Returns the fraction of each pixel within a rectangle with round corners, from 64 × 64 samples."""
    n = 64
    py, px = (np.mgrid[0:height * n, 0:width * n] + 0.5) / n
    cx, cy = np.clip(px, radius, width - radius), np.clip(py, radius, height - radius)
    inside = (px - cx) ** 2 + (py - cy) ** 2 <= radius ** 2
    return 255 * inside.reshape(height, n, width, n).mean(axis=(1, 3))


references = {
    "picture": ("Waves.", PICTURE),
    "halved": ("In 6 × 4 pixels.", scaled(PICTURE, 6, 4)),
    "narrowed": ("In 5 × 9 pixels.", scaled(PICTURE, 5, 9)),
    "enlarged": ("In 18 × 11 pixels.", scaled(PICTURE, 18, 11)),
    "filled": ("The middle 9 × 9 pixels in 6 × 6.", scaled(PICTURE, 6, 6, (1.5, 0, 9, 9))),
    "blurred": ("Blurred with a standard deviation of 2.", blurred(PICTURE, 2)),
    "rounded": ("The opacity of 12 × 9 pixels with a radius of 3.5.", rounded(12, 9, 3.5)),
    "circle": ("The opacity of a circle in 9 × 9 pixels.", rounded(9, 9, 4.5)),
}
print("""/// Pictures of one channel, row by row, that references.py has computed with numpy, in floating point, from the formulas of the
/// filters.
enum References {""")
for index, (name, (comment, picture)) in enumerate(references.items()):
    if index:
        print()
    print(f"    /// {comment}\n    static let {name}: [[Int]] = [")
    for row in np.round(picture).astype(int):
        print(f"        [{', '.join(str(v) for v in row)}],")
    print("    ]")
print("}")
