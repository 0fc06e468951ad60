import Foundation

/// An encoder that writes nothing. It goes through a value before another encoder does, to see that the value is not nested
/// so deep, or even contains itself, that writing it could exhaust the stack.
struct NestingProbe: Encoder {
    /// Values that encode others as themselves make no level, but take up stack as well.
    private static let maximumCalls = 2 * AFError.ParametersNestedTooDeep.limit

    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]
    /// The arrays and objects around.
    private let levels: Int
    private let calls: Int
    private let findings: Findings

    /// What was found where nothing can be thrown.
    final class Findings {
        var isTooDeep = false
    }

    /// Refuses a value that is nested too deep.
    ///
    /// - Parameter userInfo: What the encoder that comes after this one would tell.
    /// - Throws: An ``AFError/ParametersNestedTooDeep``, and what the value's own encoding throws.
    static func check(_ value: some Encodable, userInfo: [CodingUserInfoKey: Any]) throws {
        let findings = Findings()
        let probe = NestingProbe(codingPath: [], userInfo: userInfo, levels: 0, calls: 0, findings: findings)
        try probe.take(value)
        if findings.isTooDeep { throw AFError.ParametersNestedTooDeep(parameter: nil) }
    }

    private init(
        codingPath: [any CodingKey], userInfo: [CodingUserInfoKey: Any], levels: Int, calls: Int, findings: Findings
    ) {
        self.codingPath = codingPath
        self.userInfo = userInfo
        self.levels = levels
        self.calls = calls
        self.findings = findings
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(NestingProbeKeyedContainer<Key>(probe: nested))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { NestingProbeUnkeyedContainer(probe: nested) }
    func singleValueContainer() -> any SingleValueEncodingContainer { NestingProbeSingleValueContainer(probe: self) }

    func take(_ value: some Encodable) throws {
        guard levels <= AFError.ParametersNestedTooDeep.limit, calls < Self.maximumCalls, !findings.isTooDeep else {
            throw AFError.ParametersNestedTooDeep(parameter: codingPath.first?.stringValue)
        }
        switch value {
        // Foundation's encoders have ways of their own with these.
        case is Date, is Data, is URL, is Decimal: return
        default:
            let inner = NestingProbe(
                codingPath: codingPath, userInfo: userInfo, levels: levels, calls: calls + 1, findings: findings)
            try value.encode(to: inner)
        }
    }

    func at(_ key: any CodingKey) -> NestingProbe {
        NestingProbe(
            codingPath: codingPath + [key], userInfo: userInfo, levels: levels, calls: calls, findings: findings)
    }

    /// One level further in.
    var nested: NestingProbe {
        if levels >= AFError.ParametersNestedTooDeep.limit { findings.isTooDeep = true }
        return NestingProbe(
            codingPath: codingPath, userInfo: userInfo, levels: levels + 1, calls: calls, findings: findings)
    }
}
