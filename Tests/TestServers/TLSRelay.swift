#if canImport(COpenSSL)
    import COpenSSL
    public import Foundation

    /// A TLS relay for a scripted server on another port of 127.0.0.1.
    ///
    /// Each chunk from the server becomes one TLS record. A script ends with a TCP FIN and without close_notify unless
    /// it sends ``closeNotify`` first.
    public final class TLSRelay: Sendable {
        /// A command in a script that sends the alert that closes the TLS connection.
        public static let closeNotify = "\0close\0"
        /// A command in a script that sends a session ticket. TLS 1.3 only.
        public static let ticket = "\0ticket\0"
        /// A command in a script that updates the server's key and requests an update of the client's key. TLS 1.3
        /// only.
        public static let keyUpdate = "\0update\0"

        /// A command in a script that sends the beginning of a record but not its end.
        public static let halfRecord = "\0half\0"
        /// A command in a script that sends only the header of such a record.
        public static let recordHeader = "\0header\0"

        /// The URL `https://localhost:` with the relay's port and the path `/`.
        public let url: URL
        private let listener: Int32
        private let settings: Settings

        /// Starts a relay.
        ///
        /// - Parameters:
        ///   - port: The port of the scripted server.
        ///   - certificates: The certificates, of which the server uses `good`.
        ///   - isTLS13: Whether the relay supports only TLS 1.3. Otherwise, it supports only TLS 1.2.
        ///   - speaksHTTP2: Whether the relay selects `h2` by ALPN.
        ///   - onHello: Called on a connection's thread when its first bytes have arrived. The handshake continues afterward.
        public init(
            to port: UInt16, _ certificates: TestCertificates, isTLS13: Bool = true, speaksHTTP2: Bool = false,
            onHello: @escaping @Sendable () -> Void = {}
        ) throws {
            settings = try Settings(certificates, isTLS13: isTLS13, speaksHTTP2: speaksHTTP2, onHello: onHello)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            var address = Self.address(port: 0)
            let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) == 0 && listen(listener, 100) == 0
                        && getsockname(listener, $0, &length) == 0
                }
            }
            guard isListening, let url = URL(string: "https://localhost:\(UInt16(bigEndian: address.sin_port))/") else {
                throw TestCertificates.Failure(output: "the relay got no port")
            }
            (self.url, self.listener) = (url, listener)
            Thread.detachNewThread { [settings] in
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { break }
                    _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                    _ = fcntl(client, F_SETFL, O_NONBLOCK)
                    Thread.detachNewThread { Connection(client, to: port, settings)?.run() }
                }
                close(listener)
            }
        }

        deinit { shutdown(listener, Int32(SHUT_RDWR)) }

        fileprivate static func address(port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return address
        }
    }

    private final class Settings: @unchecked Sendable {
        let context: OpaquePointer
        let onHello: @Sendable () -> Void

        init(
            _ certificates: TestCertificates, isTLS13: Bool, speaksHTTP2: Bool, onHello: @escaping @Sendable () -> Void
        ) throws {
            guard let context = SSL_CTX_new(TLS_server_method()) else {
                throw TestCertificates.Failure(output: "no memory")
            }
            (self.context, self.onHello) = (context, onHello)
            let version = Int(isTLS13 ? TLS1_3_VERSION : TLS1_2_VERSION)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, version, nil)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, version, nil)
            let (certificate, key) = (certificates.file("good.pem").path, certificates.file("good.key").path)
            guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1,
                SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1
            else { throw TestCertificates.Failure(output: "OpenSSL rejects the certificate") }
            guard speaksHTTP2 else { return }
            SSL_CTX_set_alpn_select_cb(
                context,
                { _, selected, length, _, _, _ in
                    let name: StaticString = "h2"
                    selected?.pointee = name.utf8Start
                    length?.pointee = 2
                    return SSL_TLSEXT_ERR_OK
                }, nil)
        }

        deinit { SSL_CTX_free(context) }
    }

    /// A connection through the relay, on a dedicated thread.
    private final class Connection: @unchecked Sendable {
        private static let commands = [
            TLSRelay.closeNotify, TLSRelay.ticket, TLSRelay.keyUpdate, TLSRelay.halfRecord, TLSRelay.recordHeader,
        ]
        .map { Array($0.utf8) }

        private let (client, server): (Int32, Int32)
        private let ssl: OpaquePointer
        private let settings: Settings
        private var buffer = [UInt8](repeating: 0, count: 16_384)

        init?(_ client: Int32, to port: UInt16, _ settings: Settings) {
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = TLSRelay.address(port: port)
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected, let ssl = SSL_new(settings.context) else {
                close(server)
                close(client)
                return nil
            }
            (self.client, self.server, self.ssl, self.settings) = (client, server, ssl, settings)
            SSL_set_fd(ssl, client)
            SSL_set_accept_state(ssl)
        }

        deinit {
            SSL_free(ssl)
            close(server)
            close(client)
        }

        func run() {
            // Writing to a closed connection must not terminate the process.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            guard wait(for: POLLIN) else { return }
            settings.onHello()
            guard perform({ SSL_do_handshake(ssl) }) else { return }
            while true {
                guard SSL_pending(ssl) > 0 || wait(for: POLLIN, orServer: true), receive() else { return }
            }
        }

        /// Forwards data in both directions. Returns `false` if the client's or the server's connection has ended.
        private func receive() -> Bool {
            let count = SSL_read(ssl, &buffer, Int32(buffer.count))
            if count > 0 {
                var rest = buffer[..<Int(count)]
                while !rest.isEmpty {
                    let written = rest.withUnsafeBytes { Foundation.write(server, $0.baseAddress, $0.count) }
                    guard written > 0 else { return false }
                    rest = rest.dropFirst(written)
                }
            } else if SSL_get_error(ssl, count) != SSL_ERROR_WANT_READ {
                return false
            }
            var entry = pollfd(fd: server, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 0) > 0 else { return true }
            let received = read(server, &buffer, buffer.count)
            return received > 0 && send(Array(buffer[..<received]))
        }

        private func send(_ bytes: [UInt8]) -> Bool {
            var (rest, plain) = (bytes[...], [] as [UInt8])
            while let byte = rest.first {
                guard let command = Self.commands.first(where: { rest.starts(with: $0) }) else {
                    plain.append(byte)
                    rest = rest.dropFirst()
                    continue
                }
                guard write(plain) else { return false }
                plain = []
                switch command {
                case Self.commands[0]: SSL_shutdown(ssl)
                case Self.commands[1]:
                    guard SSL_new_session_ticket(ssl) == 1, perform({ SSL_do_handshake(ssl) }) else { return false }
                case Self.commands[2]:
                    guard SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1, perform({ SSL_do_handshake(ssl) }) else {
                        return false
                    }
                default:
                    // The header announces 50 bytes of application data (RFC 8446, section 5.1).
                    let start: [UInt8] = [23, 3, 3, 0, 50] + (command == Self.commands[3] ? [1, 2, 3] : [])
                    guard Foundation.write(client, start, start.count) == start.count else { return false }
                }
                rest = rest.dropFirst(command.count)
            }
            return write(plain)
        }

        private func write(_ bytes: [UInt8]) -> Bool {
            bytes.isEmpty || perform { SSL_write(ssl, bytes, Int32(bytes.count)) }
        }

        private func perform(_ call: () -> Int32) -> Bool {
            while true {
                let outcome = call()
                guard outcome <= 0 else { return true }
                switch SSL_get_error(ssl, outcome) {
                case SSL_ERROR_WANT_READ: guard wait(for: POLLIN) else { return false }
                case SSL_ERROR_WANT_WRITE: guard wait(for: POLLOUT) else { return false }
                default: return false
                }
            }
        }

        /// Waits until the client's socket or, optionally, the server's socket is ready.
        private func wait(for events: Int32, orServer: Bool = false) -> Bool {
            var entries = [
                pollfd(fd: client, events: Int16(events), revents: 0),
                pollfd(fd: orServer ? server : -1, events: Int16(POLLIN), revents: 0),
            ]
            return poll(&entries, 2, -1) > 0
        }
    }
#endif
