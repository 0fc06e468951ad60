import AfarCore
import AfarSerializers
import Foundation

extension Subject {
    static let streams = [
        Subject(
            "json-lines",
            seeds: [
                "{\"id\":1,\"text\":\"a\"}\n{\"id\":2}\r\n\n[1,2.5,null,true]\n\"last\"",
                "\u{FEFF}1\n2\n3\n",
                "{\"a\":{\"b\":[{}]}}\n{\"a\":",
            ],
            tokens: jsonTokens + ["\n", "\r\n", "\u{FEFF}"]
        ) { (input, random) throws(Contradiction) in
            let length = random.pick([1 << 20, 16, 1, 0]) ?? 0
            return try sameHoweverCut(JSONLinesParser<JSONValue>(maximumLineLength: length), input, &random)
        },
        Subject(
            "json-sequence",
            seeds: [
                "\u{1E}{\"id\":1}\n\u{1E}[1,2]\n\u{1E}true\n\u{1E}\"a\\\"\"\n", "\u{1E}\u{1E} 12 \n\u{1E}{\"a\":\"}",
            ],
            tokens: jsonTokens + ["\u{1E}", "\n", "\u{1E}\n"]
        ) { (input, random) throws(Contradiction) in
            let length = random.pick([1 << 20, 16, 1, 0]) ?? 0
            return try sameHoweverCut(JSONTextSequenceParser<JSONValue>(maximumLength: length), input, &random)
        },
        Subject(
            "server-sent-events",
            seeds: [
                "data: one\n\nevent: add\r\ndata: 1\r\ndata: 2\r\n\r\n", "\u{FEFF}:c\rid: 7\rretry: 300\rdata\r\r",
                "data:a\nid\n\nid: \0\ndata: b\n\nretry: 99999999999999999999\nevent\ndata: c\n\ndata: cut",
            ],
            tokens: [
                "data:", "data", "id:", "event:", "retry:", ":", "\n", "\r", "\r\n", "\n\n", "\0", "\u{FEFF}", " ",
            ]
        ) { (input, random) throws(Contradiction) in
            let size = random.pick([1 << 20, 16, 1, 0]) ?? 0
            return try sameHoweverCut(ServerSentEventParser(maximumEventSize: size), input, &random)
        },
    ]

    /// Checks that the results are the same for any chunks of the input. Returns whether there was a value.
    static func sameHoweverCut<Parser: DataStreamParser>(
        _ parser: Parser, _ input: Data, _ random: inout SeededGenerator
    ) throws(Contradiction) -> Bool {
        let whole = results(of: parser, [input])
        let cut = results(of: parser, random.chunks(of: input))
        try Contradiction.check(whole.map(outcome), cut.map(outcome), "\(Parser.self), cut")
        return whole.contains { if case .success = $0 { true } else { false } }
    }

    /// Returns all results of a parser for the given chunks.
    static func results<Parser: DataStreamParser>(
        of parser: Parser, _ chunks: [Data]
    ) -> [Result<Parser.Value, AFError>] {
        var parser = parser
        return chunks.flatMap { parser.parse($0) } + parser.finish()
    }

    /// Describes a result.
    static func outcome<Value>(_ result: Result<Value, AFError>) -> String {
        switch result {
        case .success(let value): "\(value)"
        case .failure(let error): "failure: \(error)"
        }
    }
}
