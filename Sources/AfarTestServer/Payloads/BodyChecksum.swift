public import Foundation

/// A cheap checksum over a body, to compare what a client sent with what arrived.
///
/// It is FNV-1a over little-endian 64-bit words (offset basis `cbf29ce484222325`, prime `100000001b3`), the last word
/// filled up with zero bytes. By words, since by bytes a gigabyte would take a debug build half a minute.
public struct BodyChecksum: Sendable, Equatable {
    /// How many bytes went in.
    public private(set) var count = 0
    private var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    private var pending: UInt64 = 0
    private static let prime: UInt64 = 0x100_0000_01b3

    /// Starts with no bytes.
    public init() {}

    /// Sums up bytes that are at hand.
    public init(_ bytes: some ContiguousBytes) {
        update(bytes)
    }

    /// Adds bytes.
    public mutating func update(_ bytes: some ContiguousBytes) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// The checksum as 16 hexadecimal digits.
    public var hex: String {
        let value = count % 8 == 0 ? hash : Self.mix(hash, pending)
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count, count % 8 != 0 {
            add(bytes[index])
            index += 1
        }
        // Plain operators only: in a debug build each generic call would cost more than all of them.
        let words = (bytes.count - index) / 8
        var left = words
        var value = hash
        while left > 0, let base = bytes.baseAddress {
            let word = UInt64(littleEndian: (base + index).loadUnaligned(as: UInt64.self))
            value = (value ^ word) &* Self.prime
            index &+= 8
            left &-= 1
        }
        hash = value
        count += words * 8
        while index < bytes.count {
            add(bytes[index])
            index += 1
        }
    }

    private mutating func add(_ byte: UInt8) {
        pending |= UInt64(byte) << UInt64(count % 8 * 8)
        count += 1
        guard count % 8 == 0 else { return }
        hash = Self.mix(hash, pending)
        pending = 0
    }

    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        (hash ^ word) &* prime
    }
}
