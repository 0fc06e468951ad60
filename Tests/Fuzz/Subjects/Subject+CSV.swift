import AfarCSV
import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Subject {
    static let csv = [
        Subject("csv", seeds: csvSeeds, tokens: csvTokens) { (input, random) throws(Contradiction) in
            var decoder = CSVDataDecoder(format: csvFormat(&random))
            let values = try? decoder.decode(JSONValue.self, from: input)
            _ = values.map { "\($0)" }
            do {
                _ = try decoder.decode([CSVFields].self, from: input)
            } catch {
                _ = "\(error) \(error.localizedDescription)"
            }
            decoder.format.header = .none
            guard let rows = try? decoder.decode([[String]].self, from: input) else { return false }
            let read = try decoder.decodeAgain(rows)
            try Contradiction.check(read, rows, "CSV, encoded and decoded")
            return true
        },
        Subject("csv-stream", seeds: csvSeeds, tokens: csvTokens) { (input, random) throws(Contradiction) in
            let length = random.pick([1 << 20, 16, 3, 0]) ?? 0
            let limits = CSVLimits(
                maximumFieldLength: length, maximumFieldCount: random.pick([100, 2]) ?? 0, maximumRowLength: length * 2,
                maximumRowCount: random.pick([.max, 3]) ?? 0)
            let decoder = CSVDataDecoder(format: csvFormat(&random), limits: limits)
            let isAccepted = try sameHoweverCut(CSVRowsParser<[String]>(decoder: decoder), input, &random)
            let rows = results(of: CSVRowsParser<[String]>(decoder: decoder), random.chunks(of: input))
            let whole = try? decoder.decode([[String]].self, from: input)
            try Contradiction.check(try? rows.map { try $0.get() }, whole, "CSV, whole and streamed")
            return isAccepted
        },
    ]

    private static func csvFormat(_ random: inout SeededGenerator) -> CSVFormat {
        CSVFormat(
            delimiter: random.pick([",", ";", "\t"]) ?? ",", quote: random.pick(["\"", "'", nil]) ?? nil,
            comment: random.pick([nil, "#"]) ?? nil, header: random.pick([.firstRow, .none]) ?? .none,
            trimsWhitespace: random.pick([false, true]) ?? false, skipsEmptyLines: random.pick([true, false]) ?? true,
            allowsUnevenRows: random.pick([false, true]) ?? false, decimalSeparator: random.pick([".", ","]) ?? ".")
    }

    private static let csvSeeds = [
        "id,name,date\r\n7,\"Ada, \"\"Countess\"\"\",2024-05-06T07:08:09Z\r\n8,,2024-05-06\r\n",
        "\u{FEFF}a;b\n'x;y';z\n# c\n\n1,5;-2e3\r\r", "\ta\t b \n\"q\" ,\"\"\n", "x\n\"line\r\nbreak\"\n\"never,ends",
        "number,decimal,data,url,flag\n-12,3.25e-7,QUJD,https://example.com/,yes\n",
    ]

    private static let csvTokens = [
        ",", ";", "\t", "\"", "\"\"", "'", "''", "\n", "\r", "\r\n", "#", " ", "\u{FEFF}", "\0", "\u{FFFD}", "1e999",
        "-0",
        "0x1", "nan", "1e99999999999999999999", ".", "-", "2024-13-45", "T25:00:00Z", "9999999999-01-01", "=", "é",
        "99999999999999999999999999999999999999999",
    ]
}

/// A row with one field of each kind.
private struct CSVFields: Decodable {
    var number: Int8?
    var decimal: Decimal?
    var double: Double?
    var data: Data?
    var url: URL?
    var flag: Bool?
    var date: Date?
    var name: String?

    enum CodingKeys: String, CodingKey {
        case number, decimal, data, url, flag, date, name
        case double = "id"
    }
}

extension CSVDataDecoder {
    /// Encodes rows and decodes the output. Returns the rows unchanged if they can't be encoded without quotation
    /// marks.
    fileprivate func decodeAgain(_ rows: [[String]]) throws(Contradiction) -> [[String]] {
        do {
            let request = URLRequest(url: URL(filePath: "/"))
            let body = try CSVParameterEncoder(format: format).encode(rows, into: request).httpBody ?? Data()
            return try decode([[String]].self, from: body)
        } catch AFError.parameterEncoderFailed(.encoderFailed(let error as CSVEncodingError))
            where error.reason == .unquotableText
        {
            return rows
        } catch {
            throw Contradiction("decoded rows can't be encoded: \(error)")
        }
    }
}
