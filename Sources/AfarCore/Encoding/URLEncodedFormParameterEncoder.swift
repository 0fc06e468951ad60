#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An `Encodable` value as a query: `key=value` pairs in the URL or in a form body.
///
/// The query that the URL has already is left as it is, and what is added is percent-encoded exactly once.
// @unchecked: it is open, so that the compiler can't check it; its properties are immutable and Sendable.
open class URLEncodedFormParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// Where the parameters go.
    public enum Destination: Sendable {
        /// Into the URL for GET, HEAD and DELETE, else into the body.
        case methodDependent
        /// Into the URL.
        case queryString
        /// Into the body.
        case httpBody

        func encodesParametersInURL(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: method.prefersParametersInURL
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// An encoder with default settings and the destination `methodDependent`.
    public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// What writes the pairs.
    public let encoder: URLEncodedFormEncoder

    /// Where the parameters go.
    public let destination: Destination

    /// Makes an encoder.
    public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
        self.encoder = encoder
        self.destination = destination
    }

    /// The request with the parameters in its query or body. A content type is set with a body unless there is one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` if the value cannot be encoded or the request has no URL or method.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        guard let url = request.url else { throw failure(.missingRequiredComponent(.url)) }
        guard let method = request.method else {
            throw failure(.missingRequiredComponent(.httpMethod(rawValue: request.httpMethod ?? "")))
        }
        var request = request
        do {
            let query: String = try encoder.encode(parameters)
            if destination.encodesParametersInURL(for: method) {
                request.url = try url.appendingQuery(query)
            } else {
                request.setBody(Data(query.utf8), contentType: "application/x-www-form-urlencoded; charset=utf-8")
            }
        } catch {
            throw failure(.encoderFailed(error: error))
        }
        return request
    }

    private func failure(_ reason: AFError.ParameterEncoderFailureReason) -> AFError {
        .parameterEncoderFailed(reason: reason)
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// An encoder of queries with default settings and the destination `methodDependent`.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// An encoder of queries.
    ///
    /// - Parameters:
    ///   - encoder: What writes the pairs.
    ///   - destination: Where they go.
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}
