import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct ResumeDataTests {
    private static let file = URL(fileURLWithPath: "/tmp/afar-x/download")
    private let data = ResumeData(
        url: URL(string: "https://example.com/a%20b?c=d") ?? file,
        headers: ["Accept": "a/b", "X-Umlaut": "\"quoted\" \\ ü"],
        validator: .entityTag("\"tag\""), path: "/tmp/afar-x/download", byteCount: 1_234_567_890_123,
        totalLength: 9_000_000_000_000)

    private static func head(_ status: Int = 200, _ fields: HTTPFields) -> ResponseHead {
        ResponseHead(status: status, fields: fields, url: "http://h/")
    }

    @Test func encodedDataCanBeDecoded() throws {
        #expect(try ResumeData(decoding: data.encoded()) == data)
        var other = data
        (other.validator, other.totalLength) = (.lastModified("Tue, 14 Nov 2023 22:13:20 GMT"), nil)
        #expect(try ResumeData(decoding: other.encoded()) == other)
        // The indices of a slice don't begin at 0.
        #expect(try ResumeData(decoding: (Data("xx".utf8) + data.encoded()).dropFirst(2)) == data)
    }

    @Test func theFormatMatchesItsDocumentation() throws {
        var small = data
        (small.url, small.headers, small.byteCount, small.totalLength) = (URL(string: "http://h/")!, [], 3, nil)
        small.origin = Origin(small.url)
        #expect(
            String(decoding: small.encoded(), as: UTF8.self) == """
                AfarResumeData/1 crc32=39120abd
                {"byteCount":3,"entityTag":"\\"tag\\"","headers":[],"path":"/tmp/afar-x/download","url":"http://h/"}
                """)
    }

    @Test func everyChangedByteIsDetected() {
        let bytes = data.encoded()
        for index in bytes.indices {
            for bit in [0, 5] as [UInt8] {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(throws: ResumeDataError.self) { try ResumeData(decoding: changed) }
            }
        }
    }

    @Test func everyMissingByteIsDetected() {
        let bytes = data.encoded()
        for count in 0..<bytes.count {
            #expect(throws: ResumeDataError.self) { try ResumeData(decoding: bytes.prefix(count)) }
        }
        #expect(throws: ResumeDataError.damaged) { try ResumeData(decoding: bytes + Data([0x20])) }
    }

    @Test func foreignAndNewerDataIsReported() throws {
        let foreign = try PropertyListSerialization.data(
            fromPropertyList: ["NSURLSessionResumeInfoVersion": 2], format: .xml, options: 0)
        #expect(throws: ResumeDataError.notResumeData) { try ResumeData(decoding: foreign) }
        #expect(throws: ResumeDataError.notResumeData) { try ResumeData(decoding: Data()) }
        let newer = Data("AfarResumeData/2 sha256=abc\nanything".utf8)
        #expect(throws: ResumeDataError.newerVersion(2)) { try ResumeData(decoding: newer) }
        let large = data.encoded() + Data(count: 2 << 20)
        #expect(throws: ResumeDataError.damaged) { try ResumeData(decoding: large) }
    }

    @Test(
        arguments: [
            [.eTag: "\"a\""], [.eTag: "\"\""], [.eTag: "\"a\"", .contentEncoding: "identity"],
            [.lastModified: "Tue, 14 Nov 2023 22:13:20 GMT", .date: "Tue, 14 Nov 2023 22:14:20 GMT"],
        ] as [HTTPFields])
    func aValidatorIdentifiesTheFile(fields: HTTPFields) throws {
        let data = try #require(
            ResumeData(Self.head(200, fields), to: URLRequest(url: URL(string: "http://h/x")!), in: Self.file))
        #expect(data.validator.text == fields[.eTag] ?? fields[.lastModified])
        #expect(data.byteCount == 0)
        #expect(data.path == Self.file.path)
    }

    @Test(
        arguments: [
            [:], [.eTag: "W/\"a\""], [.eTag: "a"], [.eTag: "\"a\", \"b\""], [.eTag: "\""],
            [.eTag: "\"a\"", .contentEncoding: "gzip"], [.eTag: "\"a\"", .acceptRanges: "none"],
            // `Last-Modified` is a validator only without `ETag`, and only if `Date` is at least a minute later.
            [
                .eTag: "W/\"a\"", .lastModified: "Tue, 14 Nov 2023 22:13:20 GMT",
                .date: "Wed, 15 Nov 2023 22:14:20 GMT",
            ],
            [.lastModified: "Tue, 14 Nov 2023 22:13:20 GMT", .date: "Tue, 14 Nov 2023 22:14:19 GMT"],
            [.lastModified: "Tue, 14 Nov 2023 22:13:20 GMT"], [.lastModified: "yesterday", .date: "today"],
        ] as [HTTPFields])
    func responsesWithoutAValidatorCannotBeResumed(fields: HTTPFields) {
        let request = URLRequest(url: URL(string: "http://h/x")!)
        #expect(ResumeData(Self.head(200, fields), to: request, in: Self.file) == nil)
    }

    @Test func onlyACompleteResponseToAGETCanBeResumed() throws {
        var request = URLRequest(url: URL(string: "http://h/x")!)
        for status in [201, 203, 206, 404] {
            #expect(ResumeData(Self.head(status, [.eTag: "\"a\""]), to: request, in: Self.file) == nil)
        }
        request.httpMethod = "POST"
        #expect(ResumeData(Self.head(200, [.eTag: "\"a\""]), to: request, in: Self.file) == nil)
    }

    @Test func secretsAreNotStored() throws {
        var request = URLRequest(url: URL(string: "http://ada:wonder@h/x?q=1")!)
        request.headers = [
            "Authorization": "Bearer secret1", "cookie": "secret2", "Proxy-Authorization": "secret3",
            "X-Api-Key": "secret4", "x-auth-token": "secret5", "X-Auth-Key": "secret6",
            "Referer": "http://h/?token=secret7", "Accept": "a/b", "X-Kept": "yes", "Range": "bytes=0-",
            "If-None-Match": "x", "Accept-Encoding": "gzip",
        ]
        let data = try #require(ResumeData(Self.head(200, [.eTag: "\"a\""]), to: request, in: Self.file))
        #expect(data.headers == ["Accept": "a/b", "X-Kept": "yes"])
        let text = String(decoding: data.encoded(), as: UTF8.self)
        #expect(!text.contains("secret") && !text.contains("wonder") && !text.contains("ada"))
        #expect(text.contains("\"url\":\"http://h/x?q=1\""))
    }

    @Test func forgedFieldsAreRemoved() throws {
        var forged = data
        forged.url = URL(string: "https://ada:wonder@example.com/a%20b?c=d")!
        forged.headers = [
            "Authorization": "Bearer secret", "Cookie": "secret", "X-Api-Key": "secret", "Host": "elsewhere",
            "Transfer-Encoding": "chunked", "Content-Length": "5", "If-Match": "x", "Accept": "a/b", "X-Own": "secret",
        ]
        let request = try ResumeData(decoding: forged.encoded()).urlRequest(without: ["x-own"])
        #expect(request.url == data.url)
        #expect(request.headers == ["Accept": "a/b"])
    }

    @Test(arguments: [
        ResumeValidator.entityTag("W/\"weak\""), .entityTag("\"a\r\nX: \""), .entityTag(""), .lastModified("today"),
    ])
    func anInvalidValidatorIsDetectedAsDamage(validator: ResumeValidator) {
        var forged = data
        forged.validator = validator
        #expect(throws: ResumeDataError.damaged) { try ResumeData(decoding: forged.encoded()) }
    }

    @Test func theOriginOfTheBytesIsStored() throws {
        let head = ResponseHead(status: 200, fields: [.eTag: "\"a\""], url: "https://mirror.example:8443/x")
        let data = try #require(ResumeData(head, to: URLRequest(url: URL(string: "http://h/x")!), in: Self.file))
        #expect(data.origin?.text == "https://mirror.example:8443")
        #expect(try ResumeData(decoding: data.encoded()) == data)
    }

    @Test func theRemainingBytesAreRequestedConditionally() throws {
        var request = try data.urlRequest()
        for field in data.fields(from: 5) { request.headers.update(field) }
        #expect(request.url == data.url)
        #expect(request.headers["Accept"] == "a/b")
        #expect(request.headers["Range"] == "bytes=5-")
        #expect(request.headers["If-Range"] == "\"tag\"")
        #expect(request.headers["Accept-Encoding"] == "identity")
    }
}
