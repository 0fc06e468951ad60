public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension SerializationInput {
    /// Makes an input from Foundation's values, for serializers that are called by hand.
    ///
    /// - Throws: `error`, when it is no ``AFError``.
    public init(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws {
        if let error, error.asAFError == nil { throw error }
        self.init(request: request, head: response.map { ResponseHead($0) }, data: data, error: error?.asAFError)
    }
}

extension ResponseHead {
    /// Takes over Foundation's form of a head.
    package convenience init(_ response: HTTPURLResponse) {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let fieldName = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: fieldName, value: "\(value)"))
        }
        self.init(status: response.statusCode, fields: fields, url: response.url?.absoluteString ?? "")
    }
}
