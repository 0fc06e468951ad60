import AfarKeys
import AfarTrust
public import Foundation
public import HTTPTypes

/// Signs requests with AWS Signature Version 4.
///
/// ```swift
/// let signer = AWSSigner(region: "eu-central-1", service: "s3")
/// let url = try signer.presignedURL(for: object, expiresIn: 600, with: credentials)
/// ```
///
/// To sign all requests of a session, use ``AWSSigningStage``. The signer is a value without state and can be used from any thread.
/// Signature Version 4a isn't supported.
public struct AWSSigner: Sendable, Hashable {
    /// The region, such as `us-east-1`.
    public var region: String
    /// The service's name for signing, such as `s3`, `execute-api` or `sts`.
    public var service: String
    /// A Boolean value that indicates whether S3's rules apply: paths are encoded once and not normalized, and the payload's hash is sent
    /// in `x-amz-content-sha256`. The default is true for the services `s3`, `s3express`, `s3-outposts` and `s3-object-lambda`.
    public var usesS3Rules: Bool
    /// A Boolean value that indicates whether the session token is signed. The default is true. A few services, such as AWS IoT, expect a
    /// token that is added after signing.
    public var signsSessionToken = true
    /// A Boolean value that indicates whether `CreateSession` of S3 Express One Zone has returned the credentials. Their token is
    /// sent in `x-amz-s3session-token`. The default is false.
    public var usesExpressSession = false

    /// Creates a signer.
    public init(region: String, service: String) {
        self.region = region
        self.service = service
        usesS3Rules = ["s3", "s3express", "s3-outposts", "s3-object-lambda"].contains(service)
    }

    /// The payload of a request, in the form that the signature covers.
    public enum Payload: Sendable, Hashable {
        /// These bytes.
        case data(Data)
        /// Bytes with this SHA-256 hash.
        case sha256(Data)
        /// The signature doesn't cover the payload (`UNSIGNED-PAYLOAD`). Some services accept this over TLS.
        case unsigned

        /// An empty payload.
        public static let empty = Payload.data(Data())

        func text() throws(AWSSigningError) -> String {
            switch self {
            case .data(let data):
                guard let hash = HashFunction.sha256.hexDigits(of: data) else { throw .noHash }
                return hash
            case .sha256(let hash): return hash.hexDigits
            case .unsigned: return "UNSIGNED-PAYLOAD"
            }
        }
    }

    // MARK: Signing requests

    /// Returns a copy of a request with the fields `X-Amz-Date` and `Authorization` and, if required, `X-Amz-Content-Sha256` and
    /// the session token.
    ///
    /// Signs all fields of the request except those that proxies or transports change, such as `User-Agent` and `Accept-Encoding`.
    ///
    /// - Parameters:
    ///   - request: The request in its final form, with its scheme, authority and path.
    ///   - payload: The payload. The default is an empty one.
    ///   - credentials: The credentials.
    ///   - date: The time of the signature. The default is now.
    /// - Throws: ``AWSSigningError`` if the credentials have expired or contain invalid characters.
    public func signed(
        _ request: HTTPRequest, payload: Payload = .empty, with credentials: AWSCredentials, at date: Date = Date()
    ) throws(AWSSigningError) -> HTTPRequest {
        try credentials.checkExpiration(at: date)
        return try signature(
            of: request, payload: payload.text(), sendsPayload: payload == .unsigned, credentials, date
        ).request
    }

    /// A signed request, and what is needed to sign the chunks of its body.
    struct Signature {
        var request: HTTPRequest
        let canonicalRequest: AWSCanonicalRequest
        let text: String
        let key: SigningKey
    }

