import AfarCore
import AfarHAR
import AfarSerializers
import Foundation
import Testing

@testable import AfarTesting

@Suite struct ReplayTraitTests {
    @Test func theEnvironmentDeterminesWhatIsRecorded() throws {
        #expect(try ReplayTrait.Mode(nil, exists: true) == .replay)
        #expect(try ReplayTrait.Mode(nil, exists: false) == .replay)
        #expect(try ReplayTrait.Mode("once", exists: true) == .replay)
        #expect(try ReplayTrait.Mode("once", exists: false) == .record)
        #expect(try ReplayTrait.Mode("all", exists: true) == .record)
        #expect(throws: RecordingError.self) { try ReplayTrait.Mode("yes", exists: true) }
    }

    @Test func recordedExchangesAreReplayed() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("afar-trait-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let trait: ReplayTrait = .replay("a/greeting", file: folder.appendingPathComponent("Tests.swift").path)
        let session = Session(transport: MockTransport { _ in .text("hello") })
        let offline = Session(transport: MockTransport { _ in .failure(.notConnected) })
        try await trait.record {
            let answer = try await session.request("http://mock.test/").serializingString().value
            #expect(answer == "hello")
        }
        #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("Recordings/a/greeting.har").path))
        let test = try #require(Test.current)
        try await trait.provideScope(for: test, testCase: nil) {
            let answer = try await offline.request("http://mock.test/").serializingString().value
            #expect(answer == "hello")
        }
    }

    @Test func casesThatShareARecordingExtendIt() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("afar-trait-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let trait: ReplayTrait = .replay("shared", file: folder.appendingPathComponent("Tests.swift").path)
        let session = Session(transport: MockTransport { .text($0.path) })
        let paths = (0..<8).map { "/\($0)" }
        @Sendable func ask(_ path: String) async throws {
            #expect(try await session.request("http://mock.test\(path)").serializingString().value == path)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for path in paths { group.addTask { try await trait.record { try await ask(path) } } }
            try await group.waitForAll()
        }
        let file = folder.appendingPathComponent("Recordings/shared.har")
        let replay = try ReplayTransport(contentsOf: file)
        try await Session.withTransport(replay) { for path in paths { try await ask(path) } }
        #expect(replay.unusedEntries.isEmpty)
    }

    @Test func anUnrecordedRequestFailsTheTest() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("afar-\(UUID().uuidString).har")
        defer { try? FileManager.default.removeItem(at: file) }
        try HAR().write(to: file)
        let trait = ReplayTrait(matching: .strict, redaction: .secrets, file: file)
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {
                _ = await live.request("http://mock.test/x").serializingData().response
            }
        } matching: {
            "\($0)".contains("no response for: GET http://mock.test/x")
        }
    }

    @Test func aTestThatThrowsRecordsNothing() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("afar-trait-\(UUID().uuidString)")
        let trait: ReplayTrait = .replay("none", file: folder.appendingPathComponent("Tests.swift").path)
        await #expect(throws: CancellationError.self) { try await trait.record { throw CancellationError() } }
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func aMissingRecordingIsReportedWithTheCommand() async throws {
        let trait: ReplayTrait = .replay("missing")
        let test = try #require(Test.current)
        let error = await #expect(throws: RecordingError.self) {
            try await trait.provideScope(for: test, testCase: nil) {}
        }
        let text = try #require(error).description
        #expect(text.contains("AFAR_RECORD=once swift test --filter 'aMissingRecordingIsReportedWithTheCommand'"))
        #expect(text.contains("Tests/AfarTestingTests/Recordings/missing.har"))
    }
}
