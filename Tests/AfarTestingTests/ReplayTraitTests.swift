import AfarCore
import AfarHAR
import AfarSerializers
import Foundation
import Testing

@testable import AfarTesting

@Suite struct ReplayTraitTests {
    @Test func theEnvironmentSaysWhatIsRecorded() throws {
        #expect(try ReplayTrait.Mode(nil, exists: true) == .replay)
        #expect(try ReplayTrait.Mode(nil, exists: false) == .replay)
        #expect(try ReplayTrait.Mode("once", exists: true) == .replay)
        #expect(try ReplayTrait.Mode("once", exists: false) == .record)
        #expect(try ReplayTrait.Mode("all", exists: true) == .record)
        #expect(throws: RecordingError.self) { try ReplayTrait.Mode("yes", exists: true) }
    }

    @Test func whatIsRecordedIsReplayed() async throws {
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

    @Test func aTestThatThrowsRecordsNothing() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("afar-trait-\(UUID().uuidString)")
        let trait: ReplayTrait = .replay("none", file: folder.appendingPathComponent("Tests.swift").path)
        await #expect(throws: CancellationError.self) { try await trait.record { throw CancellationError() } }
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func aMissingRecordingIsToldWithTheCommand() async throws {
        let trait: ReplayTrait = .replay("missing")
        let test = try #require(Test.current)
        let error = await #expect(throws: RecordingError.self) {
            try await trait.provideScope(for: test, testCase: nil) {}
        }
        let text = try #require(error).description
        #expect(text.contains("AFAR_RECORD=once swift test --filter 'aMissingRecordingIsToldWithTheCommand'"))
        #expect(text.contains("Tests/AfarTestingTests/Recordings/missing.har"))
    }
}
