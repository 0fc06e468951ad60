import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

/// Responses to a range request for bytes 400 and later of a 1,000-byte file.
@Suite struct ResumeAnswerTests {
    private static let url = URL(string: "http://h/") ?? URL(fileURLWithPath: "/")

    private func answer(
        _ status: Int, _ fields: HTTPFields, total: Int64? = 1000, byteCount: Int64 = 400
    ) -> ResumeData.Answer {
        let data = ResumeData(
            url: Self.url, headers: [], validator: .entityTag("\"a\""), path: "",
            byteCount: byteCount, totalLength: total)
        return data.answer(in: ResponseHead(status: status, fields: fields, url: "http://h/"), from: byteCount)
    }

    @Test(
        arguments: [
            [.contentRange: "bytes 400-999/1000", .eTag: "\"a\"", .contentLength: "600"],
            [.contentRange: "bytes 400-999/1000"], [.contentRange: "bytes 400-999/*"],
            [.contentRange: "bytes 400-999/1000", .contentEncoding: "identity"],
        ] as [HTTPFields])
    func theRestIsAppended(fields: HTTPFields) {
        #expect(answer(206, fields) == .rest(totalLength: 1000))
    }

    @Test func aLengthUnknownBeforeIsTakenFromTheAnswer() {
        #expect(answer(206, [.contentRange: "bytes 400-499/500"], total: nil) == .rest(totalLength: 500))
        #expect(answer(206, [.contentRange: "bytes 400-499/*"], total: nil) == .misfit)
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
    func aPartThatDoesNotFitIsNotTaken(fields: HTTPFields) {
        #expect(answer(206, fields) == .misfit)
    }

    @Test func aPartFromElsewhereIsNotTaken() throws {
        let fields: HTTPFields = [.contentRange: "bytes 400-999/1000", .eTag: "\"a\""]
        for (place, fits) in [("http://h:80/y", true), ("https://h/x", false), ("http://i/x", false)] {
            let data = ResumeData(
                url: URL(string: "http://from/")!, headers: [], origin: Origin(URL(string: "http://h/x")!),
                validator: .entityTag("\"a\""), path: "", byteCount: 400, totalLength: 1000)
            let answer = data.answer(in: ResponseHead(status: 206, fields: fields, url: place), from: 400)
            #expect((answer == .rest(totalLength: 1000)) == fits)
        }
    }

    @Test func twoRangesAreNoRange() {
        var fields: HTTPFields = [.contentRange: "bytes 400-999/1000"]
        fields.append(HTTPField(name: .contentRange, value: "bytes 0-999/1000"))
        #expect(answer(206, fields) == .misfit)
    }

    @Test func aChangedDateIsAnotherFile() {
        let data = ResumeData(
            url: Self.url, headers: [], validator: .lastModified("yesterday"), path: "",
            byteCount: 400,
            totalLength: nil)
        for (date, expected) in [("yesterday", ResumeData.Answer.rest(totalLength: 1000)), ("today", .misfit)] {
            let head = ResponseHead(
                status: 206, fields: [.contentRange: "bytes 400-999/1000", .lastModified: date], url: "http://h/")
            #expect(data.answer(in: head, from: 400) == expected)
        }
    }

    @Test func otherStatuses() {
        #expect(answer(200, [:]) == .whole)
        for status in [204, 301, 302, 304, 401, 403, 404, 412, 429, 500, 503] { #expect(answer(status, [:]) == .other) }
        #expect(answer(416, [.contentRange: "bytes */400"], total: nil) == .nothingLeft(totalLength: 400))
        #expect(answer(416, [.contentRange: "bytes */400"], total: 400) == .misfit)
        #expect(answer(416, [.contentRange: "bytes */300"], total: nil) == .misfit)
        #expect(answer(416, [:], total: nil) == .misfit)
        #expect(answer(416, [.contentRange: "bytes */400"]) == .misfit)
    }
}
