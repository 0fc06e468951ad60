import AfarTransport
public import Foundation

extension HAR {
    /// A request and what came of it.
    public struct Entry: Sendable, Codable, Hashable {
        /// When the request was made, in ISO 8601's form.
        public var startedDateTime: String
        /// How long it took in all, in milliseconds.
        public var time: Double
        /// What was sent.
        public var request: Request
        /// What came back. A status of 0 says that nothing did.
        public var response: Response
        /// How long each part of it took.
        public var timings: Timings
        /// The server's address.
        public var serverIPAddress: String?
        /// Why it failed: the name of a ``TransportError/Code-swift.struct``. Nil for an exchange that did not fail.
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

        /// Reads what is there.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            request = try values.decode(Request.self, forKey: .request)
            response = try values.decode(Response.self, forKey: .response)
            startedDateTime = try values.decodeIfPresent(String.self, forKey: .startedDateTime) ?? ""
            time = (try? values.decodeIfPresent(Double.self, forKey: .time)) ?? 0
            timings = (try? values.decodeIfPresent(Timings.self, forKey: .timings)) ?? Timings()
            serverIPAddress = try values.decodeIfPresent(String.self, forKey: .serverIPAddress)
            // Browsers have texts of their own here.
            failure = try? values.decodeIfPresent(String.self, forKey: .failure)
        }

        /// Writes all that the format demands.
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

    /// How long the parts of an exchange took, in milliseconds; -1 for what there was not.
    public struct Timings: Sendable, Codable, Hashable {
        /// Waiting for a connection.
        public var blocked: Double = -1
        /// Finding the host.
        public var dns: Double = -1
        /// Connecting, securing included.
        public var connect: Double = -1
        /// Securing the connection.
        public var ssl: Double = -1
        /// Sending the request.
        public var send: Double = 0
        /// Waiting for the response.
        public var wait: Double = 0
        /// Receiving the response.
        public var receive: Double = 0

        init() {}

        /// Reads what is there.
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
        /// Its method.
        public var method: String
        /// Its URL, whole.
        public var url: String
        /// The version of HTTP.
        public var httpVersion = "HTTP/1.1"
        /// Its header fields, in order.
        public var headers: [Field]
        /// The body; nil when there is none.
        public var body: Content?
        /// The bytes of the header that were sent; -1 when that is not known.
        public var headersSize = -1

        private enum CodingKeys: String, CodingKey {
            case method, url, httpVersion, cookies, headers, queryString, postData, headersSize, bodySize
        }

        private struct PostData: Codable {
            var mimeType: String?
            var text: String?
            var params: [Parameter]?
            /// The format has no place for it.
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

        /// Reads what is there.
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

        /// Writes all that the format demands.
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
            let isKept = body == nil || body?.text != nil
            try values.encode(isKept ? body?.size ?? 0 : -1, forKey: .bodySize)
        }
    }

    /// A response.
    public struct Response: Sendable, Codable, Hashable {
        /// Its status; 0 when none came.
        public var status = 0
        /// What the server calls it, or the usual name of it.
        public var statusText = ""
        /// The version of HTTP.
        public var httpVersion = "HTTP/1.1"
        /// Its header fields, in order.
        public var headers: [Field] = []
        /// Its body, decoded.
        public var content = Content(mimeType: "", data: Data())
        /// The bytes of the header that were received; -1 when that is not known.
        public var headersSize = -1
        /// The bytes of the body that were received; -1 when that is not known.
        public var bodySize = -1

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
        }

        init() {}

        /// Reads what is there.
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

        /// Writes all that the format demands.
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

    /// A body: text, or bytes in Base64.
    public struct Content: Sendable, Codable, Hashable {
        /// How many bytes it has.
        public var size: Int
        /// Its media type; empty when that is not known.
        public var mimeType: String
        /// The text, or the bytes in Base64; nil when the body was not kept.
        public var text: String?
        /// "base64", or nil for text.
        public var encoding: String?
        /// What there is to say about it.
        public var comment: String?

        /// Makes a body of bytes, as text where they are text in UTF-8.
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
            if text == nil { comment = "The body was not kept." }
        }

        /// Reads what is there.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            size = (try? values.decodeIfPresent(Int.self, forKey: .size)) ?? 0
            mimeType = try values.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
            text = try values.decodeIfPresent(String.self, forKey: .text)
            encoding = try values.decodeIfPresent(String.self, forKey: .encoding)
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }

        /// The bytes; nil when the body was not kept, or is no Base64 where it should be.
        public var data: Data? {
            guard encoding == "base64" else { return text.map { Data($0.utf8) } }
            return text.flatMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }
        }
    }

    /// The cookies of header fields, without what goes beside a cookie.
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
