import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The received part of a response remains available even if the rest never arrives: the head, and the bytes of a data
/// request.
@Suite(.timeLimit(.minutes(1))) struct ResponseHeadTests {
    private static let half = "HTTP/1.1 200 OK\r\nX-Part: first\r\nContent-Length: 8\r\n\r\nhalf"
    private let queue = DispatchQueue(label: "progress")

    /// Returns when half of the body has been received.
    private func half(_ request: Request) async {
        let arrived = Deferred<Void>()
        request.downloadProgress(queue: queue) { if $0.completedUnitCount == 4 { arrived.fulfill(()) } }
        request.resume()
        await arrived.value
    }

    @Test(arguments: TransportKind.allCases)
    func theHeadIsAvailableWhileTheBodyArrives(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.half), .waitForever], [.respond(Self.half), .waitForever],
        ])
        let session = kind.session()
        let requests: [Request] = [session.request(server.url), session.download(server.url)]
        for request in requests {
            await half(request)
            #expect(request.response?.statusCode == 200)
            #expect(request.response?.headers["X-Part"] == "first")
            request.cancel()
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func anInterruptionKeepsTheReceivedPart(kind: TransportKind) async throws {
        let server = try await RawServer.start([.respond(Self.half), .close])
        let session = kind.session()
        let response = await session.request(server.url).serializingData().response
        let error = try #require(response.error?.underlyingError as? URLError)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError)
        // Errors are stored and logged.
        #expect(cause.partialBody == nil)
        #expect(response.response?.statusCode == 200)
        #expect(response.data == Data("half".utf8))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func cancellationKeepsTheReceivedPart(kind: TransportKind) async throws {
        let server = try await RawServer.start([.respond(Self.half), .waitForever])
        let session = kind.session()
        let request = session.request(server.url)
        await half(request)
        request.cancel()
        let response = await request.serializingData().response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(response.response?.statusCode == 200)
        #expect(response.data == Data("half".utf8))
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .fileDelivery), [true, false])
    func aDownloadKeepsTheHead(kind: TransportKind, isCancelled: Bool) async throws {
        let server = try await RawServer.start([.respond(Self.half), isCancelled ? .waitForever : .close])
        let session = kind.session()
        let request = session.download(server.url)
        if isCancelled {
            await half(request)
            request.cancel()
        }
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error != nil)
        #expect(response.response?.statusCode == 200)
        await server.stop()
    }

    /// A truncated body of a redirect isn't part of a response.
    @Test(arguments: TransportKind.allCases, [true, false])
    func anInterruptedRedirectLeavesNothing(kind: TransportKind, isObserved: Bool) async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 8\r\n\r\nhalf"), .close,
        ])
        let session = kind.session()
        let request = session.request(server.url)
        if isObserved { request.downloadProgress(queue: queue) { _ in } }
        let response = await request.serializingData().response
        #expect(response.error != nil)
        #expect(response.data == nil)
        await server.stop()
    }

    /// A new attempt starts without data from the previous one.
    @Test(arguments: TransportKind.allCases)
    func aRetryDiscardsTheHead(kind: TransportKind) async throws {
        let server = try await RawServer.start(scripts: [[.respond(Self.half), .close], [.receiveHead, .close]])
        let session = kind.session()
        let request = session.request(
            server.url,
            interceptor: .retrier { request, _, _, completion in
                completion(request.retryCount == 0 ? .retry : .doNotRetry)
            })
        let response = await request.serializingData().response
        #expect(request.retryCount == 1)
        #expect(response.response == nil)
        #expect(response.data == nil)
        await server.stop()
    }
}
