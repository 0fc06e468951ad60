import Afar
import ArgumentParser
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct OpenWebSocket: AsyncParsableCommand, RequestSending {
    static let configuration = CommandConfiguration(
        commandName: "ws",
        abstract: "Open a WebSocket: lines in, messages out.",
        usage: "afar ws <url> [<options>]",
        discussion: """
            Each line of the standard input is sent as a text, each message that comes is printed, a text as a line. At the \
            end of the input the WebSocket is closed, when no message has come for a second.
            """,
        examples: [
            "afar ws :8080/chat",
            "echo hello | afar ws wss://example.com/echo",
            "afar ws example.com/ticker --listen | grep -m 1 EUR",
        ])

    @OptionGroup var address: AddressArgument

    @Flag(help: "Do not read the standard input: go on until the server closes.")
    var listen = false

    @Option(
        help: ArgumentHelp(
            "After the end of the input, close when no message has come for so long. (default: 1)", valueName: "seconds"
        ))
    var wait: Double = 1

    @Option(name: .customLong("protocol"), help: ArgumentHelp("The subprotocol to offer.", valueName: "name"))
    var subprotocol: String?

    @Option(help: ArgumentHelp("Send a ping so often; without an answer the connection is lost.", valueName: "seconds"))
    var ping: Double?

    @Option(help: ArgumentHelp("How long a message may be. (default: 16777216)", valueName: "bytes"))
    var maxMessage: Int = 16_777_216

    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions

    func validate() throws {
        try checkSending()
        guard wait >= 0, wait <= 86_400 else {
            throw ValidationError("--wait is in seconds, from 0 to 86400 (a day).")
        }
        guard maxMessage > 0 else { throw ValidationError("--max-message is a number of bytes from 1.") }
        if let ping {
            guard ping > 0, ping <= 86_400 else {
                throw ValidationError("--ping is in seconds, more than 0 and at most 86400 (a day).")
            }
        }
    }

    func run() async throws {
        var address = address
        // The library takes either; the options for hosts know https.
        address.url = address.url.replacing(/^[wW][sS]([sS]?):\/\//) { "http\($0.output.1.lowercased())://" }
        let plan = try RequestPlan(.get, address, self)
        let session = try makeSession(for: plan.url) { $0 }
        let socket = session.webSocketRequest(
            to: plan.url,
            configuration: .init(protocol: subprotocol, maximumMessageSize: maxMessage, pingInterval: ping),
            headers: plan.headers)
        StandardOutput.onClose { socket.cancel() }
        let lastMessage = Locked(ContinuousClock.now)
        var hasOpened = false
        for await event in socket.webSocketTask().streamingMessageEvents() {
            switch event.kind {
            case .connected:
                if !listen, !hasOpened { LineSender(to: socket, lastMessage, wait).start() }
                hasOpened = true
            case .receivedMessage(let message):
                lastMessage.withLock { $0 = .now }
                try print(message)
            case .disconnected(let code, let reason):
                guard code != .normalClosure, code != .goingAway, code != .noStatusReceived else { break }
                let words = reason.map { ": \(String(decoding: $0, as: UTF8.self))" } ?? ""
                throw Failure(.response, "The server closed with the code \(code.rawValue)\(words).")
            case .completed(let completion):
                withExtendedLifetime(session) {}
                if let error = completion.error { throw failure(error, url: plan.url) }
            }
        }
    }

    private func print(_ message: URLSessionWebSocketTask.Message) throws {
        switch message {
        case .string(let text): try StandardOutput.write(text + "\n")
        case .data(let data): try StandardOutput.write(data)
        @unknown default: break
        }
    }

    private func failure(_ error: AFError, url: String) -> Failure {
        guard let status = error.responseCode else { return Failure(error, url: url) }
        return Failure(
            .httpStatus,
            "\(Redaction.standard.url(url)) answered \(StatusLine.text(of: status)), and opens no WebSocket.")
    }
}

/// Sends the lines of the standard input, one after the other, and closes the WebSocket when no answer comes any more.
private struct LineSender {
    private let socket: WebSocketRequest
    private let lastMessage: Locked<ContinuousClock.Instant>
    private let wait: Duration

    init(to socket: WebSocketRequest, _ lastMessage: Locked<ContinuousClock.Instant>, _ wait: Double) {
        self.socket = socket
        self.lastMessage = lastMessage
        self.wait = .seconds(wait)
    }

    func start() {
        // Reading blocks, so it has a thread of its own.
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
