import AfarTransport
import CLibcurl
import Foundation

/// Takes the socket of a connection that libcurl has made for somebody else to use.
final class SocketAdoption: Sendable {
    private let socket = Locked<WatchedSocket?>(nil)

    /// To be called on the loop's thread while libcurl has the connection. libcurl closes its own descriptor of the socket later.
    ///
    /// - Returns: The number under which libcurl knows the socket; nil when there is none.
    func adopt(from handle: EasyHandle, for loop: CurlLoop) throws(Fault) -> Int32 {
        var original: curl_socket_t = -1
        guard afar_get_socket(handle.raw, &original) == CURLE_OK, original >= 0 else {
            throw Fault(.connectionLost, "the connection was closed at once")
        }
        let copy = fcntl(original, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else {
            throw Fault(.outOfResources, "no descriptor is left for the connection", systemError: errno)
        }
        let adopted = WatchedSocket(copy, watchedBy: loop)
        socket.withLock { $0 = adopted }
        loop.post(.watch(adopted))
        return original
    }

    /// The socket, once; nil when there is none.
    func take() -> WatchedSocket? { socket.withLock { $0.take() } }
}

/// Where an exchange has who takes its socket, in place of a request that is sent over it.
enum SocketAdoptionKey: ExchangeContextKey {
    static let defaultValue: SocketAdoption? = nil
}
