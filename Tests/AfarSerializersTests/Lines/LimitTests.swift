import AfarCore
import AfarSerializers
import Foundation
import Testing

/// Limits of 0 or less reject everything, and the maximum rejects nothing.
@Suite struct LimitTests {
    @Test(arguments: [Int.min, -1, 0, .max]) func limitsCanHaveAnyValue(limit: Int) {
        let lines = JSONLinesParser<Int>(maximumLineLength: limit).results(of: "1\n2\r\n3")
        #expect(lines.map { try? $0.get() } == (limit == .max ? [1, 2, 3] : [nil, nil, nil]))
        let records = JSONTextSequenceParser<Int>(maximumLength: limit).results(of: "\u{1E}1\n\u{1E}2\n")
        #expect(records.map { try? $0.get() } == (limit == .max ? [1, 2] : [nil, nil]))
        let events = ServerSentEventParser(maximumEventSize: limit).results(of: "data: 1\n\ndata: 2\n\n")
        #expect(events.compactMap { try? $0.get().data } == (limit == .max ? ["1", "2"] : []))
    }
}
