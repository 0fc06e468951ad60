import AfarCore
import AfarSerializers
import Foundation
import Testing

/// JSON text sequences (RFC 7464) in chunks of every size.
@Suite struct JSONTextSequenceParserTests {
    struct Item: Codable, Sendable, Equatable { let id: Int }

    static let parser = JSONTextSequenceParser<Item>()

    private static func error<T>(_ result: Result<T, AFError>) -> JSONStreamError? {
        result.error?.underlyingError as? JSONStreamError
    }

    @Test(arguments: [1, 2, 5, 1000])
    func chunksCanEndAnywhere(size: Int) throws {
        let body = "\u{1E}{\"id\":1}\n\u{1E}{\n  \"id\": 2\n}\n\u{1E}\u{1E}{\"id\":3}\u{1E}{\"id\":4}"
        #expect(try Self.parser.results(of: body, chunkSize: size).map { try $0.get().id } == [1, 2, 3, 4])
    }

    /// A line break completes a value, because the next separator can arrive hours later.
    @Test func aValueIsDeliveredAtItsLineBreak() throws {
        var parser = Self.parser
        #expect(parser.parse(Data("\u{1E}{\n\"id\":1\n".utf8)).isEmpty)
        #expect(parser.parse(Data("}".utf8)).isEmpty)
        #expect(try parser.parse(Data("\n".utf8)).map { try $0.get().id } == [1])
        #expect(parser.finish().isEmpty)
    }

    @Test func bracketsInStringsAreIgnored() throws {
        let parser = JSONTextSequenceParser<[String]>()
        let body = "\u{1E}[\"}]\",\n\"\\\"]\",\n\"\\\\\"\n]\n"
        #expect(try parser.results(of: body, chunkSize: 1).map { try $0.get() } == [["}]", "\"]", "\\"]])
    }

    @Test func parsingContinuesAfterATruncatedRecord() {
        let results = Self.parser.results(of: "\u{1E}{\"id\":1\u{1E}{\"id\":2}\n")
        #expect(results.compactMap(\.value) == [Item(id: 2)])
        #expect(results.compactMap(Self.error).map(\.number) == [1])
    }

    /// RFC 7464, section 2.4: the text 12 could be a truncated 123.
    @Test(arguments: ["12", "true", "null", "-1.5"])
    func aNumberOrLiteralRequiresTrailingWhiteSpace(text: String) {
        let parser = JSONTextSequenceParser<Double?>()
        let cut = parser.results(of: "\u{1E}\(text)\u{1E}7\n")
        #expect(cut.last?.value == 7)
        guard case .possiblyTruncated = cut.first.flatMap(Self.error)?.reason else {
            Issue.record("no failure: \(cut)")
            return
        }
        #expect(JSONTextSequenceParser<String>().results(of: "\u{1E}\"text\"").compactMap(\.value) == ["text"])
    }

    @Test(arguments: [1, 2, 5, 1000])
    func aByteOrderMarkIsSkipped(size: Int) throws {
        let results = Self.parser.results(of: "\u{FEFF}\n\u{1E}{\"id\":1}\n", chunkSize: size)
        #expect(try results.map { try $0.get().id } == [1])
        let second = Self.parser.results(of: "\u{FEFF}\u{FEFF}\u{1E}{\"id\":1}\n", chunkSize: size)
        #expect(second.compactMap(\.value) == [Item(id: 1)])
        #expect(second.compactMap(Self.error).count == 1)
    }

    @Test func bytesOutsideRecordsAreReportedOnce() {
        let results = Self.parser.results(of: "{\"id\":1}\n\u{1E}{\"id\":2}\n junk more\n\u{1E}{\"id\":3}\n")
        #expect(results.compactMap(\.value) == [Item(id: 2), Item(id: 3)])
        let errors = results.compactMap(Self.error)
        #expect(errors.count == 2)
        for error in errors {
            guard case .outsideOfRecord = error.reason else {
                Issue.record("unexpected reason: \(error)")
                continue
            }
        }
    }

    @Test(arguments: [1, 1000])
    func aLongRecordIsSkipped(size: Int) {
        let parser = JSONTextSequenceParser<String>(maximumLength: 6)
        let results = parser.results(of: "\u{1E}\"1234\"\n\u{1E}\"12345\"\n\u{1E}\"next\"\n", chunkSize: size)
        #expect(results.compactMap(\.value) == ["1234", "next"])
        let errors = results.compactMap(Self.error)
        #expect(errors.count == 1)
        guard case .tooLong(limit: 6) = errors.first?.reason else {
            Issue.record("unexpected reason: \(errors)")
            return
        }
    }
}
