import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Suspended transfers, over each transport that supports suspension.
@Suite struct SuspensionTests {
    /// A size that exceeds all buffers between the two ends.
    private static let size = 50_000_000
    private static let start = 100_000
    private let directory = ScratchDirectory()
    /// Holds the server until the request has been suspended.
    private let gate = RawServer.Gate()

    @Test(arguments: TransportKind.all(with: [.fileDelivery, .suspension]))
    func aSuspendedDownloadPauses(kind: TransportKind) async throws {
        let bytes = PatternBytes.bytes(Self.size)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\n\r\n"
        let server = try await RawServer.start([
            .respond(head), .send(bytes.prefix(Self.start)), .hold(gate), .send(bytes.dropFirst(Self.start)),
        ])
        let session = kind.session()
        let file = directory.url.appendingPathComponent("file")
        let request = session.download(server.url, to: { _, _ in (file, []) })
        try await hold(request, reporting: request.downloadProgress()) { request.downloadProgress }
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error == nil)
        #expect(try Data(contentsOf: file) == bytes)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.fileUpload, .suspension]))
    func aSuspendedUploadPauses(kind: TransportKind) async throws {
        let server = try await RawServer.start([
            .receiveHead, .receive(Self.start), .hold(gate), .receive(Self.size - Self.start),
            .send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
        ])
        let session = kind.session()
        let file = directory.url.appendingPathComponent("body")
        try PatternBytes.bytes(Self.size).write(to: file)
        let request = session.upload(file, to: server.url)
        try await hold(request, reporting: request.uploadProgress()) { request.uploadProgress }
        let response = await request.serializingData(emptyResponseCodes: [201]).response
        #expect(response.response?.statusCode == 201)
        await server.stop()
    }

    /// Starts a request, suspends it after its first bytes, checks that it makes no progress, and resumes it.
    private func hold(_ request: Request, reporting progress: StreamOf<Progress>, _ now: () -> Progress) async throws {
        request.resume()
        for await _ in progress {
            request.suspend()
            break
        }
        #expect(request.isSuspended)
        gate.open()
        var before: Int64 = -1
        while case let count = now().completedUnitCount, count != before {
            before = count
            try await Task.sleep(for: .milliseconds(300))
        }
        #expect(before > 0)
        #expect(before < Self.size)
        request.resume()
    }
}