    /// - Parameter sendsPayload: Whether to send `payload` in `X-Amz-Content-Sha256` even if S3's rules don't apply.
    func signature(
        of request: HTTPRequest, payload: String, sendsPayload: Bool, _ credentials: AWSCredentials, _ date: Date
    ) throws(AWSSigningError) -> Signature {
        let key = try SigningKey(credentials, self, at: date)
        var request = request
        request.headerFields.set("X-Amz-Date", to: key.timestamp.text)
        // Services read the hash from this field if it exists.
        if usesS3Rules || sendsPayload || request.headerFields.value("X-Amz-Content-Sha256") != nil {
            request.headerFields.set("X-Amz-Content-Sha256", to: payload)
        }
        let token = credentials.sessionToken
        request.headerFields.set(tokenName, to: signsSessionToken ? token : nil)
        let canonical = AWSCanonicalRequest(request, payload: payload, isS3: usesS3Rules)
        let signature = try key.signature(of: canonical)
        request.headerFields.set(tokenName, to: token)
        request.headerFields[.authorization] =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(key.scope), "
            + "SignedHeaders=\(canonical.signedFields), Signature=\(signature)"
        return Signature(request: request, canonicalRequest: canonical, text: signature, key: key)
    }

    private var tokenName: String { usesExpressSession ? "X-Amz-S3session-Token" : "X-Amz-Security-Token" }

    // MARK: Presigned URLs

    /// Returns a URL that authorizes a request without further fields, for example to let a browser download an object.
    ///
    /// The URL works without credentials until it expires. With temporary credentials, it stops working when they expire.
    ///
    /// - Parameters:
    ///   - url: The URL, without a signature. The scheme can also be `wss`, for WebSockets of AWS IoT or API Gateway.
    ///   - method: The method of the request. The default is GET.
    ///   - fields: Fields that the request must have with the same values, such as `Content-Type` for an upload. The default is none.
    ///   - payload: The payload. With S3's rules, the URL contains its hash, and no other payload can be uploaded. The default is nil: with
    ///     S3's rules an unsigned payload, otherwise an empty one.
    ///   - expiresIn: The lifetime in seconds: 1 to 604,800 (seven days).
    ///   - credentials: The credentials.
    ///   - date: The beginning of the lifetime. The default is now.
    /// - Throws: ``AWSSigningError`` if an argument is invalid or the URL already has a signature.
    public func presignedURL(
        for url: URL, method: HTTPRequest.Method = .get, fields: HTTPFields = HTTPFields(), payload: Payload? = nil,
        expiresIn: Int, with credentials: AWSCredentials, at date: Date = Date()
    ) throws(AWSSigningError) -> URL {
        guard (1...604_800).contains(expiresIn) else {
            throw AWSSigningError("a presigned URL is valid for 1 to 604,800 seconds, not \(expiresIn)")
        }
        guard var request = HTTPRequest(method, url), let path = request.path else {
            throw AWSSigningError(
                "the URL has no host or contains a user name, or its scheme isn't https, wss, http or ws")
        }
        guard !request.isPresigned else { throw AWSSigningError("the URL already has a signature") }
        if let field = fields.first(where: { AWSCanonicalRequest.isUnsigned($0.name.canonicalName) }) {
            throw AWSSigningError("a signature can't cover the field \(field.name), because proxies can change it")
        }
        try credentials.checkExpiration(at: date)
        request.headerFields = fields
        let key = try SigningKey(credentials, self, at: date)
        let payload = payload ?? (usesS3Rules ? .unsigned : .empty)
        // The query contains the names of the signed fields (X-Amz-SignedHeaders), so determine them first.
        let names = AWSCanonicalRequest(request, payload: "", isS3: usesS3Rules).signedFields
        var parameters = [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", "\(credentials.accessKeyID)/\(key.scope)"),
            ("X-Amz-Date", key.timestamp.text), ("X-Amz-Expires", String(expiresIn)), ("X-Amz-SignedHeaders", names),
        ]
        let payloadText = try payload.text()
        if usesS3Rules, payload != .unsigned { parameters.append(("X-Amz-Content-Sha256", payloadText)) }
        let token = credentials.sessionToken.map { [(tokenName, $0)] } ?? []
        if signsSessionToken { parameters += token }
        request.path = path.appending(parameters)
        let canonical = AWSCanonicalRequest(request, payload: payloadText, isS3: usesS3Rules)
        parameters = signsSessionToken ? [] : token
        parameters.append(("X-Amz-Signature", try key.signature(of: canonical)))
        let target = (request.path ?? "").appending(parameters)
        guard let signed = URL(string: "\(request.scheme ?? "")://\(request.authority ?? "")\(target)") else {
            throw AWSSigningError("the URL can't be written with its signature")
        }
        return signed
    }
}

