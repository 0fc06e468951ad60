public import Foundation
import Synchronization

/// Receives the redirect of a browser on this machine, for command-line tools (RFC 8252, section 7.3).
///
/// ```swift
/// let listener = try OAuthLoopbackListener()
/// let authorization = try await client.authorization(redirectURI: listener.redirectURI, scope: "files.read")
/// print("Open \(authorization.url)")
/// let token = try await authorization.token(from: listener)
/// ```
///
/// The listener is bound to a loopback address, so other machines can't connect to it. It accepts the first redirect that belongs to
/// the authorization, and then closes. Other requests are answered with an error, and the listener continues to wait. All methods can
/// be called from any thread.
public final class OAuthLoopbackListener: Sendable {
    /// A loopback address.
    public enum Address: Sendable {
        /// 127.0.0.1
        case ipv4
        /// ::1
        case ipv6
    }

    /// The redirect URI for the authorization, such as `http://127.0.0.1:49152/callback`.
    public let redirectURI: URL

    private let socket: LoopbackSocket
    private let path: String

    /// Creates a listener. Browsers can connect to it immediately.
    ///
    /// - Parameters:
    ///   - path: The path of the redirect URI. The default is `/callback`.
    ///   - port: The port. The default is 0: the system chooses a free one. Servers must permit any port (RFC 8252, section 7.3), but some
    ///     don't.
    ///   - address: The address. The default is ``Address/ipv4``.
    /// - Throws: ``OAuthError/listenerFailed(_:)``, for example because the port is in use.
    public init(path: String = "/callback", port: UInt16 = 0, address: Address = .ipv4) throws(OAuthError) {
        guard path.hasPrefix("/"), !path.hasPrefix("//"),
            path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        else { throw .invalidArgument("The path of a redirect URI begins with one slash and has no query.") }
        socket = try LoopbackSocket(port: port, address: address)
        guard let url = URL(string: "http://\(socket.authority)\(path)") else {
            throw .invalidArgument("The path isn't part of a valid URL.")
        }
        redirectURI = url
        self.path = path
    }

    /// Stops listening. A call that waits for a redirect fails.
    public func close() {
        socket.wake()
        socket.stopListening()
    }

    /// Waits for a redirect.
    ///
    /// - Parameters:
    ///   - accepts: Returns whether a redirect is the expected one.
    ///   - timeout: The longest time to wait.
    ///   - page: The HTML for the browser.
    func redirect(
        accepting accepts: @escaping @Sendable (URL) -> Bool, timeout: Duration, page: String
    ) async throws(OAuthError) -> URL {
        let loop = try LoopbackLoop(socket: socket, path: path, accepts: accepts, page: page)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: loop.run(timeout: timeout)) }
            }
        } onCancel: {
            socket.wake()
        }
        if Task.isCancelled, case .failure = result { throw .cancelled }
        return try result.get()
    }
}

extension OAuthAuthorization {
    /// The text that the browser shows after the redirect.
    public static let defaultPage = """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><title>Return to the application</title></head>
        <body><p>You can close this window and return to the application.</p></body></html>
        """

    /// Waits for the browser's redirect, and then requests the token.
    ///
    /// - Parameters:
    ///   - listener: A listener with the authorization's redirect URI. It can be used once.
    ///   - timeout: The longest time to wait for the redirect. The default is 5 minutes.
    ///   - page: The HTML that the browser shows after the redirect. The default is ``defaultPage``.
    /// - Throws: ``OAuthError/redirectTimedOut``, ``OAuthError/cancelled``, and the errors of ``token(redirectedTo:)``.
    public func token(
        from listener: OAuthLoopbackListener, timeout: Duration = .seconds(300), page: String = Self.defaultPage
    ) async throws(OAuthError) -> OAuthToken {
        guard redirectURI == listener.redirectURI else {
            throw .invalidArgument("The authorization has another redirect URI than the listener.")
        }
        let url = try await listener.redirect(accepting: accepts, timeout: timeout, page: page)
        return try await token(redirectedTo: url)
    }
}

/// A socket that listens on a loopback address, and a pair of sockets that can end a wait for connections.
final class LoopbackSocket: Sendable {
    let descriptor: Int32
    /// The host and port, as in the field `Host`.
    let authority: String
    let wakeReader: Int32
    private let wakeWriter: Int32
    private let isTaken = Atomic(false)

    init(port: UInt16, address: OAuthLoopbackListener.Address) throws(OAuthError) {
        let family = address == .ipv4 ? AF_INET : AF_INET6
        let descriptor = Foundation.socket(family, Self.socketType, 0)
        guard descriptor >= 0 else { throw Self.failure() }
        var ends: [Int32] = [-1, -1]
        do throws(OAuthError) {
            Self.configure(descriptor)
            var reuse: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
            authority =
                try address == .ipv4
                ? "127.0.0.1:\(Self.bindIPv4(descriptor, port))" : "[::1]:\(Self.bindIPv6(descriptor, port))"
            guard listen(descriptor, 16) == 0, socketpair(AF_UNIX, Self.socketType, 0, &ends) == 0 else {
                throw Self.failure()
            }
        } catch {
            Foundation.close(descriptor)
            throw error
        }
        ends.forEach(Self.configure)
        (self.descriptor, wakeReader, wakeWriter) = (descriptor, ends[0], ends[1])
    }

    deinit {
        for descriptor in [descriptor, wakeReader, wakeWriter] { close(descriptor) }
    }

    /// Returns true once.
    func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }

    /// Refuses new connections.
    func stopListening() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends the current wait, or the next one. Never blocks: if the socket is full, the bytes that it contains end the wait.
    func wake() {
        var byte: UInt8 = 0
        _ = write(wakeWriter, &byte, 1)
    }

    /// Makes a descriptor nonblocking, and closes it in child processes.
    static func configure(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    /// On Linux, a process that another thread starts doesn't inherit the socket.
    private static let socketType: Int32 = {
        #if canImport(Darwin)
            SOCK_STREAM
        #else
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #endif
    }()

    private static func failure() -> OAuthError { .listenerFailed(String(cString: strerror(errno))) }

    private static func bindIPv4(_ descriptor: Int32, _ port: UInt16) throws(OAuthError) -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        guard bound(descriptor, &address) else { throw failure() }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func bindIPv6(_ descriptor: Int32, _ port: UInt16) throws(OAuthError) -> UInt16 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        guard bound(descriptor, &address) else { throw failure() }
        return UInt16(bigEndian: address.sin6_port)
    }

    /// Binds a socket, and replaces the address with the actual one.
    private static func bound<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        let size = length
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &length) == 0
        }
    }
}
