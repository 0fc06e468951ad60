import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarSignatures

/// The examples that AWS has published.
@Suite struct AWSVectorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let method: HTTPRequest.Method
        let path: String
        /// One field on each line.
        var fields = ""
        var body = ""
        var token: String?
        let signature: String

        var testDescription: String { name }
    }

    /// The test suite for Signature Version 4.
    static let suite: [Case] = [
        Case(
            name: "get-header-key-duplicate", method: .get, path: "/",
            fields: #"My-Header1:value2\#nMy-Header1:value2\#nMy-Header1:value1"#,
            signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
        Case(
            name: "get-header-value-multiline", method: .get, path: "/", fields: #"My-Header1:value1 value2 value3"#,
            signature: "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd"),
        Case(
            name: "get-header-value-order", method: .get, path: "/",
            fields: #"My-Header1:value4\#nMy-Header1:value1\#nMy-Header1:value3\#nMy-Header1:value2"#,
            signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"),
        Case(
            name: "get-header-value-trim", method: .get, path: "/",
            fields: #"My-Header1: value1\#nMy-Header2: "a   b   c""#,
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
        Case(
            name: "get-unreserved", method: .get,
            path: "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        Case(
            name: "get-utf8", method: .get, path: "/ሴ",
            signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        Case(
            name: "get-vanilla", method: .get, path: "/",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            name: "get-vanilla-empty-query-key", method: .get, path: "/?Param1=value1",
            signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"),
        Case(
            name: "get-vanilla-query", method: .get, path: "/",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            name: "get-vanilla-query-order-encoded", method: .get,
            path: "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"),
        Case(
            name: "get-vanilla-query-order-key", method: .get, path: "/?Param1=value2&Param1=Value1",
            signature: "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"),
        Case(
            name: "get-vanilla-query-order-key-case", method: .get, path: "/?Param2=value2&Param1=value1",
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        Case(
            name: "get-vanilla-query-order-value", method: .get, path: "/?Param1=value2&Param1=value1",
            signature: "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"),
        Case(
            name: "get-vanilla-query-unreserved", method: .get,
            path:
                "/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"),
        Case(
            name: "get-vanilla-utf8-query", method: .get, path: "/?ሴ=bar",
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        Case(
            name: "get-vanilla-with-session-token", method: .get, path: "/",
            token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
            signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"),
        Case(
            name: "get-relative", method: .get, path: "/example/..",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            name: "get-relative-relative", method: .get, path: "/example1/example2/../..",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            name: "get-slash", method: .get, path: "//",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            name: "get-slash-dot-slash", method: .get, path: "/./",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            name: "get-slash-pointless-dot", method: .get, path: "/./example",
            signature: "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"),
        Case(
            name: "get-slashes", method: .get, path: "//example//",
            signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"),
        Case(
            name: "get-space", method: .get, path: "/example space/",
            signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
        Case(
            name: "get-special-character", method: .get, path: "/example/$delete",
            signature: "a853c9b21b528b19643d00910d35b83a10c366a10833ceefb45edd6c80e40f27"),
        Case(
            name: "post-header-key-case", method: .post, path: "/",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        Case(
            name: "post-header-key-sort", method: .post, path: "/", fields: #"My-Header1:value1"#,
            signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
        Case(
            name: "post-header-value-case", method: .post, path: "/", fields: #"My-Header1:VALUE1"#,
            signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"),
        Case(
            name: "post-sts-header-after", method: .post, path: "/",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        Case(
            name: "post-sts-header-before", method: .post, path: "/",
            token:
                "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==",
            signature: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"),
        Case(
            name: "post-vanilla", method: .post, path: "/",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        Case(
            name: "post-vanilla-empty-query-value", method: .post, path: "/?Param1=value1",
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
        Case(
            name: "post-vanilla-query", method: .post, path: "/?Param1=value1",
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
        Case(
            name: "post-x-www-form-urlencoded", method: .post, path: "/",
            fields: #"Content-Type:application/x-www-form-urlencoded"#, body: "Param1=value1",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        Case(
            name: "post-x-www-form-urlencoded-parameters", method: .post, path: "/",
            fields: #"Content-Type:application/x-www-form-urlencoded; charset=utf8"#, body: "Param1=value1",
            signature: "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"),
    ]

    @Test(arguments: suite)
    func suiteOfSignatures(test: Case) throws {
        var request = HTTPRequest(
            method: test.method, scheme: "https", authority: "example.amazonaws.com", path: test.path)
        for line in test.fields.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            request.headerFields.add(String(parts[0]), String(parts[1]))
        }
        let credentials = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            sessionToken: test.token)
        let signed = try AWSSigner(region: "us-east-1", service: "service").signed(
            request, payload: .data(Data(test.body.utf8)), with: credentials,
            at: Date(timeIntervalSince1970: 1_440_938_160))
        let authorization = try #require(signed.headerFields[.authorization])
        #expect(authorization.hasSuffix("Signature=\(test.signature)"))
        #expect(signed.headerFields.value("X-Amz-Date") == "20150830T123600Z")
    }

    /// The example of the documentation of IAM.
    @Test func listUsers() throws {
        let credentials = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
        let request = Self.request(
            .get, "/?Action=ListUsers&Version=2010-05-08", authority: "iam.amazonaws.com",
            ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"])
        let signed = try AWSSigner(region: "us-east-1", service: "iam").signed(
            request, with: credentials, at: Date(timeIntervalSince1970: 1_440_938_160))
        #expect(
            signed.headerFields[.authorization]
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        )
    }

    // MARK: S3

    static let credentials = AWSCredentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    static let date = Date(timeIntervalSince1970: 1_369_353_600)
    static let signer = AWSSigner(region: "us-east-1", service: "s3")

    static func request(
        _ method: HTTPRequest.Method, _ path: String, authority: String = "examplebucket.s3.amazonaws.com",
        _ fields: [String: String] = [:]
    ) -> HTTPRequest {
        var request = HTTPRequest(method: method, scheme: "https", authority: authority, path: path)
        for (name, value) in fields { request.headerFields.set(name, to: value) }
        return request
    }

    @Test func requestsToS3() throws {
        let requests: [(HTTPRequest, String, String)] = [
            (
                Self.request(.get, "/test.txt", ["Range": "bytes=0-9"]), "",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                Self.request(
                    .put, "/test$file.text",
                    ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"]),
                "Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            ),
            (
                Self.request(.get, "/?lifecycle"), "",
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            (
                Self.request(.get, "/?max-keys=2&prefix=J"), "",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ]
        for (request, body, signature) in requests {
            let signed = try Self.signer.signed(
                request, payload: .data(Data(body.utf8)), with: Self.credentials, at: Self.date)
            #expect(signed.headerFields[.authorization]?.hasSuffix(signature) == true, "\(request.path ?? "")")
        }
    }

    @Test func aPresignedURL() throws {
        let url = try #require(URL(string: "https://examplebucket.s3.amazonaws.com/test.txt"))
        let signed = try Self.signer.presignedURL(
            for: url, expiresIn: 86_400, with: Self.credentials, at: Self.date)
        #expect(
            signed.absoluteString
                == "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        )
    }

    /// The examples of uploads in chunks send 65 KiB of the letter a.
    @Test(
        arguments: [
            (
                nil, "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
                [
                    "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
                    "400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
                    "0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
                ]
            ),
            (
                .crc32c, "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
                [
                    "10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
                    "400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
                    "0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
                    "x-amz-checksum-crc32c:sOO8/Q==",
                    "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435",
                ]
            ),
        ] as [(AWSChecksum?, String, [String])])
    func uploadsInChunks(checksum: AWSChecksum?, seed: String, lines: [String]) async throws {
        let coding = AWSChunkedBody(isSigned: true, checksum: checksum)
        var fields = [
            "Content-Encoding": "aws-chunked", "x-amz-decoded-content-length": "66560",
            "x-amz-storage-class": "REDUCED_REDUNDANCY",
        ]
        if checksum == nil { fields["Content-Length"] = "66824" } else { fields["x-amz-trailer"] = checksum?.rawValue }
        let request = Self.request(.put, "/examplebucket/chunkObject.txt", authority: "s3.amazonaws.com", fields)
        let signature = try Self.signer.signature(
            of: request, payload: coding.constant, sendsPayload: true, Self.credentials, Self.date)
        #expect(signature.text == seed)
        let body = coding.encode(
            .data(Data(repeating: UInt8(ascii: "a"), count: 66_560)), length: 66_560, key: signature.key,
            seed: signature.text)
        guard case .stream(let stream) = body else { return #expect(Bool(false), "not a stream") }
        var encoded = Data()
        let read = stream.reader()
        while let chunk = try await read() { encoded += chunk }
        let text = String(decoding: encoded, as: UTF8.self)
        #expect(text.components(separatedBy: "\r\n").filter { !$0.hasPrefix("aaa") && !$0.isEmpty } == lines)
        #expect(Int64(encoded.count) == stream.length)
        if checksum == nil { #expect(encoded.count == 66_824) }
    }
}
