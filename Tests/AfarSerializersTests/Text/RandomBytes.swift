import Foundation

/// Bytes that look like text often enough to be interesting, the same in every run.
struct RandomBytes: RandomNumberGenerator {
    /// How many inputs a test of random bytes tries: what AFAR_FUZZ says, else the test's own number.
    static func count(else number: Int) -> Int {
        ProcessInfo.processInfo.environment["AFAR_FUZZ"].flatMap(Int.init) ?? number
    }

    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// Four letters and up to 39 bytes: ASCII, digits, parts of escape sequences, and above all bytes from 0x80.
    mutating func text() -> [UInt8] {
        let count = Int((next() >> 32) % 40)
        return Array("AAAA".utf8)
            + (0..<count).map { _ in
                let number = next() >> 16
                let pick = number >> 8
                return switch number % 8 {
                case 0: UInt8(pick % 128)
                case 1: 0x30 + UInt8(pick % 10)
                case 2: 0x1B
                case 3: Array("($BJI@".utf8)[Int(pick % 6)]
                default: 0x80 + UInt8(pick % 128)
                }
            }
    }

    /// The bytes with a few of them changed, lost, repeated, or cut off.
    mutating func mutated(_ bytes: Data) -> Data {
        var bytes = [UInt8](bytes)
        for _ in 0...Int.random(in: 0..<4, using: &self) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<6, using: &self) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(bytes[place], at: place)
            case 4:
                let end = Int.random(in: place...min(bytes.count, place + 16), using: &self)
                bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &self))
            default: bytes.removeSubrange(place...)
            }
        }
        return Data(bytes)
    }
}
