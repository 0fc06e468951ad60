import AfarTransport
import Foundation
import HTTPTypes

extension CurlTransport {
    /// Makes a connection: libcurl looks the host up, tries its addresses, asks proxies; from then on the socket is Afar's, and
    /// OpenSSL secures it where that is wanted.
    ///
    /// - Throws: A ``TransportError``.
    func connect(to target: ConnectionTarget) async throws -> SocketConnection {
        if target.isSecure { try tls.check(url: target.description) }
        let adoption = SocketAdoption()
        do {
            let response = try await prepare(try hop(to: target, adoption)).response()
            guard let socket = adoption.take() else { throw CancellationError() }
            let connection = SocketConnection(
                socket, to: target, report: response.report, tls: tls, owner: self)
            if target.isSecure { try await connection.startTLS(to: target) }
            return connection
        } catch var error as TransportError {
            adoption.take()?.close()
            error.url = target.description
            throw error
        }
    }

    private func hop(to target: ConnectionTarget, _ adoption: SocketAdoption) throws -> Hop {
        guard (1...65_535).contains(target.port) else {
            throw TransportError(
                .invalidURL, phase: .queued, url: target.description, message: "the port is not one of 1 to 65,535")
        }
        var exchange = Exchange(
            request: HTTPRequest(
                method: .get, scheme: target.isSecure ? "https" : "http", authority: target.authority, path: "/"),
            options: target.options)
        exchange.request.headerFields[.proxyAuthorization] = target.proxyAuthorization
        exchange.options.httpVersion = .http1
        // Who is trusted is decided on the adopted socket.
        exchange.options.security = nil
        exchange.context[SocketAdoptionKey.self] = adoption
        return Hop(exchange)
    }
}
