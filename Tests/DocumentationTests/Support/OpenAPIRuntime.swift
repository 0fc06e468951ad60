import AfarCore
import Foundation
import HTTPTypes

// Stands in for the module OpenAPIRuntime of swift-openapi-runtime, and for generated code. It declares only what the guide to OpenAPI
// clients uses.

protocol ClientTransport: Sendable {
    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}

final class HTTPBody: AsyncSequence, Sendable {
    typealias ByteChunk = ArraySlice<UInt8>

    enum Length: Sendable {
        case unknown
        case known(Int64)
    }

    enum IterationBehavior: Sendable {
        case single, multiple
    }

    struct TooManyBytes: Error {}

    let length: Length
    private let makeNext: @Sendable () -> () async throws -> ByteChunk?

    init<Bytes: AsyncSequence & Sendable>(_ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior)
    where Bytes.Element == ByteChunk {
        self.length = length
        makeNext = {
            var iterator = sequence.makeAsyncIterator()
            return { try await iterator.next() }
        }
    }

    convenience init(_ stream: AsyncThrowingStream<ByteChunk, any Error>, length: Length) {
        self.init(stream, length: length, iterationBehavior: .single)
    }

    convenience init(_ text: String) {
        let bytes = Array(text.utf8)[...]
        let stream = AsyncStream { continuation in
            continuation.yield(bytes)
            continuation.finish()
        }
        self.init(stream, length: .known(Int64(bytes.count)), iterationBehavior: .multiple)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let nextChunk: () async throws -> ByteChunk?

        mutating func next() async throws -> ByteChunk? { try await nextChunk() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextChunk: makeNext()) }
}

extension Data {
    init(collecting body: HTTPBody, upTo maximum: Int) async throws {
        self.init()
        for try await chunk in body {
            guard count + chunk.count <= maximum else { throw HTTPBody.TooManyBytes() }
            append(contentsOf: chunk)
        }
    }
}

/// A client for an API with one operation.
struct Client {
    let serverURL: URL
    let transport: any ClientTransport

    func getUser(id: Int) async throws -> String {
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/users/\(id)")
        let (response, body) = try await transport.send(
            request, body: nil, baseURL: serverURL, operationID: "getUser")
        guard response.status == .ok, let body else { throw HTTPBody.TooManyBytes() }
        return String(decoding: try await Data(collecting: body, upTo: 1 << 20), as: UTF8.self)
    }
}

enum Servers {
    enum Server1 {
        static func url() throws -> URL { try "https://api.example.com".asURL() }
    }
}
