public import AfarCore
import HTTPTypes

extension MockTransport {
    /// Makes a mock of stubs. The first that fits a request answers it; a request that none fits fails with
    /// ``TransportError/Code-swift.struct/invalidUse``, and the error names the request and the stubs.
    ///
    /// - Parameters:
    ///   - capabilities: What the mock says it can do; everything unless told otherwise.
    ///   - stubs: What is answered. Without any, every request fails.
    public convenience init(capabilities: TransportCapabilities = .mock, stubs: [Stub]) {
        let stubs = StubList(stubs)
        self.init(capabilities: capabilities, stubs: stubs, stubs.response)
    }

    /// The stubs that have answered no request so far; none for a mock that was made of a closure.
    public var unusedStubs: [Stub] { stubs?.unused ?? [] }
}

/// Stubs, and how often each has answered.
final class StubList: Sendable {
    private let stubs: [Stub]
    private let uses: Locked<[Int]>

    init(_ stubs: [Stub]) {
        self.stubs = stubs
        uses = Locked(Array(repeating: 0, count: stubs.count))
    }

    var unused: [Stub] { zip(stubs, uses.withLock { $0 }).filter { $0.1 == 0 }.map(\.0) }

    func response(to request: MockRequest) async throws -> MockResponse {
        for (index, stub) in stubs.enumerated() {
            guard let parameters = stub.match(request) else { continue }
            let number = uses.withLock { uses in
                defer { uses[index] += 1 }
                return uses[index]
            }
            var request = request
            request.parameters = parameters
            return try await stub.response(to: request, number: number)
        }
        let known = stubs.isEmpty ? "no stubs" : stubs.map(\.description).joined(separator: ", ")
        throw TransportError(
            .invalidUse, phase: .queued, url: request.url,
            message: "no stub fits \(request.method.rawValue) \(request.url). The mock has: \(known)")
    }
}
