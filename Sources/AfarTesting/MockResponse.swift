public import AfarCore
public import Foundation
public import HTTPTypes

/// A response of a ``MockTransport``.
public struct MockResponse: Sendable {
    /// An informational response, which precedes the final response (RFC 9110, section 15.2).
    public struct Informational: Sendable, Hashable {
        /// The status code, from 102 to 199. Early hints have 103.
        public var status: Int
        /// The header fields.
        public var fields: HTTPFields

        /// Creates an informational response.
        public init(status: Int, fields: HTTPFields = HTTPFields()) {
            self.status = status
            self.fields = fields
        }
    }

    /// The status code.
    public var status: Int
    /// The header fields. `Content-Length` is added unless it or `Transfer-Encoding` is present.
    public var fields: HTTPFields
    /// The bytes of the body. They aren't sent in response to a HEAD request.
    public var body: Data
    /// The trailer fields, which follow the body.
    public var trailers = HTTPFields()
    /// The informational responses to send first, in order.
    public var informationalResponses: [Informational] = []
    /// The delay before the head arrives.
    public var delay: Duration = .zero
    /// The size of each chunk in bytes, or `nil` to deliver the body at once.
    public var chunkSize: Int?
    /// The delay before each chunk.
    public var chunkDelay: Duration = .zero
    /// The code of the error with which the exchange fails, or `nil` if it succeeds.
    public var failure: TransportError.Code?
    /// The number of body bytes to deliver before the failure, or `nil` to fail before the head.
    public var bytesBeforeFailure: Int?
    /// The server of a WebSocket, if the response accepts one.
    var webSocket: MockWebSocket.Server?
    /// The message of the failure.
    var failureMessage = "the mock is configured to fail"

    /// Creates a response.
    public init(status: Int = 200, fields: HTTPFields = HTTPFields(), body: Data = Data()) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Returns a response without a body.
    public static func status(_ status: Int, fields: HTTPFields = HTTPFields()) -> MockResponse {
        MockResponse(status: status, fields: fields)
    }

    /// Returns a response with bytes of the given media type.
    public static func data(
        _ data: Data, type: String = "application/octet-stream", status: Int = 200
    ) -> MockResponse {
        MockResponse(status: status, fields: [.contentType: type], body: data)
    }

    /// Returns a response with plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> MockResponse {
        .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// Returns a response with a JSON value.
    ///
    /// The exchange fails with ``TransportError/Code-swift.struct/invalidUse`` if the value can't be encoded.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - status: The status code. The default is 200.
    ///   - encoder: The encoder to use. The default encoder sorts keys.
    public static func json(
        _ value: some Encodable & Sendable, status: Int = 200, encoder: JSONEncoder? = nil
    ) -> MockResponse {
        do {
            return .data(try (encoder ?? .sortingKeys).encode(value), type: "application/json", status: status)
        } catch {
            return .failure(.invalidUse, because: "the value can't be encoded as JSON: \(error)")
        }
    }

    /// Returns a response with the content of a file next to the test's source file.
    ///
    /// The exchange fails with ``TransportError/Code-swift.struct/invalidUse`` if the file can't be read.
    ///
    /// - Parameters:
    ///   - name: The name of the file, optionally with folders: `Fixtures/user.json`.
    ///   - type: The media type. The default depends on the file's extension.
    ///   - status: The status code. The default is 200.
    ///   - test: The path of the test's source file.
    public static func file(
        _ name: String, type: String? = nil, status: Int = 200, beside test: String = #filePath
    ) -> MockResponse {
        let file = URL(fileURLWithPath: test).deletingLastPathComponent().appendingPathComponent(name)
        do {
            return .data(try Data(contentsOf: file), type: type ?? MIMETypes.type(ofFileNamed: name), status: status)
        } catch {
            return .failure(.invalidUse, because: "\(file.path) can't be read: \(error.localizedDescription)")
        }
    }

    /// Returns a response whose body is the given JSON text.
    public static func json(text: String, status: Int = 200) -> MockResponse {
        .data(Data(text.utf8), type: "application/json", status: status)
    }

    /// Returns a redirect with the body "moved", similar to the text that servers include for people.
    ///
    /// - Parameters:
    ///   - status: The status code. The default is 302.
    ///   - location: The value of the `Location` field.
    public static func redirect(_ status: Int = 302, to location: String) -> MockResponse {
        var response = text("moved", status: status)
        response.fields[.location] = location
        return response
    }

    /// Returns a 401 response that requests credentials, with the body "unauthorized".
    ///
    /// - Parameter challenge: The value of the `WWW-Authenticate` field, such as `Basic realm="members"`. If it is
    ///   empty, the field is omitted.
    public static func challenge(_ challenge: String) -> MockResponse {
        var response = text("unauthorized", status: 401)
        if !challenge.isEmpty { response.fields[.wwwAuthenticate] = challenge }
        return response
    }

    /// Returns a value that makes the exchange fail with an error code.
    public static func failure(_ code: TransportError.Code) -> MockResponse {
        var response = MockResponse()
        response.failure = code
        return response
    }

    private static func failure(_ code: TransportError.Code, because message: String) -> MockResponse {
        var response = failure(code)
        response.failureMessage = message
        return response
    }

    /// Returns a copy of the response with an additional header field.
    ///
    /// The exchange fails with ``TransportError/Code-swift.struct/invalidUse`` if the name isn't valid.
    public func adding(_ name: String, _ value: String) -> MockResponse {
        guard let name = HTTPField.Name(name) else {
            return .failure(.invalidUse, because: "\(name) isn't a valid header field name")
        }
        var response = self
        response.fields.append(HTTPField(name: name, value: value))
        return response
    }

    /// Returns a copy of the response that arrives after a delay.
    public func delayed(by delay: Duration) -> MockResponse {
        var response = self
        response.delay = delay
        return response
    }

    /// Returns a copy of the response with an additional informational response before it: `.preceded(by: 103)`.
    public func preceded(by status: Int, fields: HTTPFields = HTTPFields()) -> MockResponse {
        var response = self
        response.informationalResponses.append(Informational(status: status, fields: fields))
        return response
    }

    /// Returns a copy of the response whose body arrives in chunks with a delay before each.
    public func chunked(into size: Int, every delay: Duration = .zero) -> MockResponse {
        var response = self
        (response.chunkSize, response.chunkDelay) = (size, delay)
        return response
    }

    /// Returns a copy of the response that is interrupted after some bytes of its body.
    public func interrupted(
        after count: Int, with code: TransportError.Code = .bodyIncomplete
    ) -> MockResponse {
        var response = self
        (response.failure, response.bytesBeforeFailure) = (code, count)
        return response
    }
}

extension JSONEncoder {
    static var sortingKeys: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
