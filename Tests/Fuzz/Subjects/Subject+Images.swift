import AfarImage
import Foundation

extension Subject {
    static let images = [
        Subject("image", seeds: imageSeeds, tokens: imageTokens) { (input, random) throws(Contradiction) in
            // Without correct checksums, all modified images would be rejected.
            let data = random.isOne(in: 4) ? input : input.withPNGChecksums
            let whole = try image(data, target: nil)
            let reduced = try image(data, target: CGSize(width: 5, height: 3))
            guard let whole else { return false }
            try Contradiction.check(reduced == nil, false, "an image, decoded smaller")
            try Contradiction.check(
                whole.width * whole.height <= imageLimits.maximumPixels, true, "the pixel limit")
            let again = (try? whole.pngData()).flatMap { try? Image(data: $0) }
            try Contradiction.check(again?.width, whole.width, "the width of an image written as PNG")
            let filter = DynamicCompositeImageFilter(
                AspectScaledToFillSizeFilter(size: CGSize(width: 7, height: 9)), BlurFilter(blurRadius: 2),
                CircleFilter())
            try Contradiction.check(filter.filter(whole).width, 7, "the width of a filtered image")
            return true
        }
    ]

    private static func image(_ data: Data, target: CGSize?) throws(Contradiction) -> Image? {
        do {
            return try Image(data: data, options: ImageDecodingOptions(targetSize: target, limits: imageLimits))
        } catch is ImageError {
            return nil
        } catch {
            throw Contradiction("\(error) isn't an image error")
        }
    }

    private static let imageLimits = ImageLimits(
        maximumPixels: 1 << 14, maximumFrames: 20, maximumTotalPixels: 1 << 16)

    private static let imageSeeds: [Data] = {
        let pixels = (0..<18 * 13).flatMap { place -> [UInt8] in [UInt8(place), UInt8(place % 18 * 14), 90, 255] }
        let opaque = try? Image(width: 18, height: 13, premultipliedRGBA: pixels)
        let transparent = opaque?.imageRoundedIntoCircle()
        let frames = [opaque, opaque?.imageBlurred(radius: 3)].compactMap { image in
            image.map { Image.Frame(image: $0, duration: .milliseconds(40)) }
        }
        let animation = try? Image(frames: frames, loopCount: 2)
        let encoders: [any ImageEncoder] = [
            PNGEncoder(), JPEGEncoder(quality: 70), JPEGEncoder(quality: 95, isProgressive: true), WebPEncoder(),
            WebPEncoder(isLossless: true),
        ]
        let encoded = [opaque, transparent, animation].compactMap(\.self).flatMap { image in
            encoders.compactMap { try? $0.encode(image) }
        }
        return encoded + [interlaced, inks].compactMap { Data(base64Encoded: $0) }
    }()

    // An interlaced PNG image of 5 × 5 pixels with a palette; a CMYK JPEG image of 8 × 8 pixels.
    private static let interlaced =
        "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFAgMAAAGHBv7gAAAADFBMVEUAAQIDBAUGBwgJCgvcTDicAAAAA3RSTlP/gAB/bWh4AAAAGklE"
        + "QVR42mNgAIMGIOxgKGC4AMQ5DgzHDgAAK5gFawY6lFkAAAAASUVORK5CYII="
    private static let inks =
        "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJTUjI+"
        + "WmFaUGBKUVJP/8AAFAgACAAIBEMRAE0RAFkRAEsRAP/EABYAAQEBAAAAAAAAAAAAAAAAAAIBA//EAB8QAAICAgIDAQAAAAAAAAAAAAEC"
        + "AxEEEiExAAUUIv/aAA4EQwBNAFkASwAAPwCSCbILfPG5ERjT1zTl3L3sQytV9pezGgoArq8p5ppfawKkTRZi3ESTsHvhQCoIGp2U0OhY"
        + "q2IEMecIsGKIwIJMh5YzitGRdEKwNcmtwL6Ot8/kPCwGbG+ePJx2kCF4EAaFZKZTGxUrqCDt0DsGAJo35//Z"

    private static let imageTokens = [
        "IHDR", "IDAT", "IEND", "PLTE", "tRNS", "eXIf", "iCCP", "tEXt", "zTXt", "\0\0\0\0", "\u{7F}\u{7F}\u{7F}\u{7F}",
        "Exif\0\0", "MM\0*", "II*\0", "Adobe", "JFIF\0", "RIFF", "WEBP", "VP8 ", "VP8L", "VP8X", "ANIM", "ANMF", "ALPH",
        "EXIF", "ICCP",
    ]
}

extension Data {
    /// The PNG file with correct checksums.
    fileprivate var withPNGChecksums: Data {
        guard starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return self }
        var bytes = [UInt8](self)
        var place = 8
        while place + 12 <= bytes.count {
            let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - place - 12 else { break }
            let end = place + 8 + length
            let sum = bytes[(place + 4)..<end].reduce(UInt32.max) { sum, byte in
                (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1
                }
            }
            for index in 0..<4 { bytes[end + index] = UInt8(truncatingIfNeeded: ~sum >> (24 - 8 * UInt32(index))) }
            place = end + 4
        }
        return Data(bytes)
    }
}
