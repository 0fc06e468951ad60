import Foundation

/// A hash function that processes its input incrementally, in blocks of 64 bytes.
package protocol HashFunction {
    associatedtype State

    /// Whether numbers are stored with the most significant byte first.
    static var isBigEndian: Bool { get }

    var blocks: HashBlocks { get set }
    var state: State { get set }

    init()

    /// Updates the state with a block.
    static func process(_ block: UnsafeRawBufferPointer, into state: inout State)

    /// The words that make up the hash.
    static func words(of state: State) -> [UInt32]
}

extension HashFunction {
    /// Adds the next bytes of the input.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        blocks.append(bytes) { Self.process($0, into: &state) }
        self.state = state
    }

    /// Returns the hash of all bytes that were added.
    package consuming func finalize() -> [UInt8] {
        var state = state
        blocks.finish(isBigEndian: Self.isBigEndian) { Self.process($0, into: &state) }
        return Self.words(of: state).flatMap { word in
            withUnsafeBytes(of: Self.isBigEndian ? word.bigEndian : word.littleEndian, [UInt8].init)
        }
    }

    /// Returns the hash of a string's UTF-8.
    package static func hash(of text: String) -> [UInt8] {
        var hash = Self()
        var text = text
        text.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        return hash.finalize()
    }

    /// Returns the hash of a string's UTF-8 as lowercase hexadecimal digits.
    package static func hexDigest(of text: String) -> String { hash(of: text).hexDigits }
}

extension [UInt8] {
    /// The bytes as lowercase hexadecimal digits, two for each.
    package var hexDigits: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }
}

/// Splits the input into blocks of 64 bytes, and pads the end with the length in bits, as RFC 1321, section 3.1, and FIPS 180-4,
/// section 5.1.1, require.
package struct HashBlocks {
    package static let size = 64

    private var pending: [UInt8] = []
    private var byteCount: UInt64 = 0

    /// Calls a closure with each complete block.
    package mutating func append(_ bytes: UnsafeRawBufferPointer, _ process: (UnsafeRawBufferPointer) -> Void) {
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

    /// Calls a closure with the last one or two blocks.
    package consuming func finish(isBigEndian: Bool, _ process: (UnsafeRawBufferPointer) -> Void) {
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

/// The MD5 hash (RFC 1321). It is broken for signatures. Use it only for Digest authentication, where servers require it.
package struct MD5: HashFunction {
    package typealias State = (UInt32, UInt32, UInt32, UInt32)

    package static let isBigEndian = false

    package var blocks = HashBlocks()
    package var state: State = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476)

    package init() {}

    /// The integer parts of 2³² times the absolute sines of 1 to 64 (RFC 1321, section 3.4).
    private static let sines: [UInt32] = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }
    /// The rotations of the four rounds, four kinds of steps each.
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    package static func words(of state: State) -> [UInt32] { [state.0, state.1, state.2, state.3] }

    package static func process(
        _ block: UnsafeRawBufferPointer, into state: inout State
    ) {
        var (a, b, c, d) = state
        for step in 0..<64 {
            let (mixed, index) =
                switch step / 16 {
                case 0: ((b & c) | (~b & d), step)
                case 1: ((b & d) | (c & ~d), (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), (7 * step) % 16)
                }
            let word = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
            let sum = a &+ mixed &+ sines[step] &+ word
            let shift = shifts[step / 16 * 4 + step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d)
    }
}

/// The SHA-1 hash (FIPS 180-4). It is broken for signatures. Use it only for the WebSocket handshake, which requires it.
package struct SHA1: HashFunction {
    package typealias State = (UInt32, UInt32, UInt32, UInt32, UInt32)

    package static let isBigEndian = true

    package var blocks = HashBlocks()
    package var state: State = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)

    package init() {}

    package static func words(of state: State) -> [UInt32] { [state.0, state.1, state.2, state.3, state.4] }

    package static func process(
        _ block: UnsafeRawBufferPointer, into state: inout State
    ) {
        var words = (0..<16).map { UInt32(bigEndian: block.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self)) }
        for index in 16..<80 {
            words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
        }
        var (a, b, c, d, e) = state
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch index / 20 {
                case 0: ((b & c) | (~b & d), 0x5A82_7999)
                case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                case 2: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, by: 5) &+ mixed &+ e &+ constant &+ words[index]
            (e, d, c, b, a) = (d, c, rotated(b, by: 30), a, next)
        }
        state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}

/// The SHA-256 hash (FIPS 180-4).
package struct SHA256: HashFunction {
    package static let isBigEndian = true

    package var blocks = HashBlocks()
    package var state = Self.initial

    package init() {}

    /// The initial state (FIPS 180-4, section 5.3.3).
    private static let initial: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    /// The round constants (FIPS 180-4, section 4.2.2).
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    package static func words(of state: [UInt32]) -> [UInt32] { state }

    package static func process(_ block: UnsafeRawBufferPointer, into state: inout [UInt32]) {
        var words = (0..<16).map { UInt32(bigEndian: block.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self)) }
        words.reserveCapacity(64)
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let mixed = rotated(early, by: 7) ^ rotated(early, by: 18) ^ early >> 3
            let other = rotated(late, by: 17) ^ rotated(late, by: 19) ^ late >> 10
            words.append(words[index - 16] &+ mixed &+ words[index - 7] &+ other)
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let lower = rotated(e, by: 6) ^ rotated(e, by: 11) ^ rotated(e, by: 25)
            let upper = rotated(a, by: 2) ^ rotated(a, by: 13) ^ rotated(a, by: 22)
            let choice = (e & f) ^ (~e & g)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let first = h &+ lower &+ choice &+ constants[index] &+ words[index]
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ upper &+ majority)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
}
