import AfarCore
import AfarHAR
import AfarSerializers
import AfarTestServer
import Foundation
import Testing

#if os(Linux)
    import AfarCurl

    /// Validates archives against the JSON schema of the format.
    @Suite struct SchemaTests {
        private struct Violation: Error, CustomStringConvertible { var description: String }

        private func validate(_ archive: HAR) throws {
            let file = try TemporaryFile()
            try archive.write(to: file.url)
            let schema = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
                "har-1.2.schema.json")
            let validator = Process()
            validator.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            validator.arguments = ["-m", "jsonschema", "-i", file.url.path, schema.path]
            let output = Pipe()
            (validator.standardOutput, validator.standardError) = (output, output)
            try validator.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            validator.waitUntilExit()
            guard validator.terminationStatus == 0 else { throw Violation(description: text) }
        }

        /// Makes requests of all kinds.
        private func exercise(_ session: Session, _ server: TestServer) async throws {
            for path in ["/get?a=1&b", "/redirect/2", "/gzip", "/bytes/100", "/cookies/set?who=ada", "/status/404"] {
                _ = await session.request(server.url(path)).serializingData().response
            }
            _ = await session.request(
                server.url("/post"), method: .post, parameters: ["name": "Ada"], encoder: JSONParameterEncoder.default
            ).serializingData().response
            _ = await session.upload(Data([0, 255]), to: server.url("/post")).serializingData().response
            _ = await session.request("http://127.0.0.1:1/").serializingData().response
        }

        @Test func recordingsConformToTheFormat() async throws {
            let server = try await TestServer.start()
            let recording = RecordingTransport(around: CurlTransport())
            try await exercise(Session(transport: recording), server)
            await server.stop()
            #expect(recording.archive.entries.count >= 11)
            try validate(recording.archive)
            try validate(HAR())
            var broken = recording.archive
            broken.entries[0].time = -5
            #expect(throws: Violation.self) { try validate(broken) }
        }

        @Test func aMonitorsArchiveIsCompleteAndConformsToTheFormat() async throws {
            let server = try await TestServer.start()
            let monitor = HARMonitor()
            let session = Session(eventMonitors: [monitor], transport: CurlTransport())
            try await exercise(session, server)
            await server.stop()
            let archive = monitor.archive
            try validate(archive)
            let urls = archive.entries.map { URL(string: $0.request.url)?.path ?? "" }
            #expect(
                urls == [
                    "/get", "/redirect/2", "/redirect/1", "/get", "/gzip", "/bytes/100", "/cookies/set", "/status/404",
                    "/post", "/post", "/",
                ])
            let posted = archive.entries[8]
            #expect(posted.request.body?.text == #"{"name":"Ada"}"#)
            #expect(posted.request.headers.contains { $0.name == "User-Agent" })
            #expect(posted.response.content.text?.contains("Ada") == true)
            #expect(archive.entries[9].request.body?.data == Data([0, 255]))
            #expect(archive.entries[1].response.status == 302 && archive.entries[3].response.status == 200)
            #expect(archive.entries.last?.failure == "cannotConnect")
        }
    }
#endif
