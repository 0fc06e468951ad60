import AfarTransport
import Foundation
import TestServers
import Testing

@testable import AfarHTTP

/// Sockets and TLS over real connections on loopback.
@Suite(.timeLimit(.minutes(1))) struct ByteStreamTests {
    /// A listening socket on 127.0.0.1.
    private final class Listener {
        let descriptor: Int32
        let address: SocketAddress

        init() throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let any = try #require(try SocketAddress.lookUp("127.0.0.1", isAddress: true).first).with(port: 0)
            try #require(any.withPointer { bind(listener, $0, $1) } == 0 && listen(listener, 10) == 0)
            (descriptor, address) = (listener, try #require(SocketAddress(localOf: listener)))
        }

        deinit { close(descriptor) }

        func accept() -> Int32 { Foundation.accept(descriptor, nil, nil) }
    }

    private func read(_ stream: any ByteStream, _ socket: SocketStream) -> StreamResult {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000, alignment: 1)
        defer { buffer.deallocate() }
        while true {
            let result = stream.read(into: buffer)
            guard case .wouldBlock = result else { return result }
            socket.waitForBytes()
        }
    }

    private func write(_ text: String, to stream: any ByteStream) -> StreamResult {
        Array(text.utf8).withUnsafeBytes { stream.write($0) }
    }

    /// Sends until an error occurs, and then reads until the end.
    private func endAfterSendingFails(_ stream: SocketStream) async -> StreamResult {
        var isBroken = false
        while !isBroken {
            if case .failed = write("more", to: stream) { isBroken = true }
            await Task.yield()
        }
        var end = read(stream, stream)
        while case .bytes = end { end = read(stream, stream) }
        return end
    }

    @Test func aResetDetectedBySendingIsNotACleanEnd() async throws {
        let listener = try Listener()
        let stream = try SocketStream.connected(to: listener.address)
        defer { close(stream.descriptor) }
        let peer = listener.accept()
        guard case .bytes = write("request", to: stream) else { throw POSIXError(.EIO) }
        // Closing a socket with unread bytes resets the connection.
        var entry = pollfd(fd: peer, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, 1_000)
        #expect(send(peer, "partial", 7, 0) == 7)
        close(peer)
        let end = await endAfterSendingFails(stream)
        guard case .failed(let fault) = end else {
            Issue.record("the end is \(end)")
            return
        }
        #expect(fault.code == .connectionLost)
        guard stream.canRead, case .failed = read(stream, stream) else {
            Issue.record("the error isn't permanent")
            return
        }
    }

    @Test func aPeerThatHasFinishedBeforeSendingFailsIsACleanEnd() async throws {
        let listener = try Listener()
        let stream = try SocketStream.connected(to: listener.address)
        defer { close(stream.descriptor) }
        let peer = listener.accept()
        #expect(send(peer, "response", 8, 0) == 8)
        close(peer)
        let end = await endAfterSendingFails(stream)
        guard case .end(isClean: true) = end else {
            Issue.record("the end is \(end)")
            return
        }
    }

    @Test func nothingIsSentOrReceivedBeforeTheServerIsTrusted() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let (stream, socket) = try TLSStream.connected(to: try server.url("site"), certificates)
        defer { close(socket.descriptor) }
        guard case .failed = write("GET / HTTP/1.1\r\nHost: a\r\n\r\n", to: stream), case .failed = read(stream, socket)
        else {
            Issue.record("data was sent over TLS before the handshake")
            return
        }
        try stream.shakeHands(over: socket)
        guard case .bytes = write("GET / HTTP/1.1\r\nHost: a\r\n\r\n", to: stream), case .bytes = read(stream, socket)
        else {
            Issue.record("data can't be sent over TLS after the handshake")
            return
        }
    }

    @Test func aRecordThatWasNotSentCompletelyIsPending() async throws {
        let certificates = try TestCertificates.shared.get()
        let listener = try Listener()
        let port = try #require(listener.address.numbers?.port)
        // The relay stops reading when `peer` doesn't read.
        let relay = try TLSRelay(to: UInt16(port), certificates)
        let (stream, socket) = try TLSStream.connected(to: relay.url, certificates)
        defer { close(socket.descriptor) }
        try stream.shakeHands(over: socket)
        let peer = listener.accept()
        defer { close(peer) }
        let piece = [UInt8](repeating: 1, count: 16_384)
        var isFull = false
        while !isFull {
            switch piece.withUnsafeBytes({ stream.write($0) }) {
            case .bytes: #expect(!stream.hasPendingWrite)
            case .wouldBlock: isFull = true
            case let other: throw Fault(.unknown, "\(other)")
            }
        }
        #expect(stream.hasPendingWrite)
    }
}
