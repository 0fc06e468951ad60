import Foundation

/// A hash of bytes that come piece by piece, and are processed in blocks of 64: a pure value.
protocol HashFunction {
    associatedtype State

    /// Whether its numbers begin with the highest byte.
    static var isBigEndian: Bool { get }

    var blocks: HashBlocks { get set }
    var state: State { get set }

    init()

    /// Takes a block into account.
    static func process(_ block: UnsafeRawBufferPointer, into state: inout State)

    /// What the hash consists of.
    static func words(of state: State) -> [UInt32]
}

extension HashFunction {
    /// Takes the next bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        blocks.append(bytes) { Self.process($0, into: &state) }
        self.state = state
    }

    /// The hash of all bytes taken.
    consuming func finalize() -> [UInt8] {
        var state = state
        blocks.finish(isBigEndian: Self.isBigEndian) { Self.process($0, into: &state) }
        return Self.words(of: state).flatMap { word in
            withUnsafeBytes(of: Self.isBigEndian ? word.bigEndian : word.littleEndian, [UInt8].init)
        }
    }

    /// The hash of a text's UTF-8.
    static func hash(of text: String) -> [UInt8] {
        var hash = Self()
        var text = text
        text.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        return hash.finalize()
    }

    /// The same in hexadecimal digits, in lower case.
    static func hexDigest(of text: String) -> String { hash(of: text).hexDigits }
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
