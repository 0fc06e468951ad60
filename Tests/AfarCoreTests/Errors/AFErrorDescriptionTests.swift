import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("AFError descriptions")
struct AFErrorDescriptionTests {
    struct Cause: Error, CustomStringConvertible {
        var description = "the-cause"
    }

    struct Described: LocalizedError {
        let errorDescription: String? = "described-cause"
    }

    static let file = URL(filePath: "/tmp/part.bin")

    static let cases: [(AFError, [String])] =
        [
            (.createUploadableFailed(error: Cause()), ["upload", "the-cause"]),
            (.createURLRequestFailed(error: Described()), ["URLRequest", "described-cause"]),
            (
                .downloadedFileMoveFailed(error: Cause(), source: file, destination: URL(filePath: "/var/there")),
                ["/tmp/part.bin", "/var/there", "the-cause"]
            ),
            (.explicitlyCancelled, ["cancelled"]),
            (.invalidURL(url: "not a url"), ["not a url"]),
            (.requestAdaptationFailed(error: Cause()), ["adapter", "the-cause"]),
            (
                .requestRetryFailed(
                    retryError: Cause(description: "second"), originalError: Cause(description: "first")),
                ["first", "second"]
            ),
            (.sessionDeinitialized, ["session", "reference"]),
            (.sessionInvalidated(error: nil), ["invalidated"]),
            (.sessionInvalidated(error: Cause()), ["invalidated", "the-cause"]),
            (.sessionTaskFailed(error: Cause()), ["the-cause"]),
        ] + multipart + parameters + requests + validation + serialization + trust

    static let multipart: [(AFError, [String])] = [
        (.outputStreamWriteFailed(error: AFError.InvalidForm.boundaryInvalid("a;b")), ["a;b", "70"]),
        (
            .outputStreamWriteFailed(error: AFError.InvalidForm.bodyPartHeadersInvalid(error: Cause())),
            ["headers", "the-cause"]
        ),
        (.bodyPartURLInvalid(url: file), ["part.bin"]),
        (.bodyPartFilenameInvalid(in: file), ["part.bin"]),
        (.bodyPartFileNotReachable(at: file), ["part.bin"]),
        (.bodyPartFileNotReachableWithError(atURL: file, error: Cause()), ["part.bin", "the-cause"]),
        (.bodyPartFileIsDirectory(at: file), ["part.bin", "directory"]),
        (.bodyPartFileSizeNotAvailable(at: file), ["part.bin", "length"]),
        (.bodyPartFileSizeQueryFailedWithError(forURL: file, error: Cause()), ["part.bin", "the-cause"]),
        (.bodyPartInputStreamCreationFailed(for: file), ["part.bin", "reading"]),
        (.outputStreamCreationFailed(for: file), ["part.bin", "writing"]),
        (.outputStreamFileAlreadyExists(at: file), ["part.bin", "already"]),
        (.outputStreamURLInvalid(url: file), ["part.bin"]),
        (.outputStreamWriteFailed(error: Cause()), ["the-cause"]),
        (
            .inputStreamReadFailed(error: AFError.UnexpectedInputStreamLength(bytesExpected: 7, bytesRead: 5)),
            ["7", "5"]
        ),
    ].map { (AFError.multipartEncodingFailed(reason: $0), ["multipart"] + $1) }

    static let parameters: [(AFError, [String])] = [
        (.parameterEncodingFailed(reason: .missingURL), ["URL"]),
        (.parameterEncodingFailed(reason: .jsonEncodingFailed(error: Cause())), ["JSON", "the-cause"]),
        (.parameterEncodingFailed(reason: .customEncodingFailed(error: Cause())), ["the-cause"]),
        (.parameterEncoderFailed(reason: .missingRequiredComponent(.url)), ["URL"]),
        (.parameterEncoderFailed(reason: .missingRequiredComponent(.httpMethod(rawValue: "ODD"))), ["method", "ODD"]),
        (.parameterEncoderFailed(reason: .encoderFailed(error: Cause())), ["the-cause"]),
    ]

    static let requests: [(AFError, [String])] =
        [
            (.invalidMethod("G T"), ["G T", "method"]),
            (.invalidHeaderName("a b"), [#""a""#, #"" ""#]),
            (.invalidHeaderName(""), ["empty"]),
            (.invalidHeaderValue(name: "X-Name"), ["X-Name"]),
            (.unsupportedScheme("ftp"), ["ftp", "http"]),
            (.ambiguousURL(URL(filePath: "/odd"), reason: "because"), ["/odd", "because"]),
            (.conflictingContentLength, ["Content-Length"]),
            (.tooManyHeaders(count: 501, limit: 500), ["501", "500"]),
        ].map { (AFError.invalidRequest($0), $1) } + [
            (.urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data(count: 12))), ["GET", "12"])
        ]

