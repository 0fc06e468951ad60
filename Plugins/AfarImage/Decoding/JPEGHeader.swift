import Foundation

/// What TurboJPEG does not tell of a JPEG image (ITU-T T.81, annex B).
struct JPEGHeader {
    private(set) var orientation = Orientation.up
    /// Whether an Adobe marker is there: then the inks of CMYK are stored inverted.
    private(set) var isAdobe = false
    /// In how many passes the picture is stored.
    private(set) var scans = 0
    /// Whether the data of scans is divided by restart markers.
    private(set) var hasRestarts = false

    init(_ bytes: UnsafeRawBufferPointer) {
        let reader = ByteReader(bytes: bytes)
        var place = 2
        while let marker = Self.marker(in: bytes, from: place) {
            place = marker.end
            switch marker.code {
            case 0x01, 0xD0...0xD8: continue
            case 0xD9: return
            default: break
            }
            guard let length = reader.uint16(at: place).map(Int.init), length >= 2, length <= bytes.count - place else {
                return
            }
            read(marker.code, UnsafeRawBufferPointer(rebasing: bytes[(place + 2)..<(place + length)]))
            place += length
        }
    }

    private mutating func read(_ code: UInt8, _ segment: UnsafeRawBufferPointer) {
        switch code {
        case 0xDA: scans += 1
        case 0xDD: hasRestarts = true
        case 0xE1 where segment.starts(with: "Exif\0\0".utf8):
            orientation = Orientation(exif: UnsafeRawBufferPointer(rebasing: segment.dropFirst(6)))
        case 0xEE where segment.starts(with: "Adobe".utf8): isAdobe = true
        default: break
        }
    }

    /// The next marker; what stands before it, like the data of a scan, is passed over.
    private static func marker(in bytes: UnsafeRawBufferPointer, from start: Int) -> (code: UInt8, end: Int)? {
        guard let base = bytes.baseAddress else { return nil }
        var place = start
        while place < bytes.count - 1, let found = memchr(base + place, 0xFF, bytes.count - place) {
            place = UnsafeRawPointer(found) - base + 1
            guard place < bytes.count else { return nil }
            let code = bytes[place]
            // FF 00 is a byte FF of a scan's data, and FF FF fills.
            if code != 0x00, code != 0xFF { return (code, place + 1) }
        }
        return nil
    }
}
