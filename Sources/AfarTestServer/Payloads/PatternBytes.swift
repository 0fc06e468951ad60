public import Foundation

/// The bytes of `/large/{n}` and `/range/{n}`: the letters a to z over and over, so byte i is letter i modulo 26.
public enum PatternBytes {
    /// The bytes at some offsets; there are none before 0.
    public static func bytes(_ range: Range<Int>) -> Data {
        let range = range.clamped(to: 0..<Int.max)
        var data = Data(capacity: range.count)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let start = offset % 26
            let count = min(block.count - start, range.upperBound - offset)
            data.append(block.subdata(in: start..<(start + count)))
            offset += count
        }
        return data
    }

    /// The bytes from 0 on; none for a negative count.
    public static func bytes(_ count: Int) -> Data {
        bytes(0..<max(0, count))
    }

    /// A block whose length is a multiple of 26.
    private static let block = Data(Array(repeating: UInt8(ascii: "a")...UInt8(ascii: "z"), count: 2520).joined())
}
