import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Values that Foundation's encoders would follow until the stack ends are a typed error.
@Suite("Nesting of encoded values") struct NestingProbeTests {
    private static let encoders: [any ParameterEncoder] = [
        JSONParameterEncoder.default, PropertyListParameterEncoder.default,
    ]

    /// Can contain itself.
    private final class Loop: Encodable, @unchecked Sendable {
        // Sendable because it is changed before it is shared.
        var next: Loop?
    }

    /// What the encoder makes of a value on a small stack.
    private func body(_ value: some Encodable & Sendable, _ encoder: any ParameterEncoder) throws -> Data? {
        let url = try #require(URL(string: "http://h/"))
        return try ParametersNestedTooDeepTests.onSmallStack {
            try encoder.encode(value, into: URLRequest(url: url)).httpBody
        }
    }

    private func refusal(_ value: some Encodable & Sendable, _ encoder: any ParameterEncoder) -> String?? {
        let error = #expect(throws: AFError.self) { try body(value, encoder) }
        return (error?.underlyingError as? AFError.ParametersNestedTooDeep).map { $0.parameter }
    }

    @Test("objects may be nested to the limit, and no deeper", arguments: encoders)
    func objects(encoder: any ParameterEncoder) throws {
        let limit = AFError.ParametersNestedTooDeep.limit
        #expect(try body(ParametersNestedTooDeepTests.Chain(levels: limit), encoder) != nil)
        #expect(refusal(ParametersNestedTooDeepTests.Chain(levels: limit + 1), encoder) != nil)
        #expect(refusal(ParametersNestedTooDeepTests.Chain(levels: 2000), encoder) == .some(.some("next")))
    }

    @Test("what contains itself is refused", arguments: encoders)
    func cycles(encoder: any ParameterEncoder) {
        let loop = Loop()
        loop.next = loop
        defer { loop.next = nil }
        #expect(refusal(["tree": [loop]], encoder) == .some(.some("tree")))
    }

    @Test("wrappers without keys count too", arguments: encoders)
    func wrappers(encoder: any ParameterEncoder) throws {
        let deep = (0..<5000).reduce(ParametersNestedTooDeepTests.Wrapped.value) { inner, _ in .wrapper(inner) }
        #expect(refusal(["w": deep], encoder) != nil)
        let shallow = (0..<20).reduce(ParametersNestedTooDeepTests.Wrapped.value) { inner, _ in .wrapper(inner) }
        #expect(try body(["w": shallow], encoder) != nil)
    }

    @Test("containers by hand count too, even empty ones", arguments: encoders)
    func containers(encoder: any ParameterEncoder) {
        #expect(refusal(ParametersNestedTooDeepTests.Containers(levels: 20_000), encoder) != nil)
        #expect(refusal(ParametersNestedTooDeepTests.Containers(levels: 20_000, hasValue: true), encoder) != nil)
    }

    @Test("what is written stays what Foundation writes")
    func bodies() throws {
        struct Value: Encodable {
            let when = Date(timeIntervalSinceReferenceDate: 1)
            let data = Data([1, 2])
            let place = URL(string: "http://h/")
            let price = Decimal(3)
            let list: [Int?] = [1, nil]
            let names = ["aB": 1.5]
            let none: Int? = nil
        }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        #expect(try body(Value(), JSONParameterEncoder(encoder: encoder)) == encoder.encode(Value()))
    }
}
