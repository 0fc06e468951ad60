import AfarCSV
import AfarCore
import Foundation

struct Person: Codable, Sendable, Equatable {
    var name: String
    var age: Int
    var email: String?
}

extension Person {
    static let people = [
        Person(name: "Ada", age: 36, email: "ada@example.com"), Person(name: "Grace, Admiral", age: 85),
        Person(name: "Alan \"Prof\"\r\nTuring", age: 41, email: "alan@example.com"),
    ]
    static let csv = """
        name,age,email\r
        Ada,36,ada@example.com\r
        "Grace, Admiral",85,\r
        "Alan ""Prof""\r
        Turing",41,alan@example.com\r

        """
}

extension CSVFormat {
    static let rows = CSVFormat(header: .none)
}

/// Returns the fields of all rows.
func rows(_ text: String, _ format: CSVFormat = .rows, _ limits: CSVLimits = CSVLimits()) throws -> [[String]] {
    try CSVDataDecoder(format: format, limits: limits).decode([[String]].self, from: Data(text.utf8))
}

/// Parses data in chunks of a fixed size.
func parsed<Row: Decodable & Sendable>(
    _ type: Row.Type, _ data: Data, _ decoder: CSVDataDecoder, every size: Int
) -> [Result<Row, AFError>] {
    var parser = CSVRowsParser<Row>(decoder: decoder)
    var results: [Result<Row, AFError>] = []
    for begin in stride(from: 0, to: data.count, by: size) {
        results += parser.parse(data.dropFirst(begin).prefix(size))
    }
    return results + parser.finish()
}

/// A pseudorandom number generator with a fixed sequence.
struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
