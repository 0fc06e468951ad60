import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarStages

extension Exchange {
    /// Creates a request for a valid URL with a plain host and path.
    static func to(
        _ url: String, _ method: HTTPRequest.Method = .get, fields: [String: String] = [:], body: RequestBody = .none,
        delivery: ResponseDelivery = .collect()
    ) throws -> Exchange {
        let target = try RequestTarget(try #require(URL(string: url)))
        let request = HTTPRequest(
            method: method, scheme: target.scheme, authority: target.authority, path: target.path)
        var exchange = Exchange(request: request, body: body, delivery: delivery)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPField.Name(name) { exchange.request.headerFields[name] = value }
        }
        return exchange
    }
}

extension Exchange {
    /// Sets an observer and logs the statuses of the accepted heads.
    mutating func watch(by observer: any ExchangeObserver, noting heads: Log) {
        self.observer = observer
        decide = { head in
            heads.append("\(head.status)")
            return .take()
        }
    }
}

extension TransportResponse {
    /// A collected body.
    var text: String? {
        if case .data(let data) = body { String(decoding: data, as: UTF8.self) } else { nil }
    }
}

/// Returns the transport's error if `work` fails.
func transportFailure(of work: () async throws -> Void) async -> TransportError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? TransportError
    }
}

/// An observer that logs the events of an exchange.
final class Witness: ExchangeObserver {
    let log = Log()

    func exchangeDidReceiveHead(_ head: ResponseHead) { log.append("head \(head.status)") }
    func exchangeDidSend(bytes: Int64, expected: Int64?) { log.append("sent \(bytes)") }
    func exchangeDidReceive(bytes: Int64, expected: Int64?) { log.append("received \(bytes)") }
    func exchangeWillFollow(_ redirect: Redirect) { log.append("redirect \(redirect.response.status) \(redirect.url)") }
    func exchangeWillAnswerChallenge(in head: ResponseHead) { log.append("challenge \(head.status)") }
}
