import Foundation

/// Handcrafted binary property lists that no legitimate encoder creates.
enum BinaryPropertyList {
    /// Returns a property list of encoded objects. The first one is the top object. References take two bytes.
    static func data(_ objects: [[UInt8]], top: Int = 0) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += number(offset, size: 3) }
        bytes += [0, 0, 0, 0, 0, 0, 3, 2]
        bytes += number(objects.count, size: 8) + number(top, size: 8) + number(table, size: 8)
        return Data(bytes)
    }

    static func array(_ references: [Int]) -> [UInt8] {
        [0xAF, 0x11] + number(references.count, size: 2) + references.flatMap { number($0, size: 2) }
    }

    static func dictionary(keys: [Int], values: [Int]) -> [UInt8] {
        [0xDF, 0x11] + number(keys.count, size: 2) + (keys + values).flatMap { number($0, size: 2) }
    }

    static func text(_ text: String) -> [UInt8] {
        [0x5F, 0x12] + number(text.utf8.count, size: 4) + Array(text.utf8)
    }

    static func number(_ number: Int, size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
