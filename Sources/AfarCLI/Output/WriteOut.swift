import Afar
import AfarCore
import ArgumentParser
import Foundation
import HTTPTypes

/// The text of `--write-out`, in the syntax of curl: `%{name}`, `%header{name}`, `%%`, `\n`, `\r` and `\t`.
struct WriteOut: Equatable {
    private enum Piece: Equatable {
        case text(String)
        case variable(WriteOutVariable)
        /// The value of a response header field.
        case header(String)
        /// `%{stdout}` or `%{stderr}`: where the text that follows is written.
        case stream(isError: Bool)
    }

    /// The value of the option.
    let argument: String
    private var pieces: [Piece] = []

    /// Parses the value of the option, which is the text, @file, or @- for the standard input.
    init(argument: String) throws {
        try self.init(
            String(decoding: InputBytes.data(argument, option: "--write-out"), as: UTF8.self), argument: argument)
    }

    /// Parses the text, or throws a `ValidationError` if it contains an unknown variable.
    init(_ text: String, argument: String? = nil) throws {
        self.argument = argument ?? text
        var rest = text[...]
        var literal = ""
        while let next = rest.popFirst() {
            if next == "\\", let character = rest.first.flatMap({ ["n": "\n", "r": "\r", "t": "\t"][$0] }) {
                literal += character
                rest.removeFirst()
            } else if next == "%", rest.first == "%" {
                literal += "%"
                rest.removeFirst()
            } else if next == "%", let match = rest.prefixMatch(of: /(header)?\{([^}]*)\}/) {
                pieces += [.text(literal), try Self.piece(String(match.output.2), isHeader: match.output.1 != nil)]
                literal = ""
                rest = rest[match.range.upperBound...]
            } else {
                literal.append(next)
            }
        }
        pieces.append(.text(literal))
    }

    private static func piece(_ name: String, isHeader: Bool) throws -> Piece {
        if isHeader { return .header(name) }
        if name == "stdout" || name == "stderr" { return .stream(isError: name == "stderr") }
        if let variable = WriteOutVariable(rawValue: name) { return .variable(variable) }
        let names = WriteOutVariable.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError(
            "--write-out has no variable \"\(name)\". Available are \(names), stdout, stderr and %header{name}. "
                + "\"--report -\" prints everything as JSON.")
    }

    /// Writes the text for an exchange.
    func write(_ exchange: WriteOutExchange) throws {
        let texts = texts(of: exchange) { isError in
            (isError ? OutputFacts.standardError : OutputFacts.standardOutput).isTerminal
        }
        for (text, isError) in texts {
            if isError { StandardError.write(text) } else { try StandardOutput.write(text) }
        }
    }

    /// Returns the texts for an exchange, each for the standard output or the standard error stream.
    ///
    /// - Parameter isTerminal: Returns whether the standard output or the standard error stream is a terminal. On a terminal, values from
    ///   the server are printed on one line, with visible control characters.
    func texts(
        of exchange: WriteOutExchange, isTerminal: (_ isError: Bool) -> Bool
    ) -> [(text: String, isError: Bool)] {
        var isError = false
        var texts: [(text: String, isError: Bool)] = []
        func add(received value: String) {
            texts.append((isTerminal(isError) ? TerminalText.line(value) : value, isError))
        }
        for piece in pieces {
            switch piece {
            case .text(let text): texts.append((text, isError))
            case .variable(let variable): add(received: exchange.value(of: variable))
            case .header(let name): add(received: exchange.field(name))
            case .stream(let isErrorStream): isError = isErrorStream
            }
        }
        return texts.filter { !$0.text.isEmpty }
    }
}

/// The variables of `--write-out`, which have the names and the units of curl's.
enum WriteOutVariable: String, CaseIterable {
    case httpCode = "http_code"
    case responseCode = "response_code"
    case method
    case urlEffective = "url_effective"
    case scheme
    case redirectURL = "redirect_url"
    case numRedirects = "num_redirects"
    case contentType = "content_type"
    case httpVersion = "http_version"
    case remoteIP = "remote_ip"
    case remotePort = "remote_port"
    case localIP = "local_ip"
    case localPort = "local_port"
    case timeTotal = "time_total"
    case timeNameLookup = "time_namelookup"
    case timeConnect = "time_connect"
    case timeAppConnect = "time_appconnect"
    case timePretransfer = "time_pretransfer"
    case timeStartTransfer = "time_starttransfer"
    case timeRedirect = "time_redirect"
    case sizeDownload = "size_download"
    case sizeUpload = "size_upload"
    case sizeHeader = "size_header"
    case sizeRequest = "size_request"
    case speedDownload = "speed_download"
    case speedUpload = "speed_upload"
    case exitCode = "exitcode"
    case errorMessage = "errormsg"
}

