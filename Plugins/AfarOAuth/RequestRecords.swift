import AfarCore
import AfarTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The records of an ``OAuthInterceptor`` about requests that a server has refused or that contain a DPoP proof.
final class RequestRecords: Sendable {
    private struct Record {
        weak var request: Request?
        /// The nonce of the last DPoP proof.
        var nonce: String?
        /// Whether the request has been sent again with a nonce.
        var isRetriedWithNonce = false
        /// The number of tokens refused since the last response that wasn't a refusal.
        var refusals = 0
    }

    /// The maximum number of tokens that are refused in a row before a request fails.
    private static let maximumRefusals = 3

    private let dpop: OAuthDPoP?
    private let records = Locked<[ObjectIdentifier: Record]>([:])
    private let queue = DispatchQueue(label: "afar.oauth.responses")

    init(_ dpop: OAuthDPoP?) { self.dpop = dpop }

    func record(_ nonce: String?, of request: Request) { change(request) { $0.nonce = nonce } }

    /// Returns whether to send a refused request again with a new nonce. After such a retry, returns false until a renewal is permitted.
    func retriesWithNonce(_ request: Request, _ url: URL) -> Bool {
        change(request) { record in
            guard !record.isRetriedWithNonce, let nonce = dpop?.nonce(for: url), nonce != record.nonce else {
                return false
            }
            record.isRetriedWithNonce = true
            return true
        }
    }

    /// Returns whether the token of a refused request is renewed.
    ///
    /// - Parameter isNew: Whether the refused token is the last one that was issued. Such a token isn't renewed if the request was refused
    ///   before, because the service apparently refuses all tokens. An older token was replaced while the request was sent, so the request
    ///   is sent again, but at most ``maximumRefusals`` times in a row.
    func permitsRenewal(for request: Request, refusing isNew: Bool) -> Bool {
        change(request) { record in
            guard record.refusals == 0 || !isNew && record.refusals < Self.maximumRefusals else { return false }
            record.refusals += 1
            record.isRetriedWithNonce = false
            return true
        }
    }

    /// Changes the record of a request. The first change begins the observation of the request's responses.
    private func change<Value>(_ request: Request, _ change: (inout Record) -> Value) -> Value {
        let id = ObjectIdentifier(request)
        let (value, isFirst) = records.withLock { records in
            let known = records[id].flatMap { $0.request === request ? $0 : nil }
            // Requests that have ended are removed when the number of records doubles.
            if known == nil, records.count >= 64, records.count.nonzeroBitCount == 1 {
                records = records.filter { $0.value.request != nil }
            }
            var record = known ?? Record(request: request)
            let value = change(&record)
            records[id] = record
            return (value, known == nil)
        }
        if isFirst {
            request.onHTTPResponse(on: queue) { [weak self, weak request] response in
                if let self, let request { receive(response, of: request) }
            }
        }
        return value
    }

    private func receive(_ response: HTTPURLResponse, of request: Request) {
        if let dpop, let url = response.url {
            dpop.receive(nonce: response.value(forHTTPHeaderField: "DPoP-Nonce"), from: url)
        }
        guard response.statusCode != 401 else { return }
        records.withLock { $0[ObjectIdentifier(request)]?.refusals = 0 }
    }
}
