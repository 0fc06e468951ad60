import Afar
import ArgumentParser
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct OpenWebSocket: AsyncParsableCommand, CookieSaving {
    static let configuration = CommandConfiguration(
        commandName: "ws",
        abstract: "Open a WebSocket: lines in, messages out.",
        usage: "afar ws <url> [<options>]",
        discussion: """
            Sends each line of the standard input as a text message and prints received messages, text messages as lines. \
            After the end of the input, the WebSocket is closed once no message has arrived for a second.
            """,
        examples: [
            "afar ws example.com/chat",
            "echo hello | afar ws wss://example.com/echo",
            "afar ws example.com/ticker --listen | grep -m 1 EUR",
        ])

    @OptionGroup var address: AddressArgument

    @Flag(help: "Don't read the standard input; run until the server closes the WebSocket.")
    var listen = false

    @Option(
        help: ArgumentHelp(
            "After the end of the input, close once no message has arrived for this long. (default: 1)",
            valueName: "time"),
        transform: { try TimeArgument($0, option: "--wait", in: TimeArgument.Range.delay) })
    var wait = TimeArgument(seconds: 1)

    @Option(name: .customLong("protocol"), help: ArgumentHelp("The subprotocol to offer.", valueName: "name"))
    var subprotocol: String?

    @Option(
        help: ArgumentHelp("Send pings at this interval, and fail if one isn't answered.", valueName: "time"),
        transform: { try TimeArgument($0, option: "--ping", in: TimeArgument.Range.interval) })
    var ping: TimeArgument?

    @Option(help: ArgumentHelp("The maximum size of a message. (default: 16777216)", valueName: "bytes"))
    var maxMessage: Int = 16_777_216

    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Request") var jar: CookieJarOptions
    @OptionGroup(title: "Archives and reports") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions

    func validate() throws {
        try checkSending()
        guard maxMessage > 0 else { throw ValidationError("--max-message must be at least 1 byte.") }
    }

    func run() async throws {
        var address = address
        // The library accepts ws: and wss:, but SecurityOptions compares schemes with http and https.
        address.url = address.url.replacing(/^[wW][sS]([sS]?):\/\//) { "http\($0.output.1.lowercased())://" }
        let plan = try RequestPlan(.get, address, self)
        let session = try makeSession(for: plan) { $0 }
        let socket = session.webSocketRequest(
            to: plan.url,
            configuration: .init(protocol: subprotocol, maximumMessageSize: maxMessage, pingInterval: ping?.seconds),
            headers: plan.headers)
        StandardOutput.onClose { socket.cancel() }
        let lastMessage = Locked(ContinuousClock.now)
        var hasOpened = false
        for await event in socket.webSocketTask().streamingMessageEvents() {
            switch event.kind {
            case .connected:
                if !listen, !hasOpened { LineSender(to: socket, lastMessage, wait.duration).start() }
                hasOpened = true
            case .receivedMessage(let message):
                lastMessage.withLock { $0 = .now }
                try print(message)
            case .disconnected(let code, let reason):
                guard code != .normalClosure, code != .goingAway, code != .noStatusReceived else { break }
                let words = reason.map { ": \(String(decoding: $0, as: UTF8.self))" } ?? ""
                throw Failure(.response, "The server closed the WebSocket with code \(code.rawValue)\(words).")
            case .completed(let completion):
                withExtendedLifetime(session) {}
                if let error = completion.error { throw failure(error, url: plan.url) }
            }
        }
    }

    private func print(_ message: URLSessionWebSocketTask.Message) throws {
        let isTerminal = OutputFacts.standardOutput.isTerminal
        switch message {
        case .string(let text): try StandardOutput.write((isTerminal ? TerminalText.safe(text) : text) + "\n")
        case .data(let data) where isTerminal:
            try StandardOutput.write("(\(BodyText.summary(Int64(data.count), type: nil)))\n")
        case .data(let data): try StandardOutput.write(data)
        @unknown default: break
        }
    }

    private func failure(_ error: AFError, url: String) -> Failure {
        guard let status = error.responseCode else { return Failure(error, url: url) }
        return Failure(
            .httpStatus,
            "\(Redaction.standard.url(url)) returned \(StatusLine.text(of: status)) instead of opening a WebSocket.")
    }
}

/// Sends the lines of standard input in order, then closes the WebSocket once no more messages arrive.
private struct LineSender {
    private let socket: WebSocketRequest
    private let lastMessage: Locked<ContinuousClock.Instant>
    private let wait: Duration

    init(to socket: WebSocketRequest, _ lastMessage: Locked<ContinuousClock.Instant>, _ wait: Duration) {
        self.socket = socket
        self.lastMessage = lastMessage
        self.wait = wait
    }

    func start() {
        // readLine() blocks.
        Thread.detachNewThread {
            let isSent = DispatchSemaphore(value: 0)
            while let line = readLine() {
                socket.send(.string(line), queue: .global()) { _ in isSent.signal() }
                isSent.wait()
            }
            lastMessage.withLock { $0 = max($0, .now) }
            while true {
                let left = ContinuousClock.now.duration(to: lastMessage.withLock { $0 } + wait)
                guard left > .zero else { break }
                Thread.sleep(forTimeInterval: left / .seconds(1))
            }
            socket.close(sending: .normalClosure)
        }
    }
}

struct Connect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect to a port: bytes in, bytes out.",
        usage: "afar connect <host>:<port> [--tls] [<options>]",
        discussion: """
            Sends the standard input and prints the received bytes, both unchanged. At the end of the input, the sending side \
            of the connection is closed. The command ends when the server closes its side, too.
            """,
        examples: [
            "afar connect example.com:7",
            "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | afar connect example.com:443 --tls",
            "afar connect db.internal:5432 --proxy socks5h://localhost:1080",
        ])

    @Argument(help: "A host and a port. IPv6 addresses are in brackets, and \":7\" is localhost.")
    var place: String

    @Flag(help: "Use TLS.")
    var tls = false

    @Option(
        help: ArgumentHelp("The time limit for connecting.", valueName: "time"),
        transform: { try TimeArgument($0, option: "--timeout") })
    var timeout = TimeArgument(seconds: 30)

    @OptionGroup(title: "Network") var network: NetworkOptions

    @OptionGroup(title: "Trust and identity") var security: SecurityOptions

    func validate() throws {
        try OptionRules.check(network.given.union([Self._commandName]))
    }

    func run() async throws {
        let authority = place.hasPrefix(":") ? "localhost" + place : place
        let url = "https://\(authority)/"
        guard let port = HostName.port(ofAuthority: authority), (1...65_535).contains(port) else {
            throw Failure(.usage, "\(place) isn't a host and a port. Write it like example.com:7 or [::1]:7.")
        }
        var configuration = SessionConfiguration.default
        configuration.network = try network.settings(readsEnvironment: true)
        try security.apply(to: &configuration, url: url)
        try network.apply(to: &configuration, TransportChoice.standard.makeTransport)
        let session = Session(
            configuration: configuration, serverTrustManager: try security.trustManager(for: url))
        let stream = session.stream(
            withHostName: HostName(ofAuthority: authority).text, port: port, isSecure: tls)
        stream.options { $0.connectTimeout = timeout.seconds }
        StandardOutput.onClose { stream.cancel() }
        do {
            InputSender(to: stream).start()
            let output = StreamOutput(style: Style(.never, output: .standardOutput), charset: nil)
            var decoder = TextDecoder(.utf8)
            while true {
                let (bytes, isAtEnd) = try await stream.readData(ofMinLength: 1, maxLength: 64 * 1024)
                if let bytes { try output.write(received: bytes, decodingWith: &decoder) }
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

/// Sends standard input unchanged, then closes the sending side.
private struct InputSender {
    private let stream: StreamRequest

    init(to stream: StreamRequest) { self.stream = stream }

    func start() {
        // read() blocks.
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
