import AfarCore
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

extension ResponseReader {
    /// Gives the lines of a text to the reader, one by one, as libcurl does, and returns the events.
    @discardableResult
    mutating func receive(text: String) throws -> [Event] {
        var events: [Event] = []
        for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() {
            try (Array(line) + [0x0A]).withUnsafeBytes { events.append(try receive(line: $0)) }
        }
        return events
    }
}

struct ResponseReaderTests {
    private func reader(_ change: (inout ExchangeOptions) -> Void = { _ in }) -> ResponseReader {
        var options = ExchangeOptions()
        change(&options)
        return ResponseReader(url: "http://host/", options: options)
    }

    private func fault(_ text: String, _ change: (inout ExchangeOptions) -> Void = { _ in }) -> Fault? {
        var reader = reader(change)
        do {
            try reader.receive(text: text)
            return nil
        } catch {
            return error as? Fault
        }
    }

    // MARK: Status lines

    @Test(arguments: ["HTTP/1.1 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.0 200 Fine thing", "HTTP/2 200"])
    func statusLinesAreRead(_ line: String) throws {
        var reader = reader()
        try reader.receive(text: line + "\r\nA: b\r\n\r\n")
        let head = try #require(reader.head)
        #expect(head.status == 200)
        #expect(line.hasPrefix(head.httpVersion))
        #expect(head.url == "http://host/")
        #expect(head.values(for: try #require(HTTPField.Name("a"))) == ["b"])
    }

    @Test(arguments: [
        "HTTP/1.1 1000 OK", "HTTP/1.1 0 OK", "HTTP/1.1 000 OK", "HTTP/1.1 099 OK", "HTTP/1.1 20 OK", "HTTP/1.1",
        "HTTP/1.1 ", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 -20 OK", "HTTP/1.1 2x0 OK",
        "HTTP/1.1 ２００ OK", "ICY 200 OK", "http/1.1 200 OK", "200 OK", "A: b",
    ])
    func otherStatusLinesAreRefused(_ line: String) {
        #expect(fault(line + "\r\n\r\n")?.code == .malformedResponse)
        #expect(fault(line + "\r\nA: b 200 c\r\n\r\n")?.code == .malformedResponse)
    }

    @Test func aHeadWithoutAnyLineIsRefused() {
        #expect(fault("\r\n")?.code == .malformedResponse)
    }

    @Test func everyStatusOfThreeDigitsPasses() throws {
        for status in 200...999 {
            var reader = reader()
            try reader.receive(text: "HTTP/1.1 \(status) X\r\n\r\n")
            #expect(reader.head?.status == status)
        }
    }

    @Test func linesMayEndWithALineFeedAlone() throws {
        var reader = reader()
        try reader.receive(text: "HTTP/1.1 204 Nothing\nContent-Length: 3\n\n")
        #expect(reader.head?.status == 204)
        #expect(reader.contentLength == 3)
    }

    @Test func foldedLinesAreOneField() throws {
        var reader = reader { $0.maximumFieldCount = 1 }
        try reader.receive(text: "HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\n\tthree\r\n\r\n")
        #expect(reader.head?.fields[try #require(HTTPField.Name("X-Long"))] == "one two three")
    }

    @Test(arguments: [" x: y", "\tx: y", " "])
    func aFirstFieldThatBeginsWithWhiteSpaceIsRefused(_ line: String) {
        #expect(fault("HTTP/1.1 200 OK\r\n\(line)\r\nA: b\r\n\r\n")?.code == .malformedResponse)
        #expect(fault("HTTP/1.1 103 OK\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\(line)\r\n\r\n")?.code == .malformedResponse)
        #expect(fault("HTTP/1.1 200 OK\r\nA: b\r\n\r\n\(line)\r\nB: c\r\n\r\n")?.code == .malformedResponse)
    }

