import AfarTrust
import Foundation
import HTTPTypes

/// The canonical form of a request. The signature covers this form.
struct AWSCanonicalRequest {
    /// The names of the signed fields in lowercase, in order, separated by semicolons.
    let signedFields: String
    private let bytes: [UInt8]

    /// - Parameters:
    ///   - request: The request with all fields to sign.
    ///   - payload: The payload's hash, or a constant such as `UNSIGNED-PAYLOAD`.
    ///   - isS3: Whether to apply S3's rules for paths.
    init(_ request: HTTPRequest, payload: String, isS3: Bool) {
        let (path, query) = Self.split(request.path ?? "/")
        var fields: [String: [[UInt8]]] = [:]
        for field in request.headerFields where !Self.isUnsigned(field.name.canonicalName) {
            fields[field.name.canonicalName, default: []].append(
                field.withUnsafeBytesOfValue { Self.collapsed($0) })
        }
        if fields["host"] == nil { fields["host"] = [Array(request.sentAuthority.utf8)] }
        let names = fields.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        signedFields = names.joined(separator: ";")
        var bytes = Array("\(request.method.rawValue)\n".utf8)
        bytes += isS3 ? Self.encodedOnce(path) : Self.normalizedAndEncoded(path)
        bytes += Array("\n\(Self.canonicalQuery(query))\n".utf8)
        for name in names {
            bytes += Array("\(name):".utf8)
            bytes += Array((fields[name] ?? []).joined(separator: [UInt8(ascii: ",")]))
            bytes.append(UInt8(ascii: "\n"))
        }
        self.bytes = bytes + Array("\n\(signedFields)\n\(payload)".utf8)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The SHA-256 hash of the canonical request, in hexadecimal digits.
    var hash: String? { HashFunction.sha256.hexDigits(of: Data(bytes)) }

    // MARK: Fields

    /// Fields that proxies or the transport can change.
    private static let unsigned: Set = [
        "accept-encoding", "authorization", "connection", "expect", "from", "keep-alive",
        "max-forwards", "pragma", "proxy-authorization", "referer", "te", "trailer", "transfer-encoding", "upgrade",
        "user-agent", "x-amzn-trace-id",
    ]

    static func isUnsigned(_ name: String) -> Bool { unsigned.contains(name) }

    /// Removes white space at both ends, and replaces other white space with single spaces.
    private static func collapsed(_ value: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return Array(value.split(whereSeparator: isSpace).joined(separator: [0x20]))
    }

    // MARK: Paths and queries

    static func split(_ target: String) -> (path: Substring.UTF8View, query: Substring.UTF8View?) {
        let target = target[...].utf8
        guard let mark = target.firstIndex(of: UInt8(ascii: "?")) else { return (target, nil) }
        return (target[..<mark], target[target.index(after: mark)...])
    }

    /// The path in S3's form: encoded once, without changes to its segments.
    private static func encodedOnce(_ path: Substring.UTF8View) -> [UInt8] {
        path.isEmpty ? [UInt8(ascii: "/")] : encoded(PercentEncoding.decoded(Array(path)), keepingSlashes: true)
    }

    /// The path in the form of all services except S3: without empty segments and dot segments, and encoded a second time.
    private static func normalizedAndEncoded(_ path: Substring.UTF8View) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        var segments: [Substring.UTF8View] = []
        for segment in path.split(separator: slash) where !segment.elementsEqual(".".utf8) {
            if !segment.elementsEqual("..".utf8) { segments.append(segment) } else { _ = segments.popLast() }
        }
        let isFolder = path.last == slash && !segments.isEmpty
        let normalized = [slash] + segments.joined(separator: [slash]) + (isFolder ? [slash] : [])
        return encoded(normalized, keepingSlashes: true)
    }

    /// The parameters, encoded uniformly and sorted by name and value. Servers decode a plus sign as a space.
    private static func canonicalQuery(_ query: Substring.UTF8View?) -> String {
        guard let query else { return "" }
        let parameters = FormEncoding.parameters(in: query).map { (name: encoded($0.name), value: encoded($0.value)) }
        let sorted = parameters.sorted { first, second in
            first.name == second.name
                ? first.value.lexicographicallyPrecedes(second.value)
                : first.name.lexicographicallyPrecedes(second.name)
        }
        let texts = sorted.map { String(decoding: $0.name + [UInt8(ascii: "=")] + $0.value, as: UTF8.self) }
        return texts.joined(separator: "&")
    }

    static func encoded(_ text: String) -> String { String(decoding: encoded(Array(text.utf8)), as: UTF8.self) }

    private static func encoded(_ bytes: [UInt8], keepingSlashes: Bool = false) -> [UInt8] {
        PercentEncoding.encoded(bytes, keeping: keepingSlashes ? "-._~/" : "-._~")
    }
}

extension HashFunction {
    /// Returns the hash of bytes as hexadecimal digits, or nil if the function isn't available.
    func hexDigits(of bytes: Data) -> String? { hash(of: bytes).map { Data($0).hexDigits } }
}

extension Data {
    /// The bytes as lowercase hexadecimal digits, two per byte.
    var hexDigits: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }
}
