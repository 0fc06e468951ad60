import Foundation
import Testing

@testable import AfarMultipart

/// Multipart bodies (RFC 2046, section 5.1), whole and in pieces.
@Suite struct MultipartParserTests {
    private struct Part: Equatable {
        var fields: [String] = []
        var body = ""
    }

    /// Parses a body in chunks of a size.
    private func parts(
        _ body: String, in size: Int = .max, boundary: String = "b", _ limits: MultipartLimits = MultipartLimits()
    ) throws -> [Part] {
        var parser = try MultipartParser(contentType: "multipart/mixed; boundary=\"\(boundary)\"", limits: limits)
        var parts: [Part] = []
        var rest = Data(body.utf8)[...]
        var isOpen = false
        while !rest.isEmpty {
            for event in try parser.parse(Data(rest.prefix(size))) {
                switch event {
                case .header(let header):
                    #expect(!isOpen)
                    isOpen = true
                    parts.append(Part(fields: header.fields.map { "\($0.name): \($0.value)" }))
                case .data(let data):
                    #expect(isOpen && !data.isEmpty)
                    parts[parts.count - 1].body += String(decoding: data, as: UTF8.self)
                case .end:
                    #expect(isOpen)
                    isOpen = false
                }
            }
            rest = rest.dropFirst(size)
        }
        try parser.finish()
        return parts
    }

