@testable import AfarTestServer

/// A plain TCP client.
struct Client: Sendable {
    let socket: Socket

    init(port: Int?) throws {
        socket = try Socket()
        socket.disableDelay()
        try socket.connect(port: UInt16(port ?? 0))
    }

    func send(_ text: String) throws {
        try socket.write(Array(text.utf8))
    }

    /// Reads until the end of the stream.
    func readAll() throws -> String {
        var input = BufferedSocket(socket)
        var result: [UInt8] = []
        while try input.read(atMost: .max, { result += $0 }) > 0 {}
        return String(decoding: result, as: UTF8.self)
    }

    /// Reads available bytes with a single call.
    func read() throws -> String {
        var input = BufferedSocket(socket)
        var result: [UInt8] = []
        _ = try input.read(atMost: .max) { result += $0 }
        return String(decoding: result, as: UTF8.self)
    }

    /// Sends text and reads until the end.
    static func exchange(port: Int?, _ text: String) async throws -> String {
        try await onThread {
            let client = try Client(port: port)
            try client.send(text)
            return try client.readAll()
        }
    }
}
