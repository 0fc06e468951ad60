import AfarCore
import AfarSerializers
import Foundation
import Testing

/// JSON Lines in chunks of every size.
@Suite struct JSONLinesParserTests {
    struct Item: Codable, Sendable, Equatable { let id: Int }

    static let parser = JSONLinesParser<Item>()

    private static func error(_ result: Result<Item, AFError>?) -> JSONStreamError? {
        result?.error?.underlyingError as? JSONStreamError
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func chunksCanEndAnywhere(size: Int) throws {
        let body = "{\"id\":1}\n{\"id\":2}\r\n\r\n \t\n{\"id\":3}\n"
        #expect(try Self.parser.results(of: body, chunkSize: size).map { try $0.get().id } == [1, 2, 3])
    }

    @Test func theLastLineBreakIsOptional() throws {
        #expect(try Self.parser.results(of: "{\"id\":1}\n{\"id\":2}").map { try $0.get().id } == [1, 2])
        #expect(try Self.parser.results(of: "{\"id\":1}\r").map { try $0.get().id } == [1])
        #expect(Self.parser.results(of: "").isEmpty)
    }

    @Test(arguments: [1, 2, 100])
    func aByteOrderMarkAtTheStartIsSkipped(size: Int) throws {
        let body = "\u{FEFF}{\"id\":1}\n{\"id\":2}\n"
        #expect(try Self.parser.results(of: body, chunkSize: size).map { try $0.get().id } == [1, 2])
        #expect(Self.parser.results(of: "\u{FEFF}\n\n").isEmpty)
    }

    @Test func aValueIsDeliveredAtItsLineBreak() throws {
        var parser = Self.parser
        #expect(parser.parse(Data("{\"id\":1}".utf8)).isEmpty)
        #expect(try parser.parse(Data("\n{\"i".utf8)).map { try $0.get().id } == [1])
        #expect(parser.parse(Data("d\":2}\r".utf8)).isEmpty)
        #expect(try parser.parse(Data("\n".utf8)).map { try $0.get().id } == [2])
    }

    @Test func parsingContinuesAfterAnInvalidLine() throws {
        let results = Self.parser.results(of: "{\"id\":1}\n\n{\"id\":\n{\"name\":2}\n{\"id\":5}\n")
        #expect(results.compactMap(\.value) == [Item(id: 1), Item(id: 5)])
        let errors = results.compactMap { Self.error($0) }
        #expect(errors.map(\.number) == [3, 4])
        for (error, result) in zip(errors, results.filter { $0.error != nil }) {
            guard case .undecodable(let reason) = error.reason, error.framing == .line else {
                Issue.record("unexpected reason: \(error)")
                continue
            }
            #expect(reason is DecodingError)
            guard case .responseSerializationFailed(.decodingFailed) = result.error else {
                Issue.record("unexpected error: \(result)")
                continue
            }
        }
    }

    @Test(arguments: [1, 5, 1000])
    func aLongLineIsSkipped(size: Int) throws {
        let parser = JSONLinesParser<String>(maximumLineLength: 10)
        let long = "\"" + String(repeating: "x", count: 9) + "\""
        let results = parser.results(of: "\"12345678\"\r\n\(long)\n\(long)xxxx\r\n\"next\"\n\(long)", chunkSize: size)
        #expect(results.compactMap(\.value) == ["12345678", "next"])
        let errors = results.compactMap { $0.error?.underlyingError as? JSONStreamError }
        #expect(errors.map(\.number) == [2, 3, 5])
        for error in errors {
            guard case .tooLong(limit: 10) = error.reason else {
                Issue.record("unexpected reason: \(error)")
                continue
            }
        }
    }

    @Test(arguments: [Int.min, -1, 0, .max])
    func limitsCanHaveAnyValue(limit: Int) {
        let results = JSONLinesParser<Item>(maximumLineLength: limit).results(of: "\n{\"id\":1}\n", chunkSize: 1)
        #expect(results.compactMap(\.value).count == (limit == .max ? 1 : 0))
    }

    /// Skipped bytes aren't stored, so a line of 64 MiB is no problem with a limit of 1 MiB.
    @Test func anEndlessLineIsReportedOnce() {
        var parser = JSONLinesParser<Item>()
        let chunk = Data(repeating: UInt8(ascii: "x"), count: 1 << 16)
        let failures = (0..<1024).flatMap { _ in parser.parse(chunk) }
        #expect(failures.count == 1)
        #expect(parser.parse(Data("\n{\"id\":7}\n".utf8)).compactMap(\.value) == [Item(id: 7)])
    }

    /// Foundation's decoder crashes if the text ends where arrays are nested too deeply.
    @Test(arguments: ["[", "{\"a\":", "[{\"a\":["])
    func aDeeplyNestedLineIsAFailure(bracket: String) {
        let line = String(repeating: bracket, count: 2_000)
        let results = Self.parser.results(of: line + "\n{\"id\":1}\n" + line)
        #expect(results.map { $0.error == nil } == [false, true, false])
        let sequence = JSONTextSequenceParser<Item>().results(of: "\u{1E}\(line)\u{1E}{\"id\":1}\n")
        #expect(sequence.map { $0.error == nil } == [false, true])
    }

    @Test func errorsNameTheLineAndARemedy() {
        let error = JSONStreamError(reason: .tooLong(limit: 1024), framing: .line, number: 17)
        #expect(
            error.localizedDescription
                == "Line 17 of the stream has more than 1024 bytes. If this is expected, increase the maximum length."
        )
    }
}
