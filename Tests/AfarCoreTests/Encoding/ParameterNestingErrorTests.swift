import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Parameters nested too deep are a typed error, up to that depth they are written, on a stack as small as any thread's.
@Suite("Nesting of parameters")
struct ParameterNestingErrorTests {
    static let limit = AFError.ParameterNestingError.limit

    final class Chain: Encodable, Sendable {
        let next: Chain?

        /// So many objects in each other.
        init(levels: Int) {
            next = levels > 1 ? Chain(levels: levels - 1) : nil
        }
    }

    /// Nothing but wrappers in wrappers, which add no key.
    indirect enum Wrapped: Encodable, Sendable {
        case value
        case wrapper(Wrapped)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .value: try container.encode("v")
            case .wrapper(let inner): try container.encode(inner)
            }
        }
    }

    /// So many containers in each other, and then nothing or a value.
    struct Containers: Encodable {
        let levels: Int
        var hasValue = false

        func encode(to encoder: any Encoder) throws {
            var root = encoder.container(keyedBy: FormContainersTests.Keys.self)
            var container = root.nestedUnkeyedContainer(forKey: .a)
            for _ in 2..<levels { container = container.nestedUnkeyedContainer() }
            if hasValue { try container.encode(1) }
        }
    }

    /// So many arrays in each other.
    static func arrays(_ levels: Int) -> [any Sendable] {
        (1..<levels).reduce([]) { inner, _ in [inner] }
    }

    /// What the work gives on a thread with 512 KB of stack, which is what a dispatch queue's has on Apple's platforms.
    static func onSmallStack<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) throws -> Result {
        try onStack(of: 512 * 1024, work)
    }

    /// What the work gives on a thread with a stack of so many bytes.
    static func onStack<Result: Sendable>(
        of size: Int, _ work: @escaping @Sendable () throws -> Result
    ) throws -> Result {
        let outcome = Locked<Swift.Result<Result?, any Error>?>(nil)
        // The thread has to leave nothing of it to be released there after the caller is gone: that takes stack too.
        let pending = Locked<(@Sendable () throws -> Result)?>(work)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let result = Swift.Result { try pending.withLock { $0 }?() }
            outcome.withLock { $0 = result }
            done.signal()
        }
        thread.stackSize = size
        thread.start()
        done.wait()
        pending.withLock { $0 = nil }
        let result = try #require(outcome.withLock { $0 })
        return try #require(try result.get())
    }

    @Test("objects may be nested to the limit, and no deeper")
    func objects() throws {
        struct Value: Encodable {
            let tree: Chain
            let leaf = 1

            func text() throws -> String {
                try ParameterNestingErrorTests.onSmallStack { try URLEncodedFormEncoder().encode(self) }
            }
        }
        #expect(try Value(tree: Chain(levels: Self.limit - 1)).text() == "leaf=1")
        #expect(throws: AFError.ParameterNestingError.self) { try Value(tree: Chain(levels: Self.limit)).text() }
        let error = #expect(throws: AFError.ParameterNestingError.self) {
            try Value(tree: Chain(levels: 2000)).text()
        }
        #expect(error?.parameter == "tree")
        #expect(error.map { "\($0.localizedDescription)" }?.contains("\"tree\" is nested more than 128") == true)
    }

    @Test("keys of the deepest value are complete")
    func deepestKey() throws {
        let levels = Self.limit
        let text: String = try Self.onSmallStack {
            try URLEncodedFormEncoder(keyPathEncoding: .dots, nilEncoding: .null).encode(Chain(levels: levels))
        }
        #expect(text == Array(repeating: "next", count: levels).joined(separator: ".") + "=null")
    }

    @Test("wrappers without keys count too")
    func wrappers() throws {
        let deep = (0..<5000).reduce(Wrapped.value) { inner, _ in .wrapper(inner) }
        #expect(throws: AFError.ParameterNestingError.self) {
            try Self.onSmallStack { () -> String in try URLEncodedFormEncoder().encode(["w": deep]) }
        }
        let shallow = (0..<100).reduce(Wrapped.value) { inner, _ in .wrapper(inner) }
        let text: String = try Self.onSmallStack { try URLEncodedFormEncoder().encode(["w": shallow]) }
        #expect(text == "w=v")
    }

    @Test("containers by hand can be as deep as they like while they are empty")
    func containers() throws {
        let text: String = try Self.onSmallStack { try URLEncodedFormEncoder().encode(Containers(levels: 20_000)) }
        #expect(text == "")
        #expect(throws: AFError.ParameterNestingError.self) {
            try Self.onSmallStack { () -> String in
                try URLEncodedFormEncoder().encode(Containers(levels: 20_000, hasValue: true))
            }
        }
    }

    @Test(
        "encodings refuse it instead of overflowing the stack",
        arguments: [
            URLEncoding.default, URLEncoding.httpBody, JSONEncoding.default, PropertyListEncoding.default,
            PropertyListEncoding.binary,
        ] as [any ParameterEncoding])
    func encodings(encoding: any ParameterEncoding) throws {
        let request = try URLRequest(url: "https://h/", method: .get)
        let limit = Self.limit
        let fitting = try Self.onSmallStack { try encoding.encode(request, with: ["a": Self.arrays(limit - 1)]) }
        #expect(fitting.httpBody != nil || encoding is URLEncoding)
        let error = #expect(throws: AFError.self) {
            try Self.onSmallStack { try encoding.encode(request, with: ["fine": 1, "deep": Self.arrays(limit)]) }
        }
        #expect((error?.underlyingError as? AFError.ParameterNestingError)?.parameter == "deep")
        // Made and released out here: that takes stack too.
        let deeper = ["deep": ["d": Self.arrays(3000)]]
        #expect(throws: AFError.self) { try Self.onSmallStack { try encoding.encode(request, with: deeper) } }
    }

    @Test("what is called directly keeps to it as well")
    func direct() throws {
        let request = try URLRequest(url: "https://h/", method: .post)
        let deep = Self.arrays(3000)
        #expect(throws: AFError.self) {
            try Self.onSmallStack { try JSONEncoding.default.encode(request, withJSONObject: deep) }
        }
        #expect(try Self.onSmallStack { URLEncoding.default.queryComponents(fromKey: "k", value: deep).count } == 0)
        let dictionary: [String: any Sendable] = ["x": ["y": 1]]
        #expect(URLEncoding.default.queryComponents(fromKey: "k", value: dictionary).map(\.0) == ["k%5Bx%5D%5By%5D"])
    }
}
