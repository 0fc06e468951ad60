import Afar
import AfarTransport
import Foundation
import Server
import Testing

extension HummingbirdServer {
    /// Creates a session that trusts the servers' certificate.
    static func session(_ change: (inout SessionConfiguration) -> Void = { _ in }) throws -> Session {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = try certificateFolder.appending(path: "certificate.pem")
        configuration.timeoutIntervalForRequest = 20
        change(&configuration)
        return Session(configuration: configuration)
    }

    func url(_ path: String) -> String { "https://localhost:\(port)/\(path)" }

    /// Sends a small request. Returns the local port of its connection.
    func connection(of session: Session) async throws -> Int {
        let response = await session.request(url("small")).serializingString().response
        #expect(try response.result.get() == "small")
        return try response.connection
    }
}

extension DataResponse {
    /// The local port of the HTTP/2 connection over which the response arrived.
    var connection: Int {
        get throws {
            let transaction = try #require(metrics?.transactionMetrics.last)
            #expect(transaction.networkProtocolName == "h2")
            return try #require(transaction.localPort)
        }
    }
}

extension Data {
    /// Divides the data into chunks.
    func chunks(of size: Int = 100_000) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for start in stride(from: 0, to: count, by: size) {
                continuation.yield(self[start..<Swift.min(start + size, count)])
            }
            continuation.finish()
        }
    }
}

extension DataStreamRequest {
    /// Receives the whole response.
    func wholeResponse() async throws -> (data: Data, completion: Completion) {
        var data = Data()
        for await stream in streamTask().streamingData() {
            if let completion = stream.completion { return (data, completion) }
            data += stream.value ?? Data()
        }
        throw CancellationError()
    }
}
