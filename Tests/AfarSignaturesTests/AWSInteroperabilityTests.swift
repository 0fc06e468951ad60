import Foundation
import HTTPTypes
import Testing

@testable import AfarSignatures

/// Random requests get the same signatures as with PyPI's botocore.
@Suite(.enabled(if: SigningPeer.isInstalled)) struct AWSInteroperabilityTests {
    private struct Case: Encodable {
        var accessKey = "AKIDEXAMPLE"
        var secret: String
        var token: String?
        var date: Int
        var isS3: Bool
        var service: String
        var region: String
        var method: String
        var origin: String
        var path: String
        var parameters: [[String]]
        var headers: [[String]]
        var body: String
        var isUnsigned: Bool
        /// Whether a presigned URL contains the hash of the payload.
        var signsPayload: Bool
        /// Whether the token is that of a session of S3 Express.
        var isExpress: Bool
        var expires: Int?
        var signature = ""
    }

    private static let text = "abcXYZ019-._~!$&'()*+,;=:@ /%\"<>[]{}|^`äßé€漢😀"

    @Test(.timeLimit(.minutes(5))) func botocoreComputesTheSameSignatures() throws {
        var generator = SeededGenerator(seed: 20_250_801)
        let cases = try (0..<SigningPeer.count).map { try Self.makeCase($0, &generator) }
        let output = try SigningPeer.run("aws.py", "compare", cases)
        #expect(output.contains("\(cases.count) of \(cases.count) signatures are the same"), "\(output.suffix(200))")
    }

    private static func makeCase(_ index: Int, _ generator: inout SeededGenerator) throws -> Case {
        let isS3 = generator.flip()
        let isPresigned = generator.flip()
        let isExpress = isS3 && Int.random(in: 0..<4, using: &generator) == 0
        // botocore keeps one parameter of each name in presigned URLs.
        var parameters = (0..<Int.random(in: 0...5, using: &generator)).map { number in
            [
                isPresigned ? "\(number)\(generator.text(text, 0...6))" : generator.text(text, 1...6),
                generator.text(text, 0...12),
            ]
        }
        if !isPresigned, generator.flip(), let first = parameters.first { parameters.append([first[0], "again"]) }
        let names = ["X-Custom", "Content-Type", "x-amz-meta-a", "X-Amz-Meta-B", "Range", "Cookie", "If-Match"]
        let headers = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
            [names.randomElement(using: &generator) ?? "", generator.text("abc  \t,;=\"\\", 0...12)]
        }
        let body = Data(generator.text(text, 0...40).utf8)
        let origins = [
            "https://bucket.s3.amazonaws.com", "http://127.0.0.1:9000", "https://dynamodb.us-east-1.amazonaws.com",
            "https://[2001:db8::1]:8443",
        ]
        var test = Case(
            secret: generator.text("abcXYZ019/+", 20...40),
            token: isExpress || generator.flip() ? generator.text("abcXYZ019/+=", 20...200) : nil,
            date: Int.random(in: 0...4_000_000_000, using: &generator), isS3: isS3,
            service: isExpress
                ? "s3express"
                : isS3 ? "s3" : ["dynamodb", "execute-api", "sts"].randomElement(using: &generator) ?? "",
            region: ["us-east-1", "eu-central-1", "cn-north-1"].randomElement(using: &generator) ?? "",
            method: ["GET", "PUT", "POST", "DELETE"].randomElement(using: &generator) ?? "",
            origin: origins.randomElement(using: &generator) ?? "", path: "", parameters: parameters, headers: headers,
            body: body.base64EncodedString(), isUnsigned: !isPresigned && isS3 && generator.flip(),
            signsPayload: isPresigned && isS3 && generator.flip(), isExpress: isExpress,
            expires: isPresigned ? Int.random(in: 1...604_800, using: &generator) : nil)
        // A presigned URL of another service covers an empty body.
        if isPresigned, !test.signsPayload { test.body = "" }
        test.path = "/" + encoded(generator.text(text + "///..", 0...30), &generator, keepingSlashes: true)
        let query = parameters.map { "\(encoded($0[0], &generator))=\(encoded($0[1], &generator))" }
        try sign(&test, query: query.joined(separator: "&"), body: body)
        return test
    }

    /// Encodes text with escapes in uppercase and lowercase, also where they aren't necessary.
    private static func encoded(
        _ text: String, _ generator: inout SeededGenerator, keepingSlashes: Bool = false
    ) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            let mustEncode =
                byte > 0x7E || " \"<>[]{}|^`%#?&=+\\".contains(character) || character == "/" && !keepingSlashes
            guard mustEncode || character != "/" && Int.random(in: 0..<8, using: &generator) == 0 else {
                return String(character)
            }
            return String(format: generator.flip() ? "%%%02x" : "%%%02X", byte)
        }.joined()
    }

    private static func sign(_ test: inout Case, query: String, body: Data) throws {
        let credentials = AWSCredentials(
            accessKeyID: test.accessKey, secretAccessKey: test.secret, sessionToken: test.token)
        var signer = AWSSigner(region: test.region, service: test.service)
        signer.usesExpressSession = test.isExpress
        let date = Date(timeIntervalSince1970: TimeInterval(test.date))
        let target = query.isEmpty ? test.path : "\(test.path)?\(query)"
        var fields = HTTPFields()
        for header in test.headers {
            fields.add(header[0], header[1])
        }
        if let expires = test.expires {
            let url = try signer.presignedURL(
                for: try #require(URL(string: test.origin + target)), method: #require(HTTPRequest.Method(test.method)),
                fields: fields, payload: test.signsPayload ? .data(body) : nil, expiresIn: expires, with: credentials,
                at: date)
            test.signature = String(try #require(url.absoluteString.components(separatedBy: "X-Amz-Signature=").last))
            return
        }
        var request = HTTPRequest(
            method: try #require(HTTPRequest.Method(test.method)), scheme: "https",
            authority: test.origin.components(separatedBy: "://")[1], path: target)
        request.headerFields = fields
        let signed = try signer.signed(
            request, payload: test.isUnsigned ? .unsigned : .data(body), with: credentials, at: date)
        test.signature = try #require(signed.headerFields[.authorization])
    }
}
