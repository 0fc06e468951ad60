import Afar
import ArgumentParser
import Foundation

struct Connect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect to a port: bytes in, bytes out.",
        usage: "afar connect <host>:<port> [--tls] [<options>]",
        discussion: """
            The standard input is sent as it is, and what comes is printed as it is. At the end of the input the server is told \
            that nothing more comes; the command ends when the server has ended, too.
            """,
        examples: [
            "afar connect example.com:7",
            "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | afar connect example.com:443 --tls",
            "afar connect db.internal:5432 --proxy socks5h://localhost:1080",
        ])

    @Argument(help: "A host and a port; an address of IPv6 in brackets; \":7\" is localhost.")
    var place: String

    @Flag(help: "Begin with TLS.")
    var tls = false

    @Option(help: ArgumentHelp("How long connecting may take.", valueName: "seconds"))
    var timeout: Double = 30

    @OptionGroup(title: "Network") var network: NetworkOptions

    @OptionGroup(title: "Trust and identity") var security: SecurityOptions

    func validate() throws { try TimeoutArgument.check(timeout) }

    func run() async throws {
        let authority = place.hasPrefix(":") ? "localhost" + place : place
        let url = "https://\(authority)/"
        guard let port = HostName.port(ofAuthority: authority), (1...65_535).contains(port) else {
            throw Failure(.usage, "\(place) is no host and port. Write it as example.com:7, or [::1]:7.")
        }
        var configuration = SessionConfiguration.default
        configuration.network = try network.settings(readsEnvironment: true)
        try security.apply(to: &configuration, url: url)
        let session = Session(
            configuration: configuration, serverTrustManager: try security.trustManager(for: url))
        let stream = session.stream(
            withHostName: HostName(ofAuthority: authority).text, port: port, isSecure: tls)
        stream.options { $0.connectTimeout = timeout }
        StandardOutput.onClose { stream.cancel() }
        do {
            InputSender(to: stream).start()
            while true {
                let (bytes, isAtEnd) = try await stream.readData(ofMinLength: 1, maxLength: 64 * 1024)
                if let bytes { try StandardOutput.write(bytes) }
                if isAtEnd { break }
            }
            stream.cancel()
        } catch let error as AFError {
            throw Failure(error, url: "\(tls ? "tls" : "tcp")://\(authority)")
        } catch let error as TransportError {
            throw Failure(error, url: "\(tls ? "tls" : "tcp")://\(authority)")
        }
        withExtendedLifetime(session) {}
    }
}

/// Sends the standard input as it is, and then the end.
private struct InputSender {
    private let stream: StreamRequest

    init(to stream: StreamRequest) { self.stream = stream }

    func start() {
        // Reading blocks, so it has a thread of its own.
        Thread.detachNewThread {
            let isSent = DispatchSemaphore(value: 0)
            var buffer = Data(count: 64 * 1024)
            while true {
                let count = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                stream.write(buffer.prefix(count), timeout: 0, queue: .global()) { _ in isSent.signal() }
                isSent.wait()
            }
            stream.closeWrite()
        }
    }
}
