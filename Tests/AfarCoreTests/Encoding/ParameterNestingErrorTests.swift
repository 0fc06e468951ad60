import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Parameters nested up to the limit are encoded even on the smallest stack of any thread. Deeper nesting is a typed
/// error.
@Suite("Nesting of parameters")
struct ParameterNestingErrorTests {
    static let limit = AFError.ParameterNestingError.limit

    final class Chain: Encodable, Sendable {
        let next: Chain?

        /// Creates a chain of objects with the given depth.
        init(levels: Int) {
            next = levels > 1 ? Chain(levels: levels - 1) : nil
        }
    }

    /// Nested values that use only single-value containers and add no keys.
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

    /// Nested containers, in which the innermost is empty or contains a value.
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

    /// Returns empty arrays nested to the given depth.
    static func arrays(_ levels: Int) -> [any Sendable] {
        (1..<levels).reduce([]) { inner, _ in [inner] }
    }

    /// Runs work on a thread with a stack of 512 KB, the size for dispatch queues on Apple's platforms.
    static func onSmallStack<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) throws -> Result {
        try onStack(of: 512 * 1024, work)
    }

    /// Runs work on a thread with the given stack size.
    static func onStack<Result: Sendable>(
        of size: Int, _ work: @escaping @Sendable () throws -> Result
    ) throws -> Result {
        let outcome = Locked<Swift.Result<Result?, any Error>?>(nil)
        // Releasing values takes stack space, too, so the thread must not release the last reference.
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

    @Test("objects can be nested up to the limit")
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

    @Test("the key of the deepest value is complete")
    func deepestKey() throws {
        let levels = Self.limit
        let text: String = try Self.onSmallStack {
            try URLEncodedFormEncoder(keyPathEncoding: .dots, nilEncoding: .null).encode(Chain(levels: levels))
        }
        #expect(text == Array(repeating: "next", count: levels).joined(separator: ".") + "=null")
    }

    @Test("wrappers without keys count, too")
    func wrappers() throws {
        let deep = (0..<5000).reduce(Wrapped.value) { inner, _ in .wrapper(inner) }
        #expect(throws: AFError.ParameterNestingError.self) {
            try Self.onSmallStack { () -> String in try URLEncodedFormEncoder().encode(["w": deep]) }
        }
        let shallow = (0..<100).reduce(Wrapped.value) { inner, _ in .wrapper(inner) }
        let text: String = try Self.onSmallStack { try URLEncodedFormEncoder().encode(["w": shallow]) }
        #expect(text == "w=v")
    }

    @Test("empty manual containers can be nested to any depth")
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
        "encodings throw an error instead of overflowing the stack",
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
        // Created here, because releasing it would overflow the small stack, too.
        let deeper = ["deep": ["d": Self.arrays(3000)]]
        #expect(throws: AFError.self) { try Self.onSmallStack { try encoding.encode(request, with: deeper) } }
    }

    @Test("direct calls enforce the limit, too")
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
