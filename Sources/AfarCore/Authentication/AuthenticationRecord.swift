import Foundation

/// What an ``AuthenticationInterceptor`` has done for a request. The retries that others ask for leave no trace here.
struct AuthenticationRecord {
    /// When the request began, or last got the result of a refresh.
    var began: TimeInterval
    /// The latest version of the credential with which the interceptor had the request retried.
    fileprivate(set) var version: Int?
}

extension Request {
    /// - Parameter id: Which interceptor.
    func authentication(by id: ObjectIdentifier) -> AuthenticationRecord {
        mutable.withLock { $0.interceptorRecords.authentications[id] ?? AuthenticationRecord(began: $0.startTime) }
    }

    /// The request learns what a refresh came to. Only a later one can be its failure again.
    func noteAnswer(by id: ObjectIdentifier) {
        let now = Date.timeIntervalSinceReferenceDate.nextUp
        changeAuthentication(by: id) { $0.began = now }
    }

    /// Notes that the request is retried with this version of the credential.
    ///
    /// - Returns: Whether it was not retried with it before.
    func mayRetry(with version: Int, as id: ObjectIdentifier) -> Bool {
        changeAuthentication(by: id) { record in
            Swift.exchange(&record.version, with: version).map { $0 < version } ?? true
        }
    }

    private func changeAuthentication<Value>(
        by id: ObjectIdentifier, _ change: (inout AuthenticationRecord) -> Value
    ) -> Value {
        mutable.withLock { change(&$0.interceptorRecords.authentications[id, default: AuthenticationRecord(began: $0.startTime)]) }
    }
}
