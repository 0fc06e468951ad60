public import AfarCore
public import Foundation
public import HTTPTypes

/// What a ``MockTransport`` answers.
public struct MockResponse: Sendable {
    /// What a server says before its response (RFC 9110, section 15.2).
    public struct Informational: Sendable, Hashable {
        /// The status code, 102 to 199: early hints have 103.
        public var status: Int
        /// The header fields.
        public var fields: HTTPFields

        /// Makes one.
        public init(status: Int, fields: HTTPFields = HTTPFields()) {
            self.status = status
            self.fields = fields
        }
    }

    /// The status code.
    public var status: Int
    /// The header fields. Content-Length is added when neither it nor Transfer-Encoding is there.
    public var fields: HTTPFields
    /// The body's bytes. A request with the method HEAD gets none of them.
    public var body: Data
    /// Fields that come after the body.
    public var trailers = HTTPFields()
    /// The informational responses that come before it, in this order.
    public var informationalResponses: [Informational] = []
    /// How long the response's head takes to come.
    public var delay: Duration = .zero
    /// The bytes that arrive at a time, nil for all at once.
    public var chunkSize: Int?
    /// How long each chunk takes to come.
    public var chunkDelay: Duration = .zero
    /// How the exchange fails, nil when it does not.
    public var failure: TransportError.Code?
    /// The bytes of the body that arrive before the failure, nil when it comes instead of a head.
    public var bytesBeforeFailure: Int?
    /// Why it fails.
    var failureMessage = "the mock was told to fail"

    /// Makes a response.
    public init(status: Int = 200, fields: HTTPFields = HTTPFields(), body: Data = Data()) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    // MARK: Ready-made

    /// A status without a body.
    public static func status(_ status: Int, fields: HTTPFields = HTTPFields()) -> MockResponse {
        MockResponse(status: status, fields: fields)
    }

    /// Bytes of a media type.
    public static func data(
        _ data: Data, type: String = "application/octet-stream", status: Int = 200
    ) -> MockResponse {
        MockResponse(status: status, fields: [.contentType: type], body: data)
    }

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> MockResponse {
        .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// A value as JSON. One that JSON cannot hold fails the exchange (``TransportError/Code-swift.struct/invalidUse``).
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status code. The default is 200.
    ///   - encoder: What writes it. The default sorts the keys.
    public static func json(
        _ value: some Encodable & Sendable, status: Int = 200, encoder: JSONEncoder? = nil
    ) -> MockResponse {
        do {
            return .data(try (encoder ?? .sortingKeys).encode(value), type: "application/json", status: status)
        } catch {
            return .failure(.invalidUse, because: "the value cannot be written as JSON: \(error)")
        }
    }

    /// What is in a file beside the test's. One that cannot be read fails the exchange
    /// (``TransportError/Code-swift.struct/invalidUse``).
    ///
    /// - Parameters:
    ///   - name: The file's name, with folders if it lies in any: `Fixtures/user.json`.
    ///   - type: Its media type. The default is the one that its extension tells.
    ///   - status: The status code.
    ///   - test: The test's file.
    public static func file(
        _ name: String, type: String? = nil, status: Int = 200, beside test: String = #filePath
    ) -> MockResponse {
        let file = URL(fileURLWithPath: test).deletingLastPathComponent().appendingPathComponent(name)
        do {
            return .data(try Data(contentsOf: file), type: type ?? MIMETypes.type(ofFileNamed: name), status: status)
        } catch {
            return .failure(.invalidUse, because: "\(file.path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// JSON that is written out already.
    public static func json(text: String, status: Int = 200) -> MockResponse {
        .data(Data(text.utf8), type: "application/json", status: status)
    }

    /// A redirect, with the body that servers send with one for people: "moved".
    ///
    /// - Parameters:
    ///   - status: Its status. The default is 302.
    ///   - location: The value of its `Location`.
    public static func redirect(_ status: Int = 302, to location: String) -> MockResponse {
        var response = text("moved", status: status)
        response.fields[.location] = location
        return response
    }

    /// A 401 that asks for credentials, with the body "unauthorized".
    ///
    /// - Parameter challenge: The value of its `WWW-Authenticate`: `Basic realm="members"`, say. An empty one is left out.
    public static func challenge(_ challenge: String) -> MockResponse {
        var response = text("unauthorized", status: 401)
        if !challenge.isEmpty { response.fields[.wwwAuthenticate] = challenge }
        return response
    }

    /// No response: the exchange fails.
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

    // MARK: Changed

    /// The same response with one more header field. A name that no field can have fails the exchange
    /// (``TransportError/Code-swift.struct/invalidUse``).
    public func adding(_ name: String, _ value: String) -> MockResponse {
        guard let name = HTTPField.Name(name) else {
            return .failure(.invalidUse, because: "\(name) is no name of a header field")
        }
        var response = self
        response.fields.append(HTTPField(name: name, value: value))
        return response
    }

    /// The same response after a delay.
    public func delayed(by delay: Duration) -> MockResponse {
        var response = self
        response.delay = delay
        return response
    }

    /// The same response after one more informational one: `.preceded(by: 103)`.
    public func preceded(by status: Int, fields: HTTPFields = HTTPFields()) -> MockResponse {
        var response = self
        response.informationalResponses.append(Informational(status: status, fields: fields))
        return response
    }

    /// The same response whose body comes in pieces, each after a while.
    public func chunked(into size: Int, every delay: Duration = .zero) -> MockResponse {
        var response = self
        (response.chunkSize, response.chunkDelay) = (size, delay)
        return response
    }

    /// The same response, interrupted after some bytes of its body.
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