    @Test(arguments: [Int.max, 1, 2, 3, 7])
    func bodiesAreDividedIntoParts(size: Int) throws {
        let body =
            "preamble\r\n--b \t\r\nContent-Type: a/b\r\nX:  1\r\n 2 \r\n\r\none\r\n--c\r\n-\r\n--b\r\n\r\n\r\n--b\r\n\r\nx\r\n\r\n--b--\r\nepilogue\r\n--b\r\n"
        #expect(
            try parts(body, in: size) == [
                Part(fields: ["Content-Type: a/b", "X: 1 2"], body: "one\r\n--c\r\n-"), Part(), Part(body: "x\r\n"),
            ])
        #expect(try parts("--b--", in: size) == [])
        #expect(try parts("--b\r\n\r\n--b--", in: size) == [Part()])
    }

    @Test(
        arguments: [
            ("", .incomplete, 0), ("--b", .incomplete, 0), ("--b\r\n", .incomplete, 1), ("--b\r\nA: 1", .incomplete, 1),
            ("--b\r\n\r\nx", .incomplete, 1), ("--b\r\n\r\nx\r\n--b", .incomplete, 1), ("--bx\r\n", .invalidHeader, 1),
            ("--b\r\nA\r\n\r\n\r\n--b--", .invalidHeader, 1), ("--b\r\n: 1\r\n\r\n\r\n--b--", .invalidHeader, 1),
            ("--b\r\n A: 1\r\n\r\n\r\n--b--", .invalidHeader, 1), ("--b\r\nA b: 1\r\n\r\n--b--", .invalidHeader, 1),
        ] as [(String, MultipartError.Kind, Int)])
    func malformedBodiesAreErrors(body: String, kind: MultipartError.Kind, part: Int) {
        for size in [Int.max, 1] {
            #expect(throws: MultipartError(kind: kind, part: part)) { try parts(body, in: size) }
        }
    }

    @Test(arguments: [
        "text/plain; boundary=b", "multipart/mixed", "multipart/mixed; boundary=", "multipart/mixed; boundary=\"a \"",
        "multipart/mixed; boundary=ä", "", "multipart/mixed; boundary=" + String(repeating: "x", count: 71),
    ])
    func otherContentTypesAreErrors(type: String) {
        #expect(throws: MultipartError(kind: .invalidContentType, part: 0)) { try MultipartParser(contentType: type) }
    }

    @Test(arguments: ["multipart/Mixed;BOUNDARY=b", "multipart/form-data; charset=x; boundary=\"b\"; a"])
    func boundariesAreParameters(type: String) throws {
        var parser = try MultipartParser(contentType: type)
        #expect(try parser.parse(Data("--b--".utf8)).isEmpty)
        try parser.finish()
    }

    @Test func limitsApply() throws {
        var limits = MultipartLimits()
        (limits.maximumParts, limits.maximumHeaderSize, limits.maximumPartSize) = (2, 10, 5)
        let part = "--b\r\nA: 1\r\n\r\n12345\r\n"
        for size in [Int.max, 1] {
            #expect(try parts(part + part + "--b--", in: size, limits).count == 2)
            #expect(throws: MultipartError(kind: .tooManyParts, part: 2)) {
                try parts(part + part + part + "--b--", in: size, limits)
            }
            #expect(throws: MultipartError(kind: .partTooLarge, part: 1)) {
                try parts("--b\r\n\r\n123456\r\n--b--", in: size, limits)
            }
            for header in [String(repeating: "x", count: 100), "A: " + String(repeating: "1", count: 30)] {
                #expect(throws: MultipartError(kind: .headerTooLarge, part: 1)) {
                    try parts("--b\r\n\(header)\r\n\r\n\r\n--b--", in: size, limits)
                }
            }
        }
        #expect(throws: MultipartError.self) { try parts("--b" + String(repeating: " ", count: 1_000), limits) }
    }

    @Test(
        arguments: [
            ("form-data; name=\"a\"; filename=\"b.txt\"", "a", "b.txt"), ("form-data; name=a", "a", nil),
            ("form-data; name=\"a;b\\\"c\\\\\"; filename=\"C:\\dir\\f\"", "a;b\"c\\", "f"),
            ("form-data; filename=\"x\"; filename*=UTF-8''na%C3%AFve%2F..%2Fy", nil, "y"), ("", nil, nil),
            ("form-data; filename=\"../../etc/passwd\"", nil, "passwd"), ("form-data; filename=\"a/..\"", nil, nil),
            ("form-data; filename*=UTF-8''%2E%2E", nil, nil), ("form-data; filename=\"/\"", nil, nil),
            ("form-data; filename*=UTF-8''a%00b%0A", nil, "ab"),
            ("form-data; name=\"unclosed", "unclosed", nil),
            ("form-data; filename*=latin1''%E4; filename=\"z\"", nil, "z"), ("form-data; name=ä", "ä", nil),
        ] as [(String, String?, String?)])
    func dispositionsHaveNames(value: String, name: String?, fileName: String?) throws {
        var parser = try MultipartParser(contentType: "multipart/form-data; boundary=b")
        let events = try parser.parse(Data("--b\r\nContent-Disposition: \(value)\r\n\r\n\r\n--b--".utf8))
        guard case .header(let header)? = events.first else {
            Issue.record("no header")
            return
        }
        #expect(header.name == name)
        #expect(header.fileName == fileName)
        #expect(header.mediaType == "text/plain")
    }

    @Test(
        arguments: [
            ("bytes 0-9/100", 0...9), ("Bytes 5-5/*", 5...5), ("bytes 9-0/100", nil), ("bytes x-1/2", nil), ("", nil),
            ("bytes */100", nil), ("bytes 0-99999999999999999999/1", nil),
        ] as [(String, ClosedRange<Int64>?)])
    func rangesArePositions(value: String, range: ClosedRange<Int64>?) throws {
        var parser = try MultipartParser(contentType: "multipart/byteranges; boundary=b")
        let events = try parser.parse(Data("--b\r\nContent-Range: \(value)\r\n\r\n\r\n--b--".utf8))
        guard case .header(let header)? = events.first else {
            Issue.record("no header")
            return
        }
        #expect(header.contentRange == range)
    }

    @Test(arguments: [1, 1_000]) func theTextBeforeTheFirstPartIsLimited(size: Int) throws {
        var limits = MultipartLimits()
        limits.maximumPreambleSize = 100
        let part = "\r\n--b\r\n\r\n\r\n--b--"
        #expect(try parts(String(repeating: "x", count: 100) + part, in: size, limits) == [Part()])
        let error = MultipartError(kind: .preambleTooLarge, part: 0)
        #expect(throws: error) { _ = try parts(String(repeating: "x", count: 101) + part, in: size, limits) }
        #expect(throws: error) { _ = try parts(String(repeating: "x", count: 1_000), in: size, limits) }
    }

    /// The parts of a chunk are delivered even if the chunk contains an error.
    @Test func theEventsBeforeAnErrorAreReturned() throws {
        var parser = try MultipartParser(contentType: "multipart/mixed; boundary=b")
        let events = try parser.parse(Data("--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--bx\r\n\r\nthree".utf8))
        #expect(events.count == 6 && events.last == .end)
        let error = MultipartError(kind: .invalidHeader, part: 3)
        #expect(parser.failure == error && !parser.isComplete)
        #expect(throws: error) { _ = try parser.parse(Data("x".utf8)) }
        #expect(throws: error) { try parser.finish() }
        var first = try MultipartParser(contentType: "multipart/mixed; boundary=b")
        #expect(throws: MultipartError(kind: .invalidHeader, part: 1)) { _ = try first.parse(Data("--bx\r\n".utf8)) }
    }
}
