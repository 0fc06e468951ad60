public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request whose response is held in memory.
public class DataRequest: Request, @unchecked Sendable {
    // Sendable because what it adds is behind a lock.

    private struct Received {
        var data: Data?
        var validators: [Validator] = []
    }

    typealias Validator = @Sendable (URLRequest?, ResponseHead, Data?) throws -> Void

    private let received = Locked(Received())

    /// The response's body, once it is there; nil when there was none.
    public var data: Data? { received.withLock { $0.data } }

    override func prepareForAttempt() {
        super.prepareForAttempt()
        received.withLock { $0.data = nil }
    }

    override func receive(_ response: TransportResponse) throws {
        if case .data(let data) = response.body, !data.isEmpty { received.withLock { $0.data = data } }
        try super.receive(response)
    }

    override func runValidators() throws {
        let (validators, data) = received.withLock { ($0.validators, $0.data) }
        guard !validators.isEmpty, let head = responseHead else { return }
        let request = request
        for validator in validators { try validator(request, head, data) }
    }

    func append(_ validator: @escaping Validator) {
        received.withLock { $0.validators.append(validator) }
    }
}
