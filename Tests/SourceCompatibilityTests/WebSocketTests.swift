import Afar
import AfarTestServer
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// WebSockets, as in apps that use Alamofire.
struct WebSocketTests {
    struct Price: Codable, Sendable {
        var value: Double
    }

    @Test func eventsAreHandled() async throws {
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let port = closed.number
        let session = Session()
        let error: AFError? = await withCheckedContinuation { continuation in
            session.webSocketRequest(
                to: "ws://127.0.0.1:\(port)/", configuration: .init(protocol: "chat", maximumMessageSize: 1_000),
                headers: ["X-App": "1"]
            )
            .streamMessageEvents(on: .global()) { event in
                switch event.kind {
                case let .connected(`protocol`):
                    print(`protocol` ?? "none")
                    event.sendPing(respondingOn: .global()) { response in
                        switch response {
                        case let .pong(pong): print(pong.latency)
                        case let .error(error): print(error)
                        case .unsent: print("unsent")
                        }
                    }
                case let .receivedMessage(message):
                    switch message {
                    case let .string(string): print(string)
                    case let .data(data): print(data)
                    @unknown default: break
                    }
                    event.close(sending: .normalClosure)
                case let .disconnected(closeCode, reason): print(closeCode, reason ?? Data())
                case let .completed(completion): continuation.resume(returning: completion.error)
                case .serializerFailed: break
                }
            }
        }
        #expect(error?.isSessionTaskError == true)
    }

    @Test func declarationsAreAvailable() {
        let session = Session(startRequestsImmediately: false)
        let configurations: [WebSocketRequest.Configuration] = [
            .default, .protocol("chat"), .maximumMessageSize(10), .pingInterval(30),
        ]
        for configuration in configurations {
            let request = session.webSocketRequest(
                performing: URLRequest(url: URL(string: "wss://example.com/")!), configuration: configuration)
            request.streamMessages { message in print(message) }
            request.streamDecodableEvents(Price.self) { event in print(event.message?.value ?? 0) }
            request.streamDecodable(Price.self, on: .main, using: JSONDecoder()) { price in print(price.value) }
            request.streamSerializer(.json(decoding: Price.self)) { event in print(event.kind) }
            request.send(.string("hello")) { result in print(result) }
            request.close(sending: .goingAway, reason: Data("bye".utf8))
            request.cancel()
        }
        let parameterized = session.webSocketRequest(to: "wss://example.com/", parameters: ["a": "b"])
        parameterized.cancel()
    }

    @Test func closeCodesMatchFoundations() {
        let socket = Session(startRequestsImmediately: false).webSocketRequest(to: "wss://example.com/")
        let code = URLSessionWebSocketTask.CloseCode.goingAway
        socket.streamMessageEvents { event in event.close(sending: code) }
        socket.webSocketTask().close(sending: code)
        #expect(WebSocketCloseCode(code).closeCode == code)
    }

    private class Client: Session, @unchecked Sendable {
        override func webSocketRequest(
            performing convertible: any URLRequestConvertible, configuration: WebSocketRequest.Configuration = .default,
            interceptor: (any RequestInterceptor)? = nil
        ) -> WebSocketRequest {
            super.webSocketRequest(performing: convertible, configuration: .protocol("v2"), interceptor: interceptor)
        }
    }

    @Test func subclassesCreateTheirOwnRequests() {
        let request = URLRequest(url: URL(string: "wss://example.com/")!)
        let socket = Client(startRequestsImmediately: false).webSocketRequest(performing: request)
        #expect(socket.configuration.protocol == "v2")
    }

    @Test func tasksAreAwaited() async throws {
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let port = closed.number
        let session = Session()
        let socket = session.webSocketRequest(to: "ws://127.0.0.1:\(port)/").webSocketTask()
        for await event in socket.streamingMessageEvents() {
            if case let .completed(completion) = event.kind { #expect(completion.error != nil) }
        }
        for await message in socket.streamingMessages() { print(message) }
        for await price in socket.streamingDecodable(Price.self) { print(price.value) }
        socket.close(sending: .normalClosure)
        socket.cancel()
    }
}
