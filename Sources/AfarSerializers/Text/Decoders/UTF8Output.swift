/// Takes code points and makes UTF-8 of them, in memory that is large enough for what a block of input can become.
struct UTF8Output: ~Copyable {
    /// The size of a block of input. No encoding makes more than three bytes of one, besides what was held back before.
    static let bytesAtATime = 4096

    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    static func withScratch(_ body: (inout UTF8Output) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * bytesAtATime + 64) { memory in
            var output = UTF8Output(memory: memory)
            body(&output)
        }
    }

    private init(memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = memory
    }

    mutating func append(ascii run: UnsafeBufferPointer<UInt8>) {
        for byte in run { put(byte) }
    }

    /// Appends what is no surrogate and at most U+10FFFF.
    mutating func append(_ scalar: UInt32) {
        switch scalar {
        case ..<0x80:
            put(UInt8(scalar))
        case ..<0x800:
            put(0xC0 | UInt8(scalar >> 6))
            put(continuation(scalar))
        case ..<0x10000:
            put(0xE0 | UInt8(scalar >> 12))
            put(continuation(scalar >> 6))
            put(continuation(scalar))
        default:
            put(0xF0 | UInt8(truncatingIfNeeded: scalar >> 18))
            put(continuation(scalar >> 12))
            put(continuation(scalar >> 6))
            put(continuation(scalar))
        }
    }

    /// Gives away what was appended.
    mutating func move(to text: inout [UInt8]) {
        text.append(contentsOf: memory.prefix(count))
        count = 0
    }

    private func continuation(_ bits: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: bits & 0x3F) }

    private mutating func put(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }
}
