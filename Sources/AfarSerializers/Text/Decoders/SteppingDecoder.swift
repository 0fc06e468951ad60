/// Decodes by an encoding's rules. Runs of ASCII are copied.
struct SteppingDecoder<Rules: DecodingRules>: ChunkDecoder {
    private(set) var malformedOffset: Int?
    private var rules: Rules
    /// The number of bytes that were taken.
    private var taken = 0
    /// Where the character begins whose bytes are taken now.
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
