import AfarCSV
import AfarCore
import Foundation
import Testing

/// Input that exceeds the decoder's limits.
@Suite struct CSVLimitsTests {
    private func error(_ text: String, _ limits: CSVLimits) -> CSVError? {
        do {
            _ = try rows(text, .rows, limits)
            return nil
        } catch {
            return error as? CSVError
        }
    }

    @Test(arguments: [
        ("a,12345", "a,123456"), ("a,\"1234\"\"\"", "a,\"12345\"\"\""), ("\n,1\n1,\"12345\"", "\n,1\n1,\"123456\""),
    ])
    func longFields(allowed: String, refused: String) {
        let limits = CSVLimits(maximumFieldLength: 5)
        #expect(error(allowed, limits) == nil)
        let error = error(refused, limits)
        #expect(error?.reason == .limitExceeded(.fieldLength, maximum: 5))
        #expect(error?.column == 2)
    }

    @Test func manyFields() {
        let limits = CSVLimits(maximumFieldCount: 3)
        #expect(error("1,2,3\n", limits) == nil)
        #expect(
            error("1,2,3\n1,2,3,4\n", limits)
                == CSVError(.limitExceeded(.fieldCount, maximum: 3), line: 2, column: 4))
    }

    @Test func longRows() {
        let limits = CSVLimits(maximumRowLength: 7)
        #expect(error("123,456\n123,456", limits) == nil)
        #expect(error("123,456\n1234,456", limits)?.reason == .limitExceeded(.rowLength, maximum: 7))
    }

    @Test func manyRows() {
        let limits = CSVLimits(maximumRowCount: 2)
        #expect(error("1\n2\n", limits) == nil)
        #expect(
            error("1\n2\n3\n4\n", limits) == CSVError(.limitExceeded(.rowCount, maximum: 2), line: 3, column: nil))
    }

    @Test func limitsCanHaveAnyValue() {
        let most = CSVLimits(
            maximumFieldLength: .max, maximumFieldCount: .max, maximumRowLength: .max, maximumRowCount: .max)
        #expect(error("a,b\n", most) == nil)
        let least = CSVLimits(
            maximumFieldLength: .min, maximumFieldCount: .min, maximumRowLength: .min, maximumRowCount: .min)
        #expect(error("a,b\n", least) != nil)
    }

    /// A row that exceeds a limit is skipped, even if its quoted fields contain line breaks. Parsing continues with the
    /// next row.
    @Test(arguments: [1, 2, 5, 1_000])
    func aRowBeyondALimitIsSkipped(size: Int) {
        let text = "a,b\n1,x\n\"\(String(repeating: "long\n", count: 20))\"\"\",y\n2,z\n1,2,3,4\n3,w"
        let decoder = CSVDataDecoder(limits: CSVLimits(maximumFieldLength: 30, maximumFieldCount: 3))
        let results = parsed([String].self, Data(text.utf8), decoder, every: size)
        #expect(results.map { try? $0.get() } == [["1", "x"], nil, ["2", "z"], nil, ["3", "w"]])
        let reasons = results.map { result -> CSVError.Reason? in
            guard case .failure(let error) = result else { return nil }
            return (error.underlyingError as? CSVError)?.reason
        }
        #expect(reasons[1] == .limitExceeded(.fieldLength, maximum: 30))
        #expect(reasons[3] == .limitExceeded(.fieldCount, maximum: 3))
    }

    @Test func anEndlessFieldFailsAtTheLimit() {
        var parser = CSVRowsParser<[String]>(decoder: CSVDataDecoder(format: .rows))
        let chunk = Data("\"".utf8) + Data(repeating: 0x61, count: 1 << 20)
        #expect(parser.parse(chunk).isEmpty)
        #expect(parser.parse(Data("a".utf8)).count == 1)
        for _ in 0..<16 { #expect(parser.parse(chunk.dropFirst()).isEmpty) }
        #expect(parser.parse(Data("\"\nb\n".utf8)).count == 1)
    }
}
