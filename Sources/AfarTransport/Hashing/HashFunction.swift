import Foundation

/// A hash of bytes that come piece by piece: a pure value.
protocol HashFunction {
    init()

    /// Takes the next bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// The hash of all bytes taken.
    consuming func finalize() -> [UInt8]
}

extension HashFunction {
    /// The hash of a text's UTF-8 in hexadecimal digits, in lower case.
    static func hexDigest(of text: String) -> String {
        var hash = Self()
        var text = text
        text.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        return hash.finalize().hexDigits
    }
}

extension [UInt8] {
    /// Two hexadecimal digits for each byte, in lower case.
    var hexDigits: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }
}

/// Cuts what comes into blocks of 64 bytes, and pads the last ones with the length in bits, as RFC 1321, section 3.1, and
/// FIPS 180-4, section 5.1.1, have it.
struct HashBlocks {
    static let size = 64

    private var pending: [UInt8] = []
    private var byteCount: UInt64 = 0

    /// Calls a closure with each block that is complete.
    mutating func append(_ bytes: UnsafeRawBufferPointer, _ process: (UnsafeRawBufferPointer) -> Void) {
        byteCount &+= UInt64(bytes.count)
        var rest = bytes[...]
        if !pending.isEmpty {
            let missing = rest.prefix(Self.size - pending.count)
            pending.append(contentsOf: missing)
            rest = rest.dropFirst(missing.count)
            guard pending.count == Self.size else { return }
            pending.withUnsafeBytes(process)
            pending.removeAll(keepingCapacity: true)
        }
        while rest.count >= Self.size {
            process(UnsafeRawBufferPointer(rebasing: rest.prefix(Self.size)))
            rest = rest.dropFirst(Self.size)
        }
        pending.append(contentsOf: rest)
    }

    /// Calls a closure with the one or two blocks that are left.
    consuming func finish(isBigEndian: Bool, _ process: (UnsafeRawBufferPointer) -> Void) {
        let bitCount = byteCount &* 8
        var padding: [UInt8] = [0x80]
        let used = (pending.count + 1 + 8) % Self.size
        padding.append(contentsOf: repeatElement(0, count: used == 0 ? 0 : Self.size - used))
        withUnsafeBytes(of: isBigEndian ? bitCount.bigEndian : bitCount.littleEndian) {
            padding.append(contentsOf: $0)
        }
        padding.withUnsafeBytes { append($0, process) }
    }
}
