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
        let uses = Locked(Array(repeating: 0, count: stubs.count))
        self.init(capabilities: capabilities, stubs: (stubs, uses)) { request in
            guard let index = stubs.firstIndex(where: { $0.matches(request) }) else {
                let known = stubs.isEmpty ? "no stubs" : stubs.map(\.description).joined(separator: ", ")
                throw TransportError(
                    .invalidUse, phase: .queued, url: request.url,
                    message: "no stub fits \(request.method.rawValue) \(request.url). The mock has: \(known)")
            }
            let number = uses.withLock { uses in
                defer { uses[index] += 1 }
                return uses[index]
            }
            return stubs[index].response(number)
        }
    }

    /// The stubs that have answered no request so far; none for a mock that was made of a closure.
    public var unusedStubs: [Stub] {
        guard let (stubs, uses) = stubs else { return [] }
        return zip(stubs, uses.withLock { $0 }).filter { $0.1 == 0 }.map(\.0)
    }
}