    static let validation: [(AFError, [String])] = [
        (.dataFileNil, ["file"]),
        (.dataFileReadFailed(at: file), ["part.bin"]),
        (.missingContentType(acceptableContentTypes: ["a/b", "c/d"]), ["a/b, c/d"]),
        (.unacceptableContentType(acceptableContentTypes: ["a/b"], responseContentType: "x/y"), ["a/b", "x/y"]),
        (.unacceptableStatusCode(code: 418), ["418"]),
        (.customValidationFailed(error: Cause()), ["the-cause"]),
    ].map { (AFError.responseValidationFailed(reason: $0), $1) }

    static let serialization: [(AFError, [String])] = [
        (.inputDataNilOrZeroLength, ["empty"]),
        (.inputFileNil, ["file"]),
        (.inputFileReadFailed(at: file), ["part.bin"]),
        (.stringSerializationFailed(encoding: .utf16), ["encoding", "UTF-16"]),
        (.jsonSerializationFailed(error: Cause()), ["JSON", "the-cause"]),
        (.decodingFailed(error: Cause()), ["the-cause"]),
        (.customSerializationFailed(error: Cause()), ["the-cause"]),
        (.invalidEmptyResponse(type: "Thing"), ["Thing"]),
    ].map { (AFError.responseSerializationFailed(reason: $0), $1) }

    static let presented = ServerTrust(
        host: "h.example", certificates: [], authorities: CertificateAuthorities(file: nil))
    static let output = AFError.ServerTrustFailureReason.Output(
        host: "h.example", trust: presented, error: ServerTrustError(.expired, "has expired"))

    static let trust: [(AFError, [String])] = [
        (.noRequiredEvaluator(host: "h.example"), ["h.example"]),
        (.noCertificatesFound, ["certificates"]),
        (.noPublicKeysFound, ["public keys"]),
        (.policyApplicationFailed(host: "h.example", message: "no"), ["h.example", "no"]),
        (
            .settingAnchorCertificatesFailed(host: "h.example", message: "no", certificates: []),
            ["h.example", "0"]
        ),
        (.revocationPolicyCreationFailed, ["revoked"]),
        (.trustEvaluationFailed(error: nil), ["chain"]),
        (.trustEvaluationFailed(error: Cause()), ["the-cause"]),
        (.defaultEvaluationFailed(output: output), ["h.example", "expired"]),
        (.hostValidationFailed(output: output), ["h.example", "expired"]),
        (.revocationCheckFailed(output: output, options: .any), ["h.example", "expired"]),
        (
            .certificatePinningFailed(
                host: "h.example", trust: presented, pinnedCertificates: [], serverCertificates: []),
            ["h.example", "0"]
        ),
        (
            .publicKeyPinningFailed(host: "h.example", trust: presented, pinnedKeys: [], serverKeys: []),
            ["h.example", "0"]
        ),
        (.customEvaluationFailed(error: Cause()), ["the-cause"]),
    ].map { (AFError.serverTrustEvaluationFailed(reason: $0), ["not trusted"] + $1) }

