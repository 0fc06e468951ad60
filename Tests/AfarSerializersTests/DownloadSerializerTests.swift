import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Serializers for downloaded files, with all kinds of handlers and with `await`.
@Suite struct DownloadSerializerTests {
    private struct Person: Codable, Equatable, Sendable { var name: String }

    private let session: Session

    init() {
        session = Session(
            transport: MockTransport { request in
                switch request.path {
                case "/json": .json(text: #"{"name":"Ada"}"#)
                case "/plist":
                    .data(try PropertyListEncoder().encode(Person(name: "Ada")), type: "application/x-plist")
                case "/empty": .status(204)
                case "/nothing": .status(200)
                default: .data(Data([0x67, 0x72, 0xFC, 0x6E]), type: "text/plain; charset=latin1")
                }
            })
    }

    /// Performs a request, returns its response and removes the file.
    private func response<Value: Sendable>(
        _ path: String, _ make: (DownloadRequest) -> DownloadTask<Value>
    ) async -> AFDownloadResponse<Value> {
        let response = await make(session.download("http://mock\(path)")).response
        if let file = response.fileURL { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        return response
    }

    @Test func valuesAreAwaited() async throws {
        #expect(await response("/json") { $0.serializingData() }.value == Data(#"{"name":"Ada"}"#.utf8))
        #expect(await response("/text") { $0.serializingString() }.value == "grün")
        #expect(await response("/json") { $0.serializingDecodable(Person.self) }.value == Person(name: "Ada"))
        #expect(await response("/json") { $0.serializingJSON() }.value as? [String: String] == ["name": "Ada"])
        #expect(await response("/plist") { $0.serializingPropertyList() }.value as? [String: String] == ["name": "Ada"])
        #expect(await response("/json") { $0.serializingDownload(using: .data) }.value?.count == 14)
        #expect(await response("/json") { $0.serializingDownload(using: .string) }.value?.count == 14)
        #expect(
            await response("/json") { $0.serializingDownload(using: .url) }.value?.lastPathComponent == "downloaded")
        #expect(await response("/json") { $0.serializingDownload(using: FileSize()) }.value == 14)
    }

    @Test func emptyFilesAreAllowedIfEmptyBodiesAre() async {
        #expect(await response("/empty") { $0.serializingData() }.value == Data())
        #expect(await response("/empty") { $0.serializingDecodable(Empty.self) }.value == Empty.value)
        let refused = await response("/nothing") { $0.serializingString() }
        #expect(refused.error?.isResponseSerializationError == true)
        #expect(await response("/nothing") { $0.serializingString(emptyResponseCodes: [200]) }.value == "")
    }

    @Test func handlersReceiveValues() async {
        let queue = DispatchQueue(label: "handlers")
        let seen = Locked<[String]>([])
        @Sendable func note(_ text: String?) { seen.withLock { $0.append(text ?? "nothing") } }
        let request = session.download("http://mock/json", shouldAutomaticallyResume: false)
            .responseData(queue: queue) { note($0.value.map { "\($0.count)" }) }
            .responseString(queue: queue) { note($0.value) }
            .responseJSON(queue: queue) { note(($0.value as? [String: String])?["name"]) }
            .responseDecodable(of: Person.self, queue: queue) { note($0.value?.name) }
            .responsePropertyList(queue: queue) { note($0.error?.isResponseSerializationError == true ? "no" : nil) }
            .responseURL(queue: queue) { note($0.value?.lastPathComponent) }
            .response(queue: queue, responseSerializer: .string) { note($0.value.map { "\($0.count)" }) }
            .response(queue: queue, responseSerializer: FileSize()) { note($0.value.map { "\($0)" }) }
        let file = await withCheckedContinuation { continuation in
            request.response(queue: queue) { continuation.resume(returning: $0.fileURL) }
            request.resume()
        }
        if let file { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        #expect(
            seen.withLock { $0 } == ["14", #"{"name":"Ada"}"#, "Ada", "Ada", "no", "downloaded", "14", "14"])
    }

    @Test func errorsAreForwarded() async {
        let request = session.download("http://mock/json").validate(statusCode: [201])
        let response = await request.serializingString().response
        #expect(response.error?.responseCode == 200)
    }
}

/// A serializer that supports only downloads.
private struct FileSize: DownloadResponseSerializerProtocol {
    func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> Int {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return try Data(contentsOf: fileURL).count
    }
}
