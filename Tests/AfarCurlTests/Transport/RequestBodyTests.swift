import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct RequestBodyTests {
        private let transport = makeTransport()

        @Test(arguments: [0, 1, 64 * 1024, 64 * 1024 + 1, 5_000_000])
        func dataArrivesCompletely(_ count: Int) async throws {
            try await withServer { server in
                let data = PatternBytes.bytes(count)
                let response = try await transport.send(Exchange(server.url("/upload"), .post, body: .data(data)))
                #expect(try response.json["bytes"] as? Int == count)
                #expect(try response.json["checksum"] as? String == BodyChecksum(data).hex)
            }
        }

        @Test(arguments: [0, 1, 5_000_000])
        func filesArriveCompletely(_ count: Int) async throws {
            try await withServer { server in
                let data = PatternBytes.bytes(count)
                let url = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
                try data.write(to: url)
                defer { try? FileManager.default.removeItem(at: url) }
                let response = try await transport.send(Exchange(server.url("/upload"), .put, body: .file(url)))
                #expect(try response.json["bytes"] as? Int == count)
                #expect(try response.json["checksum"] as? String == BodyChecksum(data).hex)
                #expect(server.lastRequest(path: "/upload")?.headers["Content-Length"] == "\(count)")
            }
        }

        @Test(arguments: [true, false])
        func streamsArriveCompletely(_ hasLength: Bool) async throws {
            try await withServer { server in
                let chunks = [10, 0, 100_000, 1, 400_000, 3].map { PatternBytes.bytes($0) }
                let data = chunks.reduce(Data(), +)
                let body = ChunkSource.body(chunks, length: hasLength ? Int64(data.count) : nil)
                let response = try await transport.send(Exchange(server.url("/upload"), .post, body: body))
                #expect(try response.json["checksum"] as? String == BodyChecksum(data).hex)
                let headers = try #require(server.lastRequest(path: "/upload")?.headers)
                #expect(headers["Content-Length"] == (hasLength ? "\(data.count)" : nil))
                #expect(headers["Transfer-Encoding"] == (hasLength ? nil : "chunked"))
            }
        }

        @Test func anEmptyStreamIsAnEmptyBody() async throws {
            try await withServer { server in
                for length in [nil, 0] as [Int64?] {
                    let body = ChunkSource.body([], length: length)
                    let response = try await transport.send(Exchange(server.url("/upload"), .post, body: body))
                    #expect(try response.json["bytes"] as? Int == 0)
                }
            }
        }

        @Test(
            arguments: [
                ([Data("123".utf8)], nil), ([Data("123456".utf8)], nil), ([Data("12345".utf8), Data("6".utf8)], nil),
                ([], nil), ([Data("1".utf8)], Intended()), ([Data("12345".utf8)], Intended()),
            ] as [([Data], Intended?)])
        func aStreamOfAnotherLengthFails(_ chunks: [Data], _ error: Intended?) async throws {
            try await withServer { server in
                let body = ChunkSource.body(chunks, length: 5, failing: error)
                let failure = try await transportError {
                    try await transport.send(Exchange(server.url("/upload"), .post, body: body))
                }
                #expect(failure.code == .requestBodyFailed)
                #expect(failure.phase == .sending)
                #expect(failure.underlying as? Intended == error)
                #expect(server.requestCount == 0)
                #expect(try await transport.send(Exchange(server.url("/get"))).head.status == 200)
            }
        }

        @Test func aChunkedStreamThatThrowsFails() async throws {
            try await withServer { server in
                let body = ChunkSource.body([Data("abc".utf8)], failing: Intended())
                let failure = try await transportError {
                    try await transport.send(Exchange(server.url("/upload"), .post, body: body))
                }
                #expect(failure.code == .requestBodyFailed)
                #expect(failure.underlying is Intended)
                #expect(server.requestCount == 0)
            }
        }

        /// A body's producer can wait for the response to another request over the same transport.
        @Test func producingABodyDoesNotBlockOthers() async throws {
            try await withServer { server in
                let (made, mayBeMade) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let body = RequestBodyStream(isReplayable: false) {
                    made.signal()
                    _ = mayBeMade.wait(timeout: .now() + 30)
                    let chunks = ChunkSource([Data("body".utf8)])
                    return { try chunks.next() }
                }
                let upload = Task {
                    try await transport.send(Exchange(server.url("/anything"), .post, body: .stream(body)))
                }
                await Task.detached { made.wait() }.value
                let other = try await transport.send(Exchange(server.url("/get")).with { $0.totalTimeout = 10 })
                #expect(other.head.status == 200)
                mayBeMade.signal()
                #expect(try await upload.value.head.status == 200)
            }
        }

        @Test func aMissingFileFailsBeforeAnythingIsSent() async throws {
            try await withServer { server in
                let body = RequestBody.file(URL(fileURLWithPath: "/nonexistent"))
                let failure = try await transportError {
                    try await transport.send(Exchange(server.url("/upload"), .post, body: body))
                }
                #expect(failure.code == .requestBodyFailed)
                #expect(server.connectionCount == 0)
            }
        }

        @Test(arguments: [HTTPRequest.Method.post, .put, .patch])
        func methodsWithABodySendAZeroContentLength(_ method: HTTPRequest.Method) async throws {
            try await withServer { server in
                for body in [RequestBody.none, .data(Data())] {
                    let response = try await transport.send(Exchange(server.url("/anything"), method, body: body))
                    #expect(try response.echoed("Content-Length") == ["0"])
                    #expect(try response.echoed("Content-Type").isEmpty)
                }
            }
        }

        @Test(arguments: [HTTPRequest.Method.get, .delete, .options])
        func otherMethodsCanHaveABody(_ method: HTTPRequest.Method) async throws {
            try await withServer { server in
                let bare = try await transport.send(Exchange(server.url("/anything"), method))
                #expect(try bare.echoed("Content-Length").isEmpty)
                let body = RequestBody.data(Data("abc".utf8))
                let full = try await transport.send(Exchange(server.url("/anything"), method, body: body))
                #expect(try full.json["method"] as? String == method.rawValue)
                #expect(try full.json["data"] as? String == "abc")
            }
        }

        @Test(arguments: [3, 2_000_000])
        func aBodyAddsOnlyItsLength(_ count: Int) async throws {
            try await withServer { server in
                let body = RequestBody.data(PatternBytes.bytes(count))
                _ = try await transport.send(Exchange(server.url("/upload"), .post, body: body))
                let headers = try #require(server.lastRequest(path: "/upload")?.headers)
                #expect(headers.fields.map { $0.name }.sorted() == ["Accept", "Content-Length", "Host"])
            }
        }

        @Test func aSecondContentLengthIsNotSent() async throws {
            try await withServer { server in
                let fields = [("Content-Length", "99"), ("Transfer-Encoding", "chunked")]
                let exchange = Exchange(server.url("/anything"), .post, fields: fields, body: .data(Data("abc".utf8)))
                let response = try await transport.send(exchange)
                #expect(try response.echoed("Content-Length") == ["3"])
                #expect(try response.echoed("Transfer-Encoding").isEmpty)
            }
        }
    }
}