/// The values of the variables for a request. They describe the last attempt and, after redirects, the last response.
struct WriteOutExchange {
    let request: Request
    /// The exit code of the command.
    let status: ExitReason
    /// The failure of the command, or nil after success.
    let failure: Failure?

    private var head: ResponseHead? { request.responseHead }
    private var transactions: [TransactionMetrics] { request.metrics?.transactionMetrics ?? [] }
    private var last: TransactionMetrics? { transactions.last }
    private var redirects: [TransactionMetrics] {
        transactions.dropLast().filter { $0.responseHead?.isRedirect == true }
    }

    func value(of variable: WriteOutVariable) -> String {
        switch variable {
        case .httpCode, .responseCode: String(format: "%03d", head?.status ?? 0)
        case .method: last?.request.httpMethod ?? request.firstRequest?.httpMethod ?? ""
        case .urlEffective: Self.withoutCredential(url)
        case .scheme: url?.scheme?.lowercased() ?? ""
        case .redirectURL: Self.withoutCredential(redirectURL)
        case .numRedirects: "\(redirects.count)"
        case .contentType: head?.value(for: .contentType) ?? ""
        case .httpVersion: head.map { $0.httpVersion.replacing("HTTP/", with: "") } ?? "0"
        case .remoteIP: last?.remoteAddress ?? ""
        case .remotePort: last?.remotePort.map { "\($0)" } ?? "0"
        case .localIP: last?.localAddress ?? ""
        case .localPort: last?.localPort.map { "\($0)" } ?? "0"
        case .timeTotal: Self.text(request.metrics?.taskInterval.duration)
        case .timeNameLookup: time { $0.domainLookupEndDate }
        case .timeConnect: time { $0.secureConnectionStartDate ?? $0.connectEndDate }
        case .timeAppConnect: time { $0.secureConnectionEndDate }
        case .timePretransfer: time { $0.requestStartDate }
        case .timeStartTransfer: time { $0.responseStartDate }
        case .timeRedirect: redirects.isEmpty ? Self.text(nil) : time { $0.fetchStartDate }
        case .sizeDownload: "\(last?.transferredBodyBytes ?? 0)"
        case .sizeUpload: "\(last?.countOfRequestBodyBytesSent ?? 0)"
        case .sizeHeader: "\(last?.countOfResponseHeaderBytesReceived ?? 0)"
        case .sizeRequest: "\(last?.countOfRequestHeaderBytesSent ?? 0)"
        case .speedDownload: speed(last?.transferredBodyBytes)
        case .speedUpload: speed(last?.countOfRequestBodyBytesSent)
        case .exitCode: "\(status.rawValue)"
        case .errorMessage: failure?.message ?? ""
        }
    }

    /// Returns the value of a response header field, or an empty string.
    func field(_ name: String) -> String {
        head?.fields.first { $0.name.rawName.lowercased() == name.lowercased() }?.value ?? ""
    }

    private var url: URL? { last?.request.url ?? request.lastRequest?.url ?? request.firstRequest?.url }

    private var redirectURL: URL? {
        guard let head, head.isRedirect, let location = head.value(for: .location) else { return nil }
        return URL(string: location, relativeTo: url)?.absoluteURL
    }

    private static func withoutCredential(_ url: URL?) -> String {
        guard let url else { return "" }
        guard url.user != nil || url.password != nil,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url.absoluteString }
        (components.user, components.password) = (nil, nil)
        return components.string ?? ""
    }

    /// Returns the time from the start of the request to the last event of a kind, in seconds; 0 without an event.
    private func time(_ date: (TransactionMetrics) -> Date?) -> String {
        guard let start = transactions.first?.fetchStartDate,
            let end = transactions.reversed().lazy.compactMap(date).first
        else { return Self.text(nil) }
        return Self.text(end.timeIntervalSince(start))
    }

    private static func text(_ seconds: Double?) -> String { String(format: "%.6f", max(0, seconds ?? 0)) }

    /// Returns a number of bytes per second.
    private func speed(_ bytes: Int64?) -> String {
        guard let bytes, let seconds = request.metrics?.taskInterval.duration, seconds > 0 else { return "0" }
        return String(format: "%.0f", Double(bytes) / seconds)
    }
}

extension OutputOptions {
    /// Writes a response and then the text of `--write-out`. The text is also written after failures.
    func writingOut(_ request: Request, _ output: () async throws -> Void) async throws {
        do {
            try await output()
        } catch let error where !(error is StandardOutput.Closed) {
            let failure = error as? Failure
            try writeOut?.write(WriteOutExchange(request: request, status: failure?.status ?? .other, failure: failure))
            throw error
        }
        try writeOut?.write(WriteOutExchange(request: request, status: .success, failure: nil))
    }
}
