"""Makes thumbnails with Pillow and prints what it took: thumbnails.py thumbnail|draft FILE COUNT

"thumbnail" is what Pillow's users write; it decodes at a quarter and scales from there. "draft" decodes at an eighth, as Afar
does, and scales with the same filter.
"""
import io, json, resource, sys, time
from PIL import Image

way, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
size = (320, 240)
with open(path, "rb") as file:
    data = file.read()


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def thumbnail():
    image = Image.open(io.BytesIO(data))
    if way == "draft":
        image.draft("RGB", size)
        image = image.resize(size, Image.Resampling.LANCZOS)
    else:
        image.thumbnail(size)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=85)
    return out.tell()


start, cpu_start = time.monotonic(), cpu()
total = sum(thumbnail() for _ in range(count))
seconds, cpu_seconds = time.monotonic() - start, cpu() - cpu_start
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
print(json.dumps({"seconds": seconds, "cpuSeconds": cpu_seconds, "peakKilobytes": peak, "bytes": total}))
