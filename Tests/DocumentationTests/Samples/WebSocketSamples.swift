import Afar
import Foundation

/// The samples of Docs/WebSockets-and-Raw-Connections.md.
enum WebSocketSamples {
    struct Price: Decodable, Sendable {
        let value: Double
    }

    static func messages(_ session: Session) async throws {
        let socket = session.webSocketRequest(to: "wss://example.com/chat").webSocketTask()
        try await socket.send(.string("hello"))
        for try await message in socket.messages {
            switch message {
            case .string(let text): print(text)
            case .data(let data): print("\(data.count) bytes")
            @unknown default: break
            }
        }
    }

    static func events(_ session: Session) {
        session.webSocketRequest(to: "wss://example.com/prices", configuration: .pingInterval(20))
            .streamDecodableEvents(Price.self) { event in
                switch event.kind {
                case .connected: print("connected")
                case .receivedMessage(let price): print(price)
                case .serializerFailed(let error): print("no price: \(error)")
                case .disconnected(let code, _): print("closed with \(code.rawValue)")
                case .completed(let completion): print(completion.error ?? "well")
                }
            }
    }

    static func startTLS(_ session: Session) async throws -> (Data?, Data?) {
        let connection = session.stream(withHostName: "mail.example.com", port: 587)
        let (greeting, _) = try await connection.readData(ofMinLength: 1, maxLength: 4096)
        try await connection.write(Data("STARTTLS\r\n".utf8))
        let (answer, _) = try await connection.readData(ofMinLength: 1, maxLength: 4096)
        try await connection.startSecureConnection()
        return (greeting, answer)
    }
}
