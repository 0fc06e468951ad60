import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

/// Responses to a range request for bytes 400 and later of a 1,000-byte file.
@Suite struct ResumeAnswerTests {
    private static let url = URL(string: "http://h/") ?? URL(fileURLWithPath: "/")

    private func answer(
        _ status: Int, _ fields: HTTPFields, total: Int64? = 1000, byteCount: Int64 = 400
    ) -> ResumeData.ResponseKind {
        let data = ResumeData(
            url: Self.url, headers: [], validator: .entityTag("\"a\""), path: "",
            byteCount: byteCount, totalLength: total)
        return data.kind(of: ResponseHead(status: status, fields: fields, url: "http://h/"), from: byteCount)
    }

    @Test(
        arguments: [
            [.contentRange: "bytes 400-999/1000", .eTag: "\"a\"", .contentLength: "600"],
            [.contentRange: "bytes 400-999/1000"], [.contentRange: "bytes 400-999/*"],
            [.contentRange: "bytes 400-999/1000", .contentEncoding: "identity"],
        ] as [HTTPFields])
    func theRemainingBytesAreAppended(fields: HTTPFields) {
        #expect(answer(206, fields) == .remainder(totalLength: 1000))
    }

    @Test func anUnknownLengthIsReadFromTheResponse() {
        #expect(answer(206, [.contentRange: "bytes 400-499/500"], total: nil) == .remainder(totalLength: 500))
        #expect(answer(206, [.contentRange: "bytes 400-499/*"], total: nil) == .unusable)
    }

    @Test(
        arguments: [
            [:], [.contentRange: "nonsense"], [.contentRange: "bytes */1000"],
            [.contentRange: "bytes 399-999/1000"], [.contentRange: "bytes 401-999/1000"],
            [.contentRange: "bytes 0-999/1000"],
            [.contentRange: "bytes 400-998/1000"], [.contentRange: "bytes 400-998/*"],
            [.contentRange: "bytes 400-1000/1001"], [.contentRange: "bytes 400-899/900"],
            [.contentRange: "bytes 400-999/1000", .eTag: "\"b\""],
            [.contentRange: "bytes 400-999/1000", .eTag: "W/\"a\""],
            [.contentRange: "bytes 400-999/1000", .contentLength: "599"],
            [.contentRange: "bytes 400-999/1000", .contentEncoding: "gzip"],
            [.contentType: "multipart/byteranges; boundary=x"],
        ] as [HTTPFields])
    func aMismatchedRangeIsRejected(fields: HTTPFields) {
        #expect(answer(206, fields) == .unusable)
    }

    @Test func aRangeOfAnotherOriginIsRejected() throws {
        let fields: HTTPFields = [.contentRange: "bytes 400-999/1000", .eTag: "\"a\""]
        for (place, fits) in [("http://h:80/y", true), ("https://h/x", false), ("http://i/x", false)] {
            let data = ResumeData(
                url: URL(string: "http://from/")!, headers: [], origin: Origin(URL(string: "http://h/x")!),
                validator: .entityTag("\"a\""), path: "", byteCount: 400, totalLength: 1000)
            let answer = data.kind(of: ResponseHead(status: 206, fields: fields, url: place), from: 400)
            #expect((answer == .remainder(totalLength: 1000)) == fits)
        }
    }

    @Test func severalContentRangesAreInvalid() {
        var fields: HTTPFields = [.contentRange: "bytes 400-999/1000"]
        fields.append(HTTPField(name: .contentRange, value: "bytes 0-999/1000"))
        #expect(answer(206, fields) == .unusable)
    }

    @Test func aChangedDateRestartsTheDownload() {
        let data = ResumeData(
            url: Self.url, headers: [], validator: .lastModified("yesterday"), path: "",
            byteCount: 400,
            totalLength: nil)
        for (date, expected) in [
            ("yesterday", ResumeData.ResponseKind.remainder(totalLength: 1000)), ("today", .unusable),
        ] {
            let head = ResponseHead(
                status: 206, fields: [.contentRange: "bytes 400-999/1000", .lastModified: date], url: "http://h/")
            #expect(data.kind(of: head, from: 400) == expected)
        }
    }

    @Test func otherStatuses() {
        #expect(answer(200, [:]) == .whole)
        for status in [204, 301, 302, 304, 401, 403, 404, 412, 429, 500, 503] { #expect(answer(status, [:]) == .other) }
        #expect(answer(416, [.contentRange: "bytes */400"], total: nil) == .alreadyComplete(totalLength: 400))
        #expect(answer(416, [.contentRange: "bytes */400"], total: 400) == .unusable)
        #expect(answer(416, [.contentRange: "bytes */300"], total: nil) == .unusable)
        #expect(answer(416, [:], total: nil) == .unusable)
        #expect(answer(416, [.contentRange: "bytes */400"]) == .unusable)
    }
}
