public import AfarCore
public import Foundation
public import HTTPTypes

/// A request as a ``MockTransport`` saw it.
public struct MockRequest: Sendable {
    /// The exchange: delivery, options, context. Its observer, its decision and the session's handlers are removed, because a mock
    /// keeps its requests, and they would retain the session's request.
    public let exchange: Exchange
    /// The body's bytes, whatever form the body had.
    public let body: Data
    /// What stands for the places of the ``Stub`` that fits: `id` for `/users/{id}`, percent-decoded.
    public internal(set) var parameters: [String: String] = [:]

    init(exchange: Exchange, body: Data) {
        var exchange = exchange
        exchange.observer = nil
        exchange.decide = nil
        if exchange.hasPolicies { exchange.policies = ExchangePolicies() }
        self.exchange = exchange
        self.body = body
    }

    /// The method.
    public var method: HTTPRequest.Method { exchange.request.method }
    /// The URL as text.
    public var url: String { exchange.url }

    /// The URL's path without the query.
    public var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// The URL's query without the question mark, nil when there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The header fields, the exchange's default fields among them.
    public var fields: HTTPFields { exchange.fields }

    /// The value of the header field of a name, whose case does not matter; nil when there is none.
    public subscript(name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

    private var target: String { exchange.request.path ?? "/" }
}
