import AfarCore
import AfarSerializers
import Foundation
import Testing

/// Event streams in chunks of every size (WHATWG HTML, sections 9.2.5 and 9.2.6).
@Suite struct ServerSentEventParserTests {
    typealias Event = ServerSentEvent

    private static func events(_ body: String, chunkSize: Int = .max) throws -> [Event] {
        try ServerSentEventParser().results(of: body, chunkSize: chunkSize).map { try $0.get() }
    }

    @Test(arguments: ["\n", "\r", "\r\n"], [1, 2, 3, 1000])
    func allThreeLineBreaksAreSupported(end: String, size: Int) throws {
        let body = ["data: one", "", "event: add", "id: 7", "data: two", "data: more", "", ""].joined(separator: end)
        let expected = [Event(data: "one"), Event(event: "add", data: "two\nmore", id: "7")]
        #expect(try Self.events(body, chunkSize: size) == expected)
    }

    @Test func anEventIsDeliveredAtItsEmptyLine() throws {
        var parser = ServerSentEventParser()
        #expect(parser.parse(Data("data: x\r".utf8)).isEmpty)
        #expect(parser.parse(Data("\n".utf8)).isEmpty)
        // Waiting for an LF after the CR would delay the event.
        #expect(try parser.parse(Data("\r".utf8)).map { try $0.get() } == [Event(data: "x")])
        #expect(parser.parse(Data("\n".utf8)).isEmpty)
        #expect(try parser.parse(Data("data: y\n\n".utf8)).map { try $0.get() } == [Event(data: "y")])
    }

    /// The examples in section 9.2.6.
    @Test func theStandardsExamples() throws {
        #expect(
            try Self.events("data: YHOO\ndata: +2\ndata: 10\n\n") == [Event(data: "YHOO\n+2\n10")])
        #expect(
            try Self.events(
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n")
                == [
                    Event(data: "first event", id: "1"), Event(data: "second event"), Event(data: " third event"),
                ])
        #expect(try Self.events("data\n\ndata\ndata\n\ndata:") == [Event(data: ""), Event(data: "\n")])
        #expect(try Self.events("data:test\n\ndata: test\n\n") == [Event(data: "test"), Event(data: "test")])
    }

    @Test func aTruncatedEventIsDiscarded() throws {
        #expect(try Self.events("data: whole\n\ndata: cut\n") == [Event(data: "whole")])
        #expect(try Self.events("data: cut") == [])
    }

    @Test func fieldsAreParsedStrictly() throws {
        #expect(try Self.events("Data: no\nDATA: no\n data: no\ndata : no\nfoo: no\n\n") == [])
        #expect(try Self.events("data: a:b: c\n\n") == [Event(data: "a:b: c")])
        #expect(try Self.events(":data: no\ndata:\tyes\n\n") == [Event(data: "\tyes")])
        #expect(try Self.events("event: a\nevent: b\ndata: x\n\n") == [Event(event: "b", data: "x")])
        #expect(try Self.events("event:\ndata: x\n\n") == [Event(data: "x")])
        // An event without data is discarded, and its type is reset.
        #expect(try Self.events("event: a\n\ndata: x\n\n") == [Event(data: "x")])
    }

    @Test(arguments: [1, 2, 1000])
    func oneByteOrderMarkIsSkipped(size: Int) throws {
        #expect(try Self.events("\u{FEFF}data: x\n\n", chunkSize: size) == [Event(data: "x")])
        #expect(try Self.events("\u{FEFF}\u{FEFF}data: x\n\ndata: y\n\n", chunkSize: size) == [Event(data: "y")])
        #expect(try Self.events("data: x\n\u{FEFF}data: y\n\n", chunkSize: size) == [Event(data: "x")])
    }

    @Test(arguments: [1, 3, 1000])
    func malformedBytesAreReplaced(size: Int) throws {
        let body = Data("data: é".utf8) + [0xE2, 0x82, 0x0A] + Data("data: 💡\n\n".utf8)
        let results = ServerSentEventParser().results(of: body, chunkSize: size)
        #expect(try results.map { try $0.get().data } == ["é\u{FFFD}\n💡"])
    }

    // MARK: IDs

    @Test func anIDAppliesUntilTheNextOne() throws {
        let events = try Self.events("id: 1\ndata: a\n\ndata: b\n\nid: 2\n\ndata: c\n\nid\ndata: d\n\n")
        #expect(events.map(\.id) == ["1", "1", "2", ""])
    }

    @Test func anIDWithNULIsIgnored() throws {
        #expect(try Self.events("id: 1\ndata: a\n\nid: 2\u{0}3\ndata: b\n\n").map(\.id) == ["1", "1"])
    }

    @Test func theLastIDIsThatOfACompleteEvent() {
        var parser = ServerSentEventParser(lastEventID: "0")
        #expect(parser.lastEventID == "0")
        _ = parser.parse(Data("id: 1\n\nid: 2\ndata: cut".utf8))
        #expect(parser.lastEventID == "1")
    }

    @Test func eventsInheritTheIDOfThePreviousConnection() throws {
        let results = ServerSentEventParser(lastEventID: "9").results(of: "data: x\n\n")
        #expect(try results.map { try $0.get().id } == ["9"])
    }

    // MARK: Reconnection time

    @Test(
        arguments: [
            ("retry: 1500", 1500), ("retry:0", 0), ("retry: 1500\nretry: 20", 20), ("retry", nil), ("retry: ", nil),
            ("retry: 1.5", nil), ("retry: -1", nil), ("retry: 10\nretry: x", 10), ("retry: ١", nil),
            ("retry: 99999999999999999999999999", 86_400_000),
        ] as [(String, Int?)])
    func theRetryTimeConsistsOfDigits(lines: String, milliseconds: Int?) {
        var parser = ServerSentEventParser()
        #expect(parser.parse(Data((lines + "\n").utf8)).isEmpty)
        #expect(parser.reconnectionTime == milliseconds.map { .milliseconds($0) })
    }

    // MARK: Limits

    @Test(arguments: [1, 4, 1000])
    func aLargeEventIsSkipped(size: Int) throws {
        let parser = ServerSentEventParser(maximumEventSize: 20)
        let body = """
            data: small

            data: 123456789
            data: 123456789
            data: 123456789

            : a comment that nobody has use for

            event: next
            data: x


            """
        let results = parser.results(of: body, chunkSize: size)
        #expect(results.compactMap(\.value) == [Event(data: "small"), Event(event: "next", data: "x")])
        let errors = results.compactMap { $0.error?.underlyingError as? ServerSentEventTooLarge }
        #expect(errors.map(\.limit) == [20, 20])
    }

    /// Lines without data count toward the limit, too.
    @Test func anEndlessEventIsReportedOnce() {
        var parser = ServerSentEventParser()
        let chunk = Data(String(repeating: "data\n", count: 10_000).utf8)
        let failures = (0..<200).flatMap { _ in parser.parse(chunk) }
        #expect(failures.count == 1)
        #expect(parser.parse(Data("\ndata: x\n\n".utf8)).compactMap(\.value) == [Event(data: "x")])
    }

    @Test func dataIsDecoded() throws {
        struct Price: Decodable, Equatable { let price: Int }
        #expect(try Event(data: #"{"price":7}"#).decode(Price.self) == Price(price: 7))
        let error = #expect(throws: AFError.self) { try Event(data: "7").decode(Price.self) }
        #expect(error?.underlyingError is DecodingError)
    }
}
