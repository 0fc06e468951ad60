import Foundation

extension CompositeEventMonitor {
    /// Forwards a serialized response of any type.
    func request<Value>(_ request: DataRequest, didSerialize response: DataResponse<Value, AFError>) {
        func tell<Assumed: Sendable>(_ type: Assumed.Type) {
            guard let response = response as? DataResponse<Assumed, AFError> else { return }
            self.request(request, didParseResponse: response)
        }
        tell(assumedSendable(Value.self))
    }

    /// Forwards a serialized download of any type.
    func request<Value>(_ request: DownloadRequest, didSerialize response: DownloadResponse<Value, AFError>) {
        func tell<Assumed: Sendable>(_ type: Assumed.Type) {
            guard let response = response as? DownloadResponse<Assumed, AFError> else { return }
            self.request(request, didParseResponse: response)
        }
        tell(assumedSendable(Value.self))
    }
}

/// A type, taken for one whose values may be shared.
///
/// The monitors' generic methods ask for such, and serializers make values of any type. `Sendable` has no existence while
/// a program runs: both types are represented alike, which makes the cast safe. What a monitor may do with a value that is
/// not really sendable, ``EventMonitor`` says.
private func assumedSendable(_ type: Any.Type) -> any Sendable.Type {
    unsafeBitCast(type, to: (any Sendable.Type).self)
}