extension HTTPRequest {
    /// Creates a request for a URL. Returns nil if the URL isn't usable.
    fileprivate init?(_ method: Method, _ url: URL) {
        let text = url.absoluteString
        guard let scheme = text.firstRange(of: "://") else { return nil }
        let end = text[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let name = text[..<scheme.lowerBound].lowercased()
        // Clients don't send a default port, so the signature can't cover it.
        let port = name == "https" || name == "wss" ? ":443" : ":80"
        var authority = text[scheme.upperBound..<end].lowercased()
        if authority.hasSuffix(port) { authority.removeLast(port.count) }
        let path = text[end...].prefix { $0 != "#" }
        guard ["https", "wss", "http", "ws"].contains(name), !authority.isEmpty, !authority.contains("@") else {
            return nil
        }
        self.init(
            method: method, scheme: name, authority: authority,
            path: path.hasPrefix("/") ? String(path) : "/\(path)")
    }

    /// Whether the URL has a signature in its query.
    var isPresigned: Bool {
        guard let query = AWSCanonicalRequest.split(path ?? "").query else { return false }
        return query.split(separator: UInt8(ascii: "&")).contains { $0.starts(with: "X-Amz-Signature=".utf8) }
    }
}

extension String {
    fileprivate func appending(_ parameters: [(String, String)]) -> String {
        let encoded = parameters.map { "\(AWSCanonicalRequest.encoded($0))=\(AWSCanonicalRequest.encoded($1))" }
        let separator = contains("?") ? (hasSuffix("?") || hasSuffix("&") ? "" : "&") : "?"
        return self + separator + encoded.joined(separator: "&")
    }
}

extension HTTPFields {
    /// Replaces the field with this name, or removes it.
    mutating func set(_ name: String, to value: String?) {
        guard let name = HTTPField.Name(name) else { return }
        self[name] = value
    }

    func value(_ name: String) -> String? { HTTPField.Name(name).flatMap { self[$0] } }
}

/// The key that is derived from the secret access key for a day, a region and a service.
struct SigningKey: Sendable {
    let timestamp: AWSTimestamp
    /// The scope of the credentials: the day, region and service.
    let scope: String
    private let key: SignatureKey

    init(_ credentials: AWSCredentials, _ signer: AWSSigner, at date: Date) throws(AWSSigningError) {
        for (text, name) in [
            (credentials.accessKeyID, "access key's identifier"), (credentials.sessionToken ?? "-", "session token"),
            (signer.region, "region"), (signer.service, "service"),
        ] {
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw AWSSigningError("the \(name) is empty, or has spaces or characters outside of ASCII")
            }
        }
        timestamp = AWSTimestamp(date)
        let parts = [timestamp.day, signer.region, signer.service, "aws4_request"]
        scope = parts.joined(separator: "/")
        var key = Data("AWS4\(credentials.secretAccessKey)".utf8)
        for part in parts {
            guard let next = Hashing.hmacSHA256(of: Data(part.utf8), key: key) else { throw .noHash }
            key = next
        }
        do throws(SignatureKeyError) { self.key = try SignatureKey(secret: key) } catch { throw .noHash }
    }

    /// Returns the signature of a request in hexadecimal digits.
    func signature(of request: AWSCanonicalRequest) throws(AWSSigningError) -> String {
        guard let hash = request.hash else { throw .noHash }
        return try signature(of: "AWS4-HMAC-SHA256\n\(timestamp.text)\n\(scope)\n\(hash)")
    }

    /// Returns the signature of a string in hexadecimal digits.
    func signature(of stringToSign: String) throws(AWSSigningError) -> String {
        do throws(SignatureKeyError) {
            return try key.signature(for: Data(stringToSign.utf8)).hexDigits
        } catch {
            throw .noHash
        }
    }
}
