/// A decoder that follows the rules of an encoding. Consecutive ASCII bytes are copied together.
struct SteppingDecoder<Rules: DecodingRules>: ChunkDecoder {
    private(set) var malformedOffset: Int?
    private var rules: Rules
    /// The number of bytes processed.
    private var taken = 0
    /// The offset at which the current character begins.
    private var start = 0

    init(_ rules: Rules) {
        self.rules = rules
    }

    mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if rules.isReadyForASCII, bytes.lengthOfASCIIPrefix == bytes.count {
            taken += bytes.count
            start = taken
            return String(decoding: bytes, as: UTF8.self)
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + bytes.count / 2)
        var rest = bytes[...]
        UTF8Output.withScratch { output in
            while !rest.isEmpty {
                decode(UnsafeBufferPointer(rebasing: rest.prefix(UTF8Output.bytesAtATime)), to: &output)
                rest = rest.dropFirst(UTF8Output.bytesAtATime)
                output.move(to: &text)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    mutating func finish() -> String {
        var text: [UInt8] = []
        UTF8Output.withScratch { output in
            while let step = rules.end() { perform(step, to: &output) }
            output.move(to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout UTF8Output) {
        var index = 0
        while index < bytes.count {
            if bytes[index] < 0x80, rules.isReadyForASCII {
                let rest = UnsafeBufferPointer(rebasing: bytes[index...])
                let run = UnsafeBufferPointer(rebasing: rest.prefix(rest.lengthOfASCIIPrefix))
                output.append(ascii: run)
                index += run.count
                taken += run.count
                start = taken
            } else {
                taken += 1
                perform(rules.take(bytes[index]), to: &output)
                index += 1
            }
        }
    }

    private mutating func perform(_ step: DecodingStep, to output: inout UTF8Output) {
        switch step {
        case .more:
            return
        case .nothing:
            start = taken
        case .scalar(let scalar):
            output.append(scalar)
            start = taken
        case .scalars(let first, let second):
            output.append(first)
            output.append(second)
            start = taken
        case .malformed:
            replace(until: taken, in: &output)
        case .malformedBefore(let byte):
            replace(until: taken - 1, in: &output)
            perform(rules.take(byte), to: &output)
        case .malformedBeforeTwo(let first, let second):
            replace(until: taken - 2, in: &output)
            perform(rules.take(first), to: &output)
            perform(rules.take(second), to: &output)
        case .malformedBeforeThree(let first, let second, let third):
            replace(until: taken - 3, in: &output)
            perform(rules.take(first), to: &output)
            perform(rules.take(second), to: &output)
            perform(rules.take(third), to: &output)
        }
    }

    private mutating func replace(until next: Int, in output: inout UTF8Output) {
        if malformedOffset == nil { malformedOffset = start }
        output.append(0xFFFD)
        start = next
    }
}

// MARK: - Rules

/// The rules for decoding the bytes of an encoding, called "decoder" in the Encoding Standard.
protocol DecodingRules: Sendable {
    /// Whether the decoder is between two characters and would decode an ASCII byte as itself.
    var isReadyForASCII: Bool { get }

    /// Processes a byte.
    mutating func take(_ byte: UInt8) -> DecodingStep

    /// Ends the input. It is called repeatedly until it returns `nil`.
    mutating func end() -> DecodingStep?
}

/// The result of processing a byte.
enum DecodingStep {
    /// The character needs more bytes.
    case more
    /// The processed bytes are complete and produce no character.
    case nothing
    case scalar(UInt32)
    case scalars(UInt32, UInt32)
    /// The bytes since the last character are malformed.
    case malformed
    /// The associated bytes must be processed again. The bytes before them are malformed.
    case malformedBefore(UInt8)
    case malformedBeforeTwo(UInt8, UInt8)
    case malformedBeforeThree(UInt8, UInt8, UInt8)

    /// Returns the step for a code point of an index. In a malformed pair, an ASCII second byte is processed again.
    static func scalar(_ codePoint: UInt32, orMalformedBefore byte: UInt8) -> DecodingStep {
        if codePoint != 0 { return .scalar(codePoint) }
        return byte < 0x80 ? .malformedBefore(byte) : .malformed
    }
}

// MARK: - Output

/// A buffer that encodes code points as UTF-8, large enough for the output of one block of input.
struct UTF8Output: ~Copyable {
    /// The size of an input block. Each byte produces at most three bytes of output. Bytes kept from earlier blocks
    /// produce additional output.
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

    /// Appends a code point, which must be at most U+10FFFF and not a surrogate.
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

    /// Moves the output to the end of a text.
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

// MARK: - ASCII

extension UnsafeBufferPointer<UInt8> {
    /// The number of leading bytes below 0x80.
    var lengthOfASCIIPrefix: Int {
        let raw = UnsafeRawBufferPointer(self)
        var index = 0
        while index + 8 <= count {
            let high = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian & 0x8080_8080_8080_8080
            if high != 0 { return index + high.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, self[index] < 0x80 { index += 1 }
        return index
    }
}
