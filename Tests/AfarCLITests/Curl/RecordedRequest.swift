import AfarTestServer
import Foundation

/// What a server received, without differences that have no meaning.
struct RecordedRequest: Equatable, CustomStringConvertible {
    var method: String
    var target: String
    /// The fields, by lowercase name.
    var fields: [String: String]
    var body: String

    /// The fields that identify a client or the connection.
    private static let ignored: Set<String> = [
        "user-agent", "accept-encoding", "accept-language", "connection", "keep-alive", "expect", "host",
        "content-length",
        "transfer-encoding", "proxy-connection", "te",
    ]

    /// - Parameter isLenient: Whether also to ignore Accept and the parameters of Content-Type, and to decode JSON and forms.
    init(_ request: ServerRequest, isLenient: Bool = false) {
        (method, target) = (request.method, request.target)
        fields = [:]
        for field in request.headers.fields {
            let name = field.name.lowercased()
            guard !Self.ignored.contains(name), !(isLenient && name == "accept") else { continue }
            let separator = name == "cookie" ? ";" : ", "
            fields[name] = fields[name].map { $0 + separator + field.value } ?? field.value
        }
        fields["cookie"] = fields["cookie"]?.replacing("; ", with: ";")
        let type = String((request.headers["Content-Type"] ?? "").lowercased().prefix { $0 != ";" })
        if isLenient || type == "multipart/form-data" { fields["content-type"] = type.isEmpty ? nil : type }
        if isLenient, let authorization = fields["authorization"], authorization.hasPrefix("Digest ") {
            fields["authorization"] = "Digest \(authorization.contains("username=\"ada\"") ? "ada" : "?")"
        }
        let bytes = request.body
        switch type {
        case "multipart/form-data":
            body = Self.parts(of: request, isLenient: isLenient)
        case "application/json" where isLenient:
            let value = try? JSONSerialization.jsonObject(with: bytes)
            let data = value.flatMap { try? JSONSerialization.data(withJSONObject: $0, options: .sortedKeys) }
            body = String(decoding: data ?? bytes, as: UTF8.self)
        case "application/x-www-form-urlencoded" where isLenient:
            body = String(decoding: bytes, as: UTF8.self).replacing("+", with: " ").removingPercentEncoding ?? ""
        default: body = String(data: bytes, encoding: .utf8) ?? bytes.base64EncodedString()
        }
    }

    /// Returns the body of a multipart form with a fixed boundary. If lenient, without the types of parts that aren't files.
    private static func parts(of request: ServerRequest, isLenient: Bool) -> String {
        let field = request.headers["Content-Type"] ?? ""
        let boundary = field.split(separator: "boundary=").last.map { $0.trimmingCharacters(in: ["\""]) } ?? ""
        let text = String(data: request.body, encoding: .isoLatin1) ?? ""
        return text.components(separatedBy: "--\(boundary)").map { part in
            guard isLenient, !part.contains("filename=") else { return part }
            return part.replacing(/Content-Type: [^\r]*\r\n/, with: "")
        }.joined(separator: "--boundary")
    }

    var description: String {
        "\(method) \(target)\n\(fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined())\(body)"
    }
}
