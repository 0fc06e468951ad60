import AfarTransport
public import Foundation

extension HAR {
    /// A request and its response or failure.
    public struct Entry: Sendable, Codable, Hashable {
        /// The time at which the request started, in ISO 8601 format.
        public var startedDateTime: String
        /// The total duration in milliseconds.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response. Its status is 0 if none was received.
        public var response: Response
        /// The durations of the phases.
        public var timings: Timings
        /// The IP address of the server.
        public var serverIPAddress: String?
        /// The reason that the exchange failed, as the name of a ``TransportError/Code-swift.struct``, or `nil` if it
        /// succeeded.
        public var failure: String?

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress
            case failure = "_error"
        }

        init(started: Date, request: Request) {
            startedDateTime = started.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            (time, timings) = (0, Timings())
            self.request = request
            response = Response()
        }

        /// Decodes an entry. Most fields are optional.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            request = try values.decode(Request.self, forKey: .request)
            response = try values.decode(Response.self, forKey: .response)
            startedDateTime = try values.decodeIfPresent(String.self, forKey: .startedDateTime) ?? ""
            time = (try? values.decodeIfPresent(Double.self, forKey: .time)) ?? 0
            timings = (try? values.decodeIfPresent(Timings.self, forKey: .timings)) ?? Timings()
            serverIPAddress = try values.decodeIfPresent(String.self, forKey: .serverIPAddress)
            // Browsers write their own messages to this field instead of codes.
            failure = try? values.decodeIfPresent(String.self, forKey: .failure)
        }

        /// Encodes the entry with all fields that the format requires.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(startedDateTime, forKey: .startedDateTime)
            try values.encode(time, forKey: .time)
            try values.encode(request, forKey: .request)
            try values.encode(response, forKey: .response)
            try values.encode([String: String](), forKey: .cache)
            try values.encode(timings, forKey: .timings)
            try values.encodeIfPresent(serverIPAddress, forKey: .serverIPAddress)
            try values.encodeIfPresent(failure, forKey: .failure)
        }
    }

    /// The durations of an exchange's phases in milliseconds. A value of -1 means that the phase didn't occur.
    public struct Timings: Sendable, Codable, Hashable {
        /// The time spent waiting for a connection.
        public var blocked: Double = -1
        /// The time to resolve the host name.
        public var dns: Double = -1
        /// The time to connect, including the TLS handshake.
        public var connect: Double = -1
        /// The time for the TLS handshake.
        public var ssl: Double = -1
        /// The time to send the request.
        public var send: Double = 0
        /// The time spent waiting for the response.
        public var wait: Double = 0
        /// The time to receive the response.
        public var receive: Double = 0

        init() {}

        /// Decodes the durations. All fields are optional.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            func read(_ key: CodingKeys, _ instead: Double) throws -> Double {
                try values.decodeIfPresent(Double.self, forKey: key) ?? instead
            }
            (blocked, dns) = (try read(.blocked, -1), try read(.dns, -1))
            (connect, ssl) = (try read(.connect, -1), try read(.ssl, -1))
            (send, wait, receive) = (try read(.send, 0), try read(.wait, 0), try read(.receive, 0))
        }
    }

    /// A request.
    public struct Request: Sendable, Codable, Hashable {
        /// The HTTP method.
        public var method: String
        /// The complete URL.
        public var url: String
        /// The HTTP version.
        public var httpVersion = "HTTP/1.1"
        /// The header fields in order.
        public var headers: [Field]
        /// The body, or `nil` if the request has no body.
        public var body: Content?
        /// The number of header bytes sent, or -1 if it is unknown.
        public var headersSize = -1

        private enum CodingKeys: String, CodingKey {
            case method, url, httpVersion, cookies, headers, queryString, postData, headersSize, bodySize
        }

        private struct PostData: Codable {
            var mimeType: String?
            var text: String?
            var params: [Parameter]?
            /// A field that the format doesn't define.
            var encoding: String?

            enum CodingKeys: String, CodingKey {
                case mimeType, text, params
                case encoding = "_encoding"
            }
        }

        private struct Parameter: Codable {
            var name: String
            var value: String?
        }

        init(method: String, url: String, headers: [Field], body: Content?) {
            (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        }

        /// Decodes a request. Most fields are optional.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            method = try values.decode(String.self, forKey: .method)
            url = try values.decode(String.self, forKey: .url)
            httpVersion = try values.decodeIfPresent(String.self, forKey: .httpVersion) ?? httpVersion
            headers = try values.decodeIfPresent([Field].self, forKey: .headers) ?? []
            headersSize = (try? values.decodeIfPresent(Int.self, forKey: .headersSize)) ?? headersSize
            if let data = try values.decodeIfPresent(PostData.self, forKey: .postData) {
                let type = data.mimeType ?? ""
                let parameters = data.params ?? []
                let size = (try? values.decodeIfPresent(Int.self, forKey: .bodySize)) ?? 0
                if parameters.isEmpty, data.text?.isEmpty ?? true, size != 0 {
                    body = Content(mimeType: type, text: nil, encoding: nil)
                } else if let text = data.text, !text.isEmpty || parameters.isEmpty {
                    body = Content(mimeType: type, text: text, encoding: data.encoding)
                } else {
                    var form = URLComponents()
                    form.queryItems = parameters.map { URLQueryItem(name: $0.name, value: $0.value) }
                    body = Content(mimeType: type, text: form.percentEncodedQuery, encoding: nil)
                }
            }
        }

        /// Encodes the request with all fields that the format requires.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(method, forKey: .method)
            try values.encode(url, forKey: .url)
            try values.encode(httpVersion, forKey: .httpVersion)
            try values.encode(HAR.cookies(in: headers, "cookie"), forKey: .cookies)
            try values.encode(headers, forKey: .headers)
            let query =
                URL(keepingEscapesOf: url).flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }?.queryItems
                ?? []
            try values.encode(query.map { Field(name: $0.name, value: $0.value ?? "") }, forKey: .queryString)
            if let body {
                try values.encode(
                    PostData(
                        mimeType: body.mimeType, text: body.text ?? "", params: [],
                        encoding: body.encoding), forKey: .postData)
            }
            try values.encode(headersSize, forKey: .headersSize)
            let isRecorded = body == nil || body?.text != nil
            try values.encode(isRecorded ? body?.size ?? 0 : -1, forKey: .bodySize)
        }
    }

    /// A response.
    public struct Response: Sendable, Codable, Hashable {
        /// The status code, or 0 if no response was received.
        public var status = 0
        /// The reason phrase, or an empty string if it is unknown.
        public var statusText = ""
        /// The HTTP version.
        public var httpVersion = "HTTP/1.1"
        /// The header fields in order.
        public var headers: [Field] = []
        /// The decoded body.
        public var content = Content(mimeType: "", data: Data())
        /// The number of header bytes received, or -1 if it is unknown.
        public var headersSize = -1
        /// The number of body bytes received, or -1 if it is unknown.
        public var bodySize = -1

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
        }

        init() {}

        /// Decodes a response. Most fields are optional.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            status = try values.decode(Int.self, forKey: .status)
            statusText = try values.decodeIfPresent(String.self, forKey: .statusText) ?? ""
            httpVersion = try values.decodeIfPresent(String.self, forKey: .httpVersion) ?? httpVersion
            headers = try values.decodeIfPresent([Field].self, forKey: .headers) ?? []
            content = try values.decodeIfPresent(Content.self, forKey: .content) ?? content
            headersSize = (try? values.decodeIfPresent(Int.self, forKey: .headersSize)) ?? headersSize
            bodySize = (try? values.decodeIfPresent(Int.self, forKey: .bodySize)) ?? bodySize
        }

        /// Encodes the response with all fields that the format requires.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(status, forKey: .status)
            try values.encode(statusText, forKey: .statusText)
            try values.encode(httpVersion, forKey: .httpVersion)
            try values.encode(HAR.cookies(in: headers, "set-cookie"), forKey: .cookies)
            try values.encode(headers, forKey: .headers)
            try values.encode(content, forKey: .content)
            let location = headers.first { $0.name.lowercased() == "location" }
            try values.encode((300..<400).contains(status) ? location?.value ?? "" : "", forKey: .redirectURL)
            try values.encode(headersSize, forKey: .headersSize)
            try values.encode(bodySize, forKey: .bodySize)
        }
    }

    /// A body as text or Base64.
    public struct Content: Sendable, Codable, Hashable {
        /// The size of the body in bytes.
        public var size: Int
        /// The media type, or an empty string if it is unknown.
        public var mimeType: String
        /// The text or the Base64 data, or `nil` if the body wasn't recorded.
        public var text: String?
        /// `base64` for Base64 data, or `nil` for text.
        public var encoding: String?
        /// A note about the body.
        public var comment: String?

        /// Creates a body from bytes. Valid UTF-8 is stored as text.
        public init(mimeType: String, data: Data) {
            self.mimeType = mimeType
            size = data.count
            text = String(data: data, encoding: .utf8)
            if text == nil { (text, encoding) = (data.base64EncodedString(), "base64") }
        }

        init(mimeType: String, text: String?, encoding: String?) {
            (self.mimeType, self.text, self.encoding) = (mimeType, text, encoding)
            size = 0
            size = data?.count ?? 0
            if text == nil { comment = "The body was not recorded." }
        }

        /// Decodes a body. All fields are optional.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            size = (try? values.decodeIfPresent(Int.self, forKey: .size)) ?? 0
            mimeType = try values.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
            text = try values.decodeIfPresent(String.self, forKey: .text)
            encoding = try values.decodeIfPresent(String.self, forKey: .encoding)
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }

        /// The bytes of the body, or `nil` if it wasn't recorded or its Base64 data is invalid.
        public var data: Data? {
            guard encoding == "base64" else { return text.map { Data($0.utf8) } }
            return text.flatMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }
        }
    }

    /// Returns the name and value of each cookie in the header fields, without cookie attributes.
    private static func cookies(in headers: [Field], _ name: String) -> [Field] {
        let values = headers.filter { $0.name.lowercased() == name }.map(\.value)
        let pairs = name == "cookie" ? values.flatMap { $0.components(separatedBy: ";") } : values
        return pairs.compactMap { text in
            let pair = text.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { return nil }
            return Field(
                name: pair[0].trimmingCharacters(in: .whitespaces), value: pair[1].trimmingCharacters(in: .whitespaces))
        }
    }
}
