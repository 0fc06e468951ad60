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
        self.init(capabilities: capabilities, stubs: StubList(stubs))
    }

    /// The stubs that have answered no request so far; none for a mock that was made of a closure.
    public var unusedStubs: [Stub] { stubs?.unused ?? [] }
}

/// Stubs, and how often each has answered.
final class StubList: Sendable {
    private let stubs: [Stub]
    /// What is asked when none of these fits.
    private let others: StubList?
    private let uses: Locked<[Int]>

    init(_ stubs: [Stub], before others: StubList? = nil) {
        (self.stubs, self.others) = (stubs, others)
        uses = Locked(Array(repeating: 0, count: stubs.count))
    }

    var unused: [Stub] { zip(stubs, uses.withLock { $0 }).filter { $0.1 == 0 }.map(\.0) }

    /// A request with what stands for the places of the stub that fits it, and what answers it; nil when none fits.
    func match(_ request: MockRequest) -> (request: MockRequest, answer: MockTransport.Handler)? {
        for (index, stub) in stubs.enumerated() {
            guard let parameters = stub.match(request) else { continue }
            let number = uses.withLock { uses in
                defer { uses[index] += 1 }
                return uses[index]
            }
            var request = request
            request.parameters = parameters
            return (request, { try await stub.response(to: $0, number: number) })
        }
        return others?.match(request)
    }

    /// Says that no stub fits a request.
    func refuse(_ request: MockRequest) throws -> MockResponse {
        let known = descriptions.isEmpty ? "no stubs" : descriptions.joined(separator: ", ")
        throw TransportError(
            .invalidUse, phase: .queued, url: request.url,
            message: "no stub fits \(request.method.rawValue) \(request.url). The mock has: \(known)")
    }

    private var descriptions: [String] { stubs.map(\.description) + (others?.descriptions ?? []) }
}