    @Test("contain all details", arguments: cases)
    func namesFacts(error: AFError, facts: [String]) throws {
        let description = try #require(error.errorDescription)
        for fact in facts { #expect(description.contains(fact), "\(description) lacks \(fact)") }
        #expect(error.localizedDescription == description)
        #expect("\(error)" == description)
    }

    @Test(
        "contain no user name or password of a URL",
        arguments: [
            AFError.invalidURL(url: "http://user:s3cret@host name/"),
            .invalidURL(url: "http://user:s3c/r#e?s3cret@host/"),
            .invalidURL(url: "user:s3cret@host"),
            .invalidURL(url: "http://user:s3cret@host/path@x"),
            .createURLRequestFailed(error: AFError.invalidURL(url: "http://user:s3cret@[host/")),
            .sessionTaskFailed(error: Cause(description: "GET https://user:s3cret@host/path failed")),
            .sessionTaskFailed(
                error: URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: "https://user:s3cret@host/"])
            ),
            .parameterEncodingFailed(
                reason: .customEncodingFailed(error: Cause(description: "<https://user:s3cret@host>, ftp://s3cret@h"))
            ),
        ])
    func hidesUserinfo(error: AFError) {
        #expect(!error.localizedDescription.contains("s3cret"))
        #expect(!"\(error)".contains("s3cret"))
        #expect(!"\(Result<Int, AFError>.failure(error))".contains("s3cret"))
    }

    @Test("contain no user name or password of an ambiguous URL")
    func hidesUserinfoOfAmbiguousURL() throws {
        let url = try #require(URL(string: "http://user:s3cret@host/"))
        let reason = AFError.InvalidRequest.ambiguousURL(url, reason: "see \(url)")
        #expect("\(reason)".contains("***@host"))
        #expect(!"\(reason)".contains("s3cret"))
    }

    @Test("contain no value of a header that was passed as a name")
    func headerLine() {
        let text = "\(AFError.invalidRequest(.invalidHeaderName("Authorization: Bearer s3cret")))"
        #expect(text.contains("Authorization") && !text.contains("s3cret"), "\(text)")
    }

    @Test("keep an @ that isn't part of userinfo")
    func keepsOtherAtSigns() {
        let error = AFError.sessionTaskFailed(error: Cause(description: "https://host/@me?mail=a@b and c@d"))
        #expect(error.localizedDescription.contains("https://host/@me?mail=a@b and c@d"))
    }

    /// Malicious text, as a server can send it.
    private static let hostile = "a\u{1B}[2J\u{9B}1m\r\nforged\u{2028}\u{202E}\u{200B}\u{FEFF}\u{E0041}b"
    private static let harmless = "a\\u001B[2J\\u009B1m forged \\u202E\\u200B\\uFEFF\\U000E0041b"

    @Test(
        "are a single line without terminal control characters",
        arguments: [
            AFError.responseValidationFailed(
                reason: .unacceptableContentType(acceptableContentTypes: ["a/b"], responseContentType: hostile)),
            .responseSerializationFailed(reason: .decodingFailed(error: Cause(description: hostile))),
            .responseSerializationFailed(
                reason: .jsonSerializationFailed(
                    error: TransportError(.malformedResponse, phase: .receiving, url: nil, message: hostile))),
            .sessionTaskFailed(
                error: TransportError(.invalidRedirect, phase: .receiving, url: "http://h/", message: hostile).urlError),
            .serverTrustEvaluationFailed(
                reason: .defaultEvaluationFailed(
                    output: .init(host: hostile, trust: presented, error: ServerTrustError(.invalid, hostile)))),
            .downloadedFileMoveFailed(error: Cause(), source: file, destination: URL(filePath: "/" + hostile)),
            .invalidRequest(.invalidHeaderValue(name: hostile)),
        ])
    func isOneSafeLine(error: AFError) {
        for text in [error.localizedDescription, "\(error)", String(reflecting: error)] {
            #expect(text.contains(Self.harmless))
            #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }
    }

    @Test("escape malicious keys in decoding errors")
    func namesKeysSafely() throws {
        struct Shape: Decodable {
            struct Key: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                for key in container.allKeys { _ = try container.decode(Int.self, forKey: key) }
            }
        }
        let json = Data("{\"a\\u001B[2J\\u009b\\n\\u202Eb\": \"no number\"}".utf8)
        let cause = #expect(throws: DecodingError.self) { try JSONDecoder().decode(Shape.self, from: json) }
        let error = AFError.responseSerializationFailed(reason: .decodingFailed(error: try #require(cause)))
        #expect(error.localizedDescription.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(error.localizedDescription.contains("u001B"))
    }

    @Test("contain no secrets of underlying errors")
    func hidesSecretsOfCauses() throws {
        let failure = TransportError(
            .timedOut, phase: .awaitingResponse, url: "http://h/?q=1&token=s3cret",
            message: "no word from //me:s3cret@h/")
        let urlError = failure.urlError
        #expect(urlError.failingURL?.absoluteString == "http://h/?q=1&token=***")
        #expect(urlError.userInfo["NSErrorFailingURLStringKey"] as? String == "http://h/?q=1&token=***")
        let error = AFError.sessionTaskFailed(error: urlError)
        for text in [
            "\(urlError)", "\(urlError.userInfo)", String(reflecting: urlError), "\(failure)", failure.message,
        ] {
            #expect(!text.contains("s3cret"))
        }
        let underlying = try #require(error.underlyingError)
        #expect(!"\(underlying)".contains("s3cret"))
    }

    @Test("truncate a very long URL")
    func cutsLongText() {
        let error = AFError.invalidURL(url: "http://a b/" + String(repeating: "x", count: 100_000))
        #expect(error.localizedDescription.count < 500)
    }

    @Test("prefer the error underlying a system error")
    func includesUnderlyingErrors() {
        let error = AFError.sessionTaskFailed(error: URLError(.timedOut, userInfo: [NSUnderlyingErrorKey: Described()]))
        #expect(error.localizedDescription.contains("described-cause"))
        #expect(AFError.sessionTaskFailed(error: URLError(.timedOut)).localizedDescription.contains("-1001"))
    }
}
