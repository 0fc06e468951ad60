public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Parameters as a property list body.
public struct PropertyListEncoding: ParameterEncoding {
    /// The encoding as XML.
    public static var `default`: PropertyListEncoding { PropertyListEncoding() }

    /// The encoding as XML.
    public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }

    /// The encoding in the binary format.
    public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

    /// The format of the property list.
    public let format: PropertyListSerialization.PropertyListFormat

    /// How the property list is written. Foundation knows no such options yet.
    public let options: PropertyListSerialization.WriteOptions

    /// Makes an encoding.
    public init(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.WriteOptions = 0
    ) {
        self.format = format
        self.options = options
    }

    /// The request with the parameters as its body. The content type `application/x-plist` is set unless there is one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` with `propertyListEncodingFailed`; what the convertible throws.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        do {
            try AFError.ParameterNestingError.check(parameters)
            request.setBody(
                try PropertyListSerialization.data(fromPropertyList: parameters, format: format, options: options),
                contentType: "application/x-plist"
            )
        } catch {
            throw AFError.parameterEncodingFailed(reason: .propertyListEncodingFailed(error: error))
        }
        return request
    }
}
