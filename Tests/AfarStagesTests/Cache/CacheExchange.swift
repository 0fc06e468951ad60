import AfarStages
import Foundation
import HTTPTypes

/// A request and its response with controlled times, as processed by a cache.
struct CacheExchange {
    static let url = "http://cache.example/a?b=1"
    /// The time of the response: Sun, 06 Nov 1994 08:49:37 GMT.
    static let start = Date(timeIntervalSince1970: 784_111_777)
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    static func fields(_ texts: [(String, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in texts {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    static func request(
        _ method: HTTPRequest.Method = .get, _ texts: [(String, String)] = [], defaults: [(String, String)] = [],
        path: String = "/a?b=1", body: RequestBody = .none, decodesContent: Bool = true,
        sensitiveHeaders: Set<String> = []
    ) -> CacheRequest {
        var options = ExchangeOptions()
        options.decodesContent = decodesContent
        options.defaultFields = DefaultFields(fields(defaults))
        return CacheRequest(
            Exchange(
                request: HTTPRequest(
                    method: method, scheme: "http", authority: "cache.example", path: path,
                    headerFields: fields(texts)), body: body, options: options),
            sensitiveHeaders: SensitiveHeaders(sensitiveHeaders))
    }

    static func head(_ status: Int = 200, _ texts: [(String, String)], isDated: Bool = true) -> ResponseHead {
        ResponseHead(status: status, fields: fields(texts + (isDated ? [("Date", date)] : [])), url: url)
    }

    /// Returns the stored response, or `nil` if the rules forbid storing it.
    static func kept(
        _ texts: [(String, String)], status: Int = 200, to request: CacheRequest = request(), body: String = "body",
        requestedAt requestDate: Date = start, isDated: Bool = true
    ) -> CachedResponse? {
        CacheRules.storable(
            head(status, texts, isDated: isDated), Data(body.utf8), to: request, requestDate: requestDate,
            responseDate: start)
    }
}

extension CacheRules.Decision {
    /// The name of the decision.
    var name: String {
        switch self {
        case .use: "use"
        case .useAndRevalidate: "useAndRevalidate"
        case .validate: "validate"
        case .send: "send"
        case .unavailable: "unavailable"
        }
    }
}
