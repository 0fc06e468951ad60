import AfarTestServer
public import Foundation
public import HTTPTypes

/// The suite's server, as a function: the response depends only on the request.
public enum ConformanceServer {
    /// A request to the suite's server.
    public struct Request: Sendable {
        /// The method.
        public var method: String
        /// The path and the query, as sent.
        public var target: String
        /// The header fields, in order.
        public var fields: HTTPFields
        /// The body.
        public var body: Data

        /// Creates a request.
        public init(method: String, target: String, fields: HTTPFields, body: Data) {
            (self.method, self.target, self.fields, self.body) = (method, target, fields, body)
        }
    }

    /// A response of the suite's server.
    public struct Response: Sendable {
        /// The status code.
        public var status = 200
        /// The header fields, in order.
        public var fields = HTTPFields()
        /// The body.
        public var body = Data()
        /// The delay before the head.
        public var delay: Duration = .zero
        /// The number of pieces in which the body is sent.
        public var pieces = 1
        /// The delay before each piece.
        public var pause: Duration = .zero
    }

    /// Returns the response to a request. `/echo` describes the request. The cases also use `/status/N`, `/bytes/N`, `/slow` and
    /// others.
    public static func response(to request: Request) -> Response {
        let path = request.target.prefix { $0 != "?" }.split(separator: "/")
        let number = path.count > 1 ? Int(path[1]) ?? 0 : 0
        var response = Response()
        switch path.first {
        case "status": response.status = number
        case "bytes": response.body = bytes(number)
        case "slow": response.delay = .seconds(30)
        case "drip":
            (response.body, response.pieces, response.pause) = (bytes(number), number, .milliseconds(20))
        case "stuck":
            (response.body, response.pieces, response.pause) = (bytes(10), 10, .seconds(3))
        case "fields":
            response.fields = [.setCookie: "a=1; Path=/"]
            response.fields.append(HTTPField(name: .setCookie, value: "b=2"))
            for (name, value) in [("X-Twice", "one"), ("X-Empty", ""), ("x-lower", "kept"), ("X-Twice", "two")] {
                guard let name = HTTPField.Name(name) else { continue }
                response.fields.append(HTTPField(name: name, value: value))
            }
        case "redirect":
            response.status = 302
            response.fields[.location] = "/echo"
            response.body = Data("elsewhere".utf8)
        case "challenge":
            response.status = 401
            response.fields[.wwwAuthenticate] = #"Basic realm="suite""#
        default: response.body = Data(echo(request).utf8)
        }
        return response
    }

    /// Returns bytes whose values depend on their positions.
    static func bytes(_ count: Int) -> Data {
        var bytes = Data(capacity: count)
        while bytes.count < count { bytes += pattern.prefix(count - bytes.count) }
        return bytes
    }

    /// The pattern's length differs from all buffer sizes, so a buffer that ends up at the wrong position is detected.
    private static let pattern = Data((0..<65_537).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 8) })

    /// Returns one line for the method and target, one for each field, and one for the body.
    private static func echo(_ request: Request) -> String {
        let fields = request.fields.map { "\($0.name.rawName): \($0.value)" }
        return
            (["\(request.method) \(request.target)"] + fields + [
                "body \(request.body.count) \(BodyChecksum(request.body).hex)"
            ])
            .joined(separator: "\n")
    }
}
