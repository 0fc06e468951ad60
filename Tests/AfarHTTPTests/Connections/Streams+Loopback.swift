import AfarTransport
import AfarTrust
import Foundation
import TestServers
import Testing

@testable import AfarHTTP

extension SocketStream {
    /// Connects a nonblocking socket.
    static func connected(to address: SocketAddress) throws -> SocketStream {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(address.withPointer { Foundation.connect(descriptor, $0, $1) } == 0)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let stream = SocketStream(descriptor)
        stream.expectBytes()
        return stream
    }

    /// Waits until bytes or the end have arrived.
    func waitForBytes() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, 1_000)
        expectBytes()
    }
}

extension TLSStream {
    /// Connects to a server on 127.0.0.1 without starting the handshake.
    ///
    /// - Parameter host: The host that the server's certificate must be for.
    static func connected(
        to url: URL, _ certificates: TestCertificates, host: String = "localhost",
        _ security: ConnectionSecurity? = nil, resuming session: TLSSession? = nil
    ) throws -> (TLSStream, SocketStream) {
        let port = try #require(url.port)
        let address = try #require(try SocketAddress.lookUp("127.0.0.1", isAddress: true).first).with(port: port)
        let socket = try SocketStream.connected(to: address)
        let authorities = CertificateAuthorities(file: certificates.authority)
        let context = TLSContext(
            TLSSettings(authorities: authorities, cipherList: nil, tls13CipherSuites: nil, keyLogFile: nil))
        return (try TLSStream(over: socket, to: host, security, context, resuming: session), socket)
    }

    /// Performs the handshake, and trusts the server regardless of its certificates.
    func shakeHands(over socket: SocketStream) throws {
        while true {
            switch try handshake() {
            case .done: return
            case .undecided: trustServer()
            case .wouldBlock: socket.waitForBytes()
            }
        }
    }
}
