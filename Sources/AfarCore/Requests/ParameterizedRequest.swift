import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A value that creates a `URLRequest` from its parts. The modifier runs before the parameters are encoded.
struct ParameterizedRequest: WrittenURLConvertible {
    typealias Modifier = @Sendable (inout URLRequest) throws -> Void

    /// Whether the `URLRequest` can be created without running user code.
    let isPlain: Bool
    let writtenURL: String?
    private let make: @Sendable () throws -> URLRequest

    init(
        url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders?, modifier: Modifier?,
        encode: (@Sendable (URLRequest) throws -> URLRequest)? = nil
    ) {
        let kind = type(of: url) as Any.Type
        // A modifier can sign the `URL`, which can differ from the text.
        writtenURL = modifier == nil ? url as? String : nil
        isPlain = modifier == nil && encode == nil && (kind == String.self || kind == URL.self)
        make = {
            var urlRequest = try URLRequest(url: url, method: method, headers: headers)
            try modifier?(&urlRequest)
            return try encode?(urlRequest) ?? urlRequest
        }
    }

    init(
        url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders?, modifier: Modifier?,
        _ parameters: Parameters?, _ encoding: any ParameterEncoding
    ) {
        let kind = type(of: encoding) as Any.Type
        guard parameters != nil || kind != URLEncoding.self && kind != SessionEncoder.self else {
            self.init(url: url, method: method, headers: headers, modifier: modifier)
            return
        }
        self.init(url: url, method: method, headers: headers, modifier: modifier) {
            try encoding.encode($0, with: parameters)
        }
    }

    init<Value: Encodable & Sendable>(
        url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders?, modifier: Modifier?,
        _ parameters: Value?, _ encoder: any ParameterEncoder
    ) {
        guard let parameters else {
            self.init(url: url, method: method, headers: headers, modifier: modifier)
            return
        }
        self.init(url: url, method: method, headers: headers, modifier: modifier) {
            try encoder.encode(parameters, into: $0)
        }
    }

    func asURLRequest() throws -> URLRequest { try make() }
}
