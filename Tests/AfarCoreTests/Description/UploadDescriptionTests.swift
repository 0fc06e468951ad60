import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The curl description of an upload contains the body, even if a caller requests the description early.
@Suite struct UploadDescriptionTests {
    enum Body: CaseIterable {
        case data, file, stream, chunks, form, spooledForm
    }

    /// An upload whose body is created by a closure.
    private struct Upload: UploadConvertible {
        let make: @Sendable () throws -> Data

        func createUploadable() throws -> UploadRequest.Uploadable { .data(try make()) }
        func asURLRequest() throws -> URLRequest { try URLRequest(url: "http://mock/", method: .post) }
    }

    private static let notMade = "# No curl command: the body has not been created."
    private let queue = DispatchQueue(label: "descriptions")
    private let session = Session(transport: MockTransport { _ in .text("ok") })

    /// Returns an upload and the words that describe the body in its curl description.
    private func upload(_ body: Body) -> (UploadRequest, words: String) {
        let url = "http://mock/"
        let file = URL(filePath: "/etc/hostname")
        func form(usingThreshold threshold: UInt64) -> UploadRequest {
            session.upload(
                multipartFormData: { $0.append(Data("value".utf8), withName: "field") }, to: url,
                usingThreshold: threshold)
        }
        return switch body {
        case .data: (session.upload(Data("some bytes".utf8), to: url), "--data-raw 'some bytes'")
        case .file: (session.upload(file, to: url), "--data-binary @\(file.path)")
        case .stream: (session.upload(InputStream(data: Data("b".utf8)), to: url), "--data-binary @-")
        case .chunks:
            (session.upload(AsyncStream(unfolding: { nil as Data? }), to: url), "--data-binary @-")
        case .form: (form(usingThreshold: 1_000_000), #"name="field""#)
        case .spooledForm: (form(usingThreshold: 0), "--data-binary @/")
        }
    }

    @Test(arguments: Body.allCases) func everyCommandHasTheBody(_ body: Body) async {
        for _ in 0..<200 {
            let (request, words) = upload(body)
            let commands = (0..<3).map { _ in Deferred<String>() }
            request.cURLDescription { commands[0].fulfill($0) }
            request.cURLDescription(redactingSecrets: true) { commands[1].fulfill($0) }
            request.cURLDescription(on: queue) { commands[2].fulfill($0) }
            var iterator = request.cURLDescriptions().makeAsyncIterator()
            let task = request.serializingResponse(using: Bytes())
            #expect(await iterator.next()?.contains(words) == true)
            for command in commands { #expect(await command.value.contains(words)) }
            #expect(await task.response.error == nil)
            #expect(await iterator.next() == nil)
        }
    }

    @Test func theURLRequestIsCreatedAfterTheBody() async {
        let made = Locked<[String]>([])
        let uploading = Locked<UploadRequest?>(nil)
        let request = session.upload(
            Upload { [queue] in
                queue.sync {}
                let command = uploading.withLock { $0 }?.cURLDescription() ?? ""
                made.withLock { $0 += [command, "body"] }
                return Data()
            })
        uploading.withLock { $0 = request }
        request.onURLRequestCreation(on: queue) { _ in made.withLock { $0.append("URLRequest") } }
        request.cURLDescription(on: queue) { _ in made.withLock { $0.append("command") } }
        #expect(await request.serializingResponse(using: Bytes()).response.error == nil)
        uploading.withLock { $0 = nil }
        queue.sync {}
        #expect(made.withLock { $0.sorted() } == [Self.notMade, "URLRequest", "body", "command"])
        #expect(made.withLock { $0.prefix(2) } == [Self.notMade, "body"])
    }

    @Test func aFailedBodyHasNoCommand() async {
        let command = Deferred<String>()
        let request = session.upload(Upload { throw CocoaError(.fileNoSuchFile) })
            .cURLDescription { command.fulfill($0) }
        let commands = request.cURLDescriptions()
        #expect(await request.serializingResponse(using: Bytes()).response.error?.isCreateUploadableError == true)
        #expect(await command.value == Self.notMade)
        #expect(request.cURLDescription() == Self.notMade)
        #expect(await commands.reduce(0) { count, _ in count + 1 } == 0)
    }
}
