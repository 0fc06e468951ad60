import AfarTestServer
public import Foundation
public import HTTPTypes

/// The server of the suite, as a function: what it answers depends on nothing but the request.
public enum ConformanceServer {
    /// A request as the server sees it.
    public struct Request: Sendable {
        /// Its method.
        public var method: String
        /// Its path with the query, as it was sent.
        public var target: String
        /// Its header fields, in order.
        public var fields: HTTPFields
        /// Its body.
        public var body: Data

        /// Makes a request.
        public init(method: String, target: String, fields: HTTPFields, body: Data) {
            (self.method, self.target, self.fields, self.body) = (method, target, fields, body)
        }
    }

    /// A response.
    public struct Response: Sendable {
        /// Its status.
        public var status = 200
        /// Its header fields, in order.
        public var fields = HTTPFields()
        /// Its body.
        public var body = Data()
        /// How long its head takes to come.
        public var delay: Duration = .zero
        /// In how many pieces its body comes.
        public var pieces = 1
        /// How long each piece takes to come.
        public var pause: Duration = .zero
    }

    /// What is answered. `/echo` tells what was asked, `/status/N`, `/bytes/N`, `/slow` and others are for the cases.
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

    /// Bytes that differ from one place to the next.
    static func bytes(_ count: Int) -> Data {
        var bytes = Data(capacity: count)
        while bytes.count < count { bytes += pattern.prefix(count - bytes.count) }
        return bytes
    }

    /// Of a length that no buffer has.
    private static let pattern = Data((0..<65_537).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 8) })

    /// A line for the request, one for each field, and one about the body.
    private static func echo(_ request: Request) -> String {
        let fields = request.fields.map { "\($0.name.rawName): \($0.value)" }
        return
            (["\(request.method) \(request.target)"] + fields + [
                "body \(request.body.count) \(BodyChecksum(request.body).hex)"
            ])
            .joined(separator: "\n")
    }
}
