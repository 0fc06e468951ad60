import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import Testing

/// Bodies that are sent while the response arrives, trailers in both directions, and informational responses.
@Suite(.timeLimit(.minutes(1))) struct DuplexTests {
    private let session = Session(transport: HTTPTransport())

    private func ping(_ count: Int) -> Data { Data("ping \(count)".utf8) }

    /// The server's script reads one chunk before it sends the next part of the response, so each side waits for the other.
    @Test func aConversationProceedsInTurns() async throws {
        let pong = RawServer.Step.send("4\r\npong\r\n")
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .receive(11), pong, .receive(11), pong,
            .receive(11), pong, .receive(5), .send("0\r\n\r\n"), .waitForever,
        ])
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        let request = session.streamRequest(sending: chunks, to: server.url, method: .put)
        input.yield(ping(1))
        var (received, completion) = (Data(), DataStreamRequest.Completion?.none)
        for await stream in request.streamTask().streamingData() {
            if let value = stream.value {
                received += value
                guard received.count % 4 == 0 else { continue }
                if received.count < 12 { input.yield(ping(received.count / 4 + 1)) } else { input.finish() }
            }
            completion = stream.completion ?? completion
        }
        #expect(received == Data("pongpongpong".utf8))
        #expect(completion?.error == nil)
        let head = try await server.head()
        #expect(head.hasPrefix("PUT / HTTP/1.1\r\n"))
        let sent = "6\r\nping 1\r\n6\r\nping 2\r\n6\r\nping 3\r\n0\r\n\r\n"
        #expect(server.received(by: 0) == Data("\(head)\(sent)".utf8))
    }

    /// The sequence never ends, so the request ends with the response. The sequence's task is canceled.
    @Test func aCompleteResponseEndsTheRequest() async throws {
        let server = try await RawServer.start([
            .receiveHead, .receive(11), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .waitForever,
        ])
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        let (ending, end) = AsyncStream.makeStream(of: Never.self)
        input.onTermination = { _ in end.finish() }
        let request = session.streamRequest(sending: chunks, to: server.url)
        input.yield(ping(1))
        #expect(try await text(of: request) == "ok")
        #expect(request.response?.statusCode == 200)
        try await server.peerClosed(0)
        for await _ in ending {}
    }

    @Test func aFailingSequenceFailsTheRequest() async throws {
        struct Broken: Error {}
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"), .waitForever,
        ])
        let (chunks, input) = AsyncThrowingStream.makeStream(of: Data.self)
        let request = session.streamRequest(sending: chunks, to: server.url)
        for await stream in request.streamTask().streamingData() {
            if stream.value != nil { input.finish(throwing: Broken()) }
            guard let completion = stream.completion else { continue }
            let error = completion.error?.transportError
            #expect(error?.code == .requestBodyFailed)
            #expect(error?.underlying is Broken)
        }
        try await server.peerClosed(0)
    }

    @Test func aCanceledConversationReleasesItsSequence() async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"), .waitForever,
        ])
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        let (ending, end) = AsyncStream.makeStream(of: Never.self)
        input.onTermination = { _ in end.finish() }
        let request = session.streamRequest(sending: chunks, to: server.url)
        for await stream in request.streamTask().streamingData() {
            if stream.value != nil { request.cancel() }
            if let completion = stream.completion { #expect(completion.error?.isExplicitlyCancelledError == true) }
        }
        try await server.peerClosed(0)
        for await _ in ending {}
    }

    /// Other transports refuse what they can't do before they send anything.
    @Test func aTransportWithoutTheFeatureRefusesTheRequest() async throws {
        let empty = AsyncStream<Data> { $0.finish() }
        let transports: [any Transport] = [CurlTransport(), URLSessionTransport()]
        for transport in transports {
            let session = Session(transport: transport)
            var duplex: AFError?
            for await stream in session.streamRequest(sending: empty, to: "http://127.0.0.1:9/").streamTask()
                .streamingData()
            { duplex = stream.completion?.error }
            let trailers = await session.upload(empty, trailers: { [:] }, to: "http://127.0.0.1:9/").serializingData()
                .response.error
            for (error, feature) in [(duplex, "duplex"), (trailers, "request trailers")] {
                let error = error?.transportError
                #expect(error?.code == .unsupportedByTransport)
                #expect(error?.message.contains(feature) == true, "\(error?.message ?? "")")
            }
        }
    }

    // MARK: Trailers

    @Test func trailersAreSentAndReceived() async throws {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 2\r\nX-B: c\r\n\r\n"
        let server = try await RawServer.start([
            .loop([.receiveHead, .receive(22), .send(answer)])
        ])
        let chunks = AsyncStream<Data> {
            $0.yield(Data("ab".utf8)); $0.finish()
        }
        let upload = session.upload(chunks, length: 2, trailers: { ["X-Sum": "1"] }, to: server.url)
        let response = await upload.serializingString().response
        #expect(response.value == "ok")
        #expect(response.trailers == ["X-Sum": "2", "X-B": "c"])
        #expect(upload.trailers == response.trailers)
        let head = try await server.head()
        #expect(head.contains("Transfer-Encoding: chunked\r\n"))
        #expect(!head.contains("Content-Length"))
        #expect(server.received(by: 0) == Data("\(head)2\r\nab\r\n0\r\nX-Sum: 1\r\n\r\n".utf8))
    }

    @Test func trailersOfDownloadsAndStreamsAreAvailable() async throws {
        let server = try await RawServer.start([
            .loop([.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 2\r\n\r\n")])
        ])
        let download = await session.download(server.url).serializingString().response
        #expect(download.trailers == ["X-Sum": "2"])
        var trailers: HTTPHeaders?
        for await stream in session.streamRequest(server.url).streamTask().streamingStrings() {
            trailers = stream.completion?.trailers ?? trailers
        }
        #expect(trailers == ["X-Sum": "2"])
        let plain = try await RawServer.start([.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        #expect(await session.request(plain.url).serializingData().response.trailers.isEmpty)
    }

    @Test(arguments: [
        ("Content-Length", "5", "Content-Length"), ("authorization", "x", "authorization"),
        ("X-A", "a\r\nX-B: c", "X-A"), ("X A", "a", "starts with \"X\""),
    ])
    func invalidTrailersFailTheRequest(name: String, value: String, part: String) async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let chunks = AsyncStream<Data> {
            $0.yield(Data("ab".utf8)); $0.finish()
        }
        let error = await session.upload(chunks, trailers: { [name: value] }, to: server.url).serializingData().response
            .error
        #expect(error?.transportError?.code == .requestBodyFailed)
        let description = "\(error.debugDescription) \(error?.transportError?.underlying.debugDescription ?? "")"
        #expect(description.contains(part), "\(description)")
        try await server.peerClosed(0)
        #expect(!server.received(by: 0).suffix(5).elementsEqual("0\r\n\r\n".utf8))
    }

    // MARK: Informational responses

    @Test func informationalResponsesAreReportedToMonitors() async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"),
            .send("HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /uploads/1\r\n\r\n"),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ])
        let (lines, output) = AsyncStream.makeStream(of: String.self)
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
        monitor.requestDidReceiveInformationalResponse = { _, response in
            output.yield("\(response.statusCode) \(response.headers["Link"] ?? response.headers["Location"] ?? "")")
        }
        monitor.requestDidFinish = { _ in output.finish() }
        #expect(try await session.request(server.url).eventMonitor(monitor).serializingString().value == "ok")
        let reported = await lines.reduce(into: []) { $0.append($1) }
        #expect(reported == ["103 </style.css>; rel=preload", "104 /uploads/1"])
    }

    private func text(of request: DataStreamRequest) async throws -> String {
        var text = ""
        for await stream in request.streamTask().streamingStrings() {
            text += stream.value ?? ""
            if let error = stream.completion?.error { throw error }
        }
        return text
    }
}
