import Afar
import HTTPTypes

/// The samples of Docs/OpenAPI-Clients.md.
enum OpenAPISamples {
    static func call() async throws {
        let client = Client(serverURL: try Servers.Server1.url(), transport: AfarClientTransport(session: AF))
        let user = try await client.getUser(id: 1)
        print("OpenAPI: \(user)")
    }
}

/// Sends the requests of generated clients with a session.
struct AfarClientTransport: ClientTransport {
    let session: Session
    /// Bodies up to this size are sent from memory.
    var bufferSize = 1 << 20

    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let stream = try await stream(request, body: body, baseURL: baseURL)
        // Safe because a body can be iterated only once.
        nonisolated(unsafe) var chunks = stream.streamTask().streamingData().makeAsyncIterator()
        // Ends when the head has arrived, or when the request has failed.
        for await _ in stream.httpResponses() { break }
        guard let head = stream.responseHead else { throw stream.error ?? CancellationError() }
        let attempts = stream.retryCount
        let bytes = AsyncThrowingStream<HTTPBody.ByteChunk, any Error> {
            guard let chunk = await chunks.next() else { throw CancellationError() }
            switch chunk.event {
            case .stream(.success(let data)):
                // A retry starts with the first byte again.
                guard stream.retryCount == attempts else { throw AFError.explicitlyCancelled }
                return ArraySlice(data)
            case .complete(let completion):
                if let error = completion.error { throw error }
                return nil
            }
        }
        let response = HTTPResponse(status: .init(code: head.status), headerFields: head.fields)
        return (response, HTTPBody(bytes, length: .unknown))
    }

    private func stream(_ request: HTTPRequest, body: HTTPBody?, baseURL: URL) async throws -> DataStreamRequest {
        let base = baseURL.absoluteString
        let url = (base.hasSuffix("/") ? String(base.dropLast()) : base) + (request.path ?? "")
        let method = HTTPMethod(rawValue: request.method.rawValue)
        let fields = request.headerFields.filter { ![.contentLength, .transferEncoding].contains($0.name) }
        let headers = HTTPHeaders(fields.map { HTTPHeader(name: $0.name.rawName, value: $0.value) })
        guard let body else { return session.streamRequest(url, method: method, headers: headers) }
        guard case .known(let length) = body.length, length <= bufferSize else {
            return session.streamRequest(sending: body.map { Data($0) }, to: url, method: method, headers: headers)
        }
        let data = try await Data(collecting: body, upTo: bufferSize)
        return session.streamRequest(url, method: method, headers: headers) { $0.httpBody = data }
    }
}