    @Test(arguments: [
        "Content-Length: 2\r\n 3", "Content-Length:\r\n 2", "Transfer-Encoding:\r\n chunked",
        "Transfer-Encoding: chunked\r\n\t, gzip",
    ])
    func aFieldThatSaysWhereTheBodyEndsIsNotContinued(_ field: String) throws {
        #expect(fault("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n")?.code == .malformedResponse)
        #expect(fault("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\(field)\r\n\r\n")?.code == .malformedResponse)
        var reader = reader()
        try reader.receive(text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\n c\r\n\r\n")
        #expect(reader.contentLength == 2)
    }

    @Test(arguments: ["\rContent-Length: 5\r\n", "\r\r\n", "\rx\n"]) func onlyAnEmptyLineEndsTheHead(_ line: String) {
        #expect(fault("HTTP/1.1 200 OK\r\nX: 1\r\n\(line)\r\n")?.code == .malformedResponse)
    }

    @Test(arguments: ["gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "chunked;a=b", "chunks"])
    func otherTransferCodingsAreRefused(_ codings: String) {
        let fault = fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(codings)\r\n\r\n")
        #expect(fault?.code == .malformedResponse)
        #expect(fault?.message.contains(codings) == true)
    }

    @Test(arguments: [
        ("", true), ("Content-Length: 2\r\n", false), ("Content-Length: 2,2\r\n", false),
        ("Transfer-Encoding: chunked\r\n", false), ("Transfer-Encoding: Chunked, identity\r\n", false),
        ("Transfer-Encoding: identity\r\n", true), ("X-Long: a\r\n b\r\n", true),
    ])
    func bodiesWithoutALengthEndWithTheConnection(_ fields: String, _ endsWithConnection: Bool) throws {
        var reader = reader()
        try reader.receive(text: "HTTP/1.1 200 OK\r\n\(fields)\r\n")
        #expect(reader.bodyEndsWithConnection == endsWithConnection)
    }

    @Test func bytesThatAreNoTextDoNotHurt() throws {
        var reader = reader()
        for line in [Array("HTTP/1.1 200 OK\r\n".utf8), [0x58, 0x3A, 0xFF, 0xFE, 0x00, 0x0D, 0x0A], [0x0D, 0x0A]] {
            _ = try line.withUnsafeBytes { try reader.receive(line: $0) }
        }
        #expect(reader.head?.fields.count == 1)
    }

    // MARK: Informational responses

    @Test func informationalHeadsComeBeforeTheFinalOne() throws {
        var reader = reader()
        let events = try reader.receive(text: "HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nB: c\r\n\r\n")
        var statuses: [Int] = []
        for event in events {
            switch event {
            case .none: break
            case .informational(let head): statuses.append(-head.status)
            case .head(let head): statuses.append(head.status)
            }
        }
        #expect(statuses == [-103, 200])
        #expect(reader.head?.fields.count == 1)
    }

    @Test func switchingProtocolsIsRefused() {
        #expect(fault("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n")?.message.contains("101") == true)
    }

    @Test func informationalResponsesAreCounted() {
        let one = "HTTP/1.1 100 Continue\r\n\r\n"
        #expect(fault(String(repeating: one, count: 20) + "HTTP/1.1 200 OK\r\n\r\n") == nil)
        #expect(fault(String(repeating: one, count: 21))?.code == .malformedResponse)
        #expect(fault(one) { $0.maximumInformationalResponses = 0 }?.code == .malformedResponse)
    }

    // MARK: Limits

    @Test func fieldsAreCounted() {
        let head = "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 5)
        #expect(fault(head + "\r\n") { $0.maximumFieldCount = 5 } == nil)
        #expect(fault(head + "\r\n") { $0.maximumFieldCount = 4 }?.code == .headTooLarge)
    }

    @Test func noLimitLetsTheFieldsTrap() {
        let head = "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 66_000)
        #expect(fault(head) { ($0.maximumFieldCount, $0.maximumHeadBytes) = (.max, .max) }?.code == .headTooLarge)
    }

    @Test func bytesAreCountedOverAllHeads() {
        let informational = "HTTP/1.1 103 Hints\r\nA: 12345\r\n\r\n"
        let final = "HTTP/1.1 200 OK\r\n\r\n"
        let size = (informational + final).utf8.count
        #expect(fault(informational + final) { $0.maximumHeadBytes = size } == nil)
        #expect(fault(informational + final) { $0.maximumHeadBytes = size - 1 }?.code == .headTooLarge)
    }

    @Test func foldsAreCountedAsBytes() {
        let head = "HTTP/1.1 200 OK\r\nA: b\r\n" + String(repeating: " c\r\n", count: 100)
        #expect(fault(head) { $0.maximumHeadBytes = 200 }?.code == .headTooLarge)
    }

    @Test func trailersAreReadAndCounted() throws {
        var reader = reader()
        try reader.receive(text: "HTTP/1.1 200 OK\r\nA: b\r\n\r\n")
        #expect(reader.trailers.isEmpty)
        try reader.receive(text: "Checksum: 7\r\nOther: 8\r\n\r\n")
        #expect(reader.trailers.map(\.value) == ["7", "8"])
        #expect(reader.head?.fields.count == 1)
        #expect(throws: Fault.self) {
            for _ in 0..<2_000 { try reader.receive(text: "a: b\r\n") }
        }
    }

    // MARK: Lengths

    @Test(arguments: [
        ("0", 0), ("5", 5), ("  5\t", 5), ("007", 7), ("5, 5", 5), ("5 ,\t5", 5), ("9223372036854775807", Int64.max),
    ])
    func lengthsAreRead(_ value: String, _ length: Int64) throws {
        var reader = reader()
        try reader.receive(text: "HTTP/1.1 200 OK\r\nContent-Length:\(value)\r\n\r\n")
        #expect(reader.contentLength == length)
    }

    @Test(arguments: [
        "", " ", "-1", "+5", "5 5", "0x20", "5.0", "1e3", "5;", "٥", "9223372036854775808", "99999999999999999999999",
        "5,", ",5", "5, 6", "5,,5", "five",
    ])
    func otherLengthsAreRefused(_ value: String) {
        #expect(fault("HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\n")?.code == .malformedResponse)
    }

    @Test func severalLengthsMustAgree() throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: "
        #expect(fault(head + "6\r\n\r\n")?.message.contains("different") == true)
        var reader = reader()
        try reader.receive(text: head + "5\r\n\r\n")
        #expect(reader.contentLength == 5)
    }

    @Test func aTransferCodingOverridesTheLength() throws {
        var reader = reader()
        try reader.receive(text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(reader.head != nil)
        #expect(reader.contentLength == nil)
    }
}
