import Afar
import AfarCSV
import AfarTesting
import Foundation
import HTTPTypes
import SwiftProtobuf
import Testing

/// Runs the samples for the format plug-ins and checks their output.
@Suite(.timeLimit(.minutes(1))) struct FormatSampleTests {
    @Test(
        .stubs(
            Stub(.get, "/stations.csv", .data(Data("name,height\nBern,553.5\nBiel,\n".utf8), type: "text/csv")),
            Stub(
                .get, "/measurements.csv", .data(Data("water_level;wind\n7,25;NA\n1;x\n".utf8), type: "text/csv")),
            Stub(.post, "/stations", .text("thanks")).withBody(.text("name,height\r\nBern,\r\n"))))
    func rowsAreReadAndSent() async throws {
        try await CSVSamples.rows()
        #expect(await Output.has("2 stations, Bern first"))
        try await CSVSamples.stream()
        #expect(await Output.has("the water is at 7.25"))
        #expect(try await CSVSamples.sent([CSVSamples.Station(name: "Bern")]) == "thanks")
    }

    @Test(.stubs(Stub(.get, "/users", .text("[{\"name\": \"Ada\", \"age\": \"36\"}]"))))
    func errorsOfFastJSONNameTheLine() async throws {
        try await FastJSONSamples.configured()
        #expect(await Output.has("line 1"))
    }

    @Test(.stubs(Stub(.get, "/users", .text("[{\"name\": \"Ada\", \"age\": 36}]"))))
    func fastJSONIsDecoded() async throws {
        try await FastJSONSamples.decoded()
        #expect(await Output.has("1 users, fast"))
    }

    private static let stamp: Data = {
        let bytes: Data? = try? Google_Protobuf_Timestamp(seconds: 1_714_996_800).serializedBytes()
        return bytes ?? Data()
    }()

    @Test(
        .stubs(
            Stub(.post, "/time", .data(stamp, type: "application/x-protobuf")),
            Stub(.get, "/times", .data([UInt8(stamp.count)] + stamp, type: "application/x-protobuf"))))
    func messagesAreReadAndSent() async throws {
        try await ProtobufSamples.exchange(Google_Protobuf_StringValue("utc"))
        #expect(await Output.has("1714996800 seconds since 1970"))
        try await ProtobufSamples.stream()
        #expect(await Output.has("then 1714996800"))
        let json = try ProtobufSamples.json(Google_Protobuf_StringValue("utc")).convertible.asURLRequest()
        #expect(json.httpBody == Data("\"utc\"".utf8))
    }
}
