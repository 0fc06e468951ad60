import Afar
import ArgumentParser
import Foundation

struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Show a server's certificates, whether they are valid, and their pins.",
        usage: "afar trust <host> [--pem] [<options>]",
        discussion: """
            Performs the TLS handshake and sends no request. The exit code is 3 if a certificate is invalid or revoked, or \
            if the server cannot be reached.
            """,
        examples: [
            "afar trust example.com",
            "afar trust :8443 --cacert authority.pem",
            "afar trust example.com --pem > chain.pem",
        ])

    @Argument(help: "A host, with a port unless it's 443, or a URL.")
    var host: String

    @Flag(help: "Print only the certificates, in PEM format.")
    var pem = false

    @Option(help: ArgumentHelp("Trust only the authorities in this PEM file.", valueName: "file"))
    var cacert: String?

    @Option(
        help: ArgumentHelp("The time limit for the entire operation.", valueName: "time"),
        transform: { try TimeArgument($0, option: "--timeout") })
    var timeout = TimeArgument(seconds: 30)

    @OptionGroup var colors: ColorOptions

    func run() async throws {
        guard !host.lowercased().hasPrefix("http://") else {
            throw Failure(.usage, "\(host) doesn't use TLS. Write https://.")
        }
        let url = host.contains("://") ? host : "https://" + (host.hasPrefix(":") ? "localhost" : "") + host
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = try cacert.map(SecurityOptions.authorities)
        configuration.timeoutIntervalForResource = timeout.seconds
        let recorder = TrustRecorder()
        let session = Session(configuration: configuration, serverTrustManager: TrustRecorderManager(recorder))
        let response = await session.request(url).redirect(using: .doNotFollow).serializingData().response
        guard let trust = recorder.trust.withLock({ $0 }) else {
            guard let error = response.error else { throw Failure(.usage, "\(url) doesn't use TLS. Write https://.") }
            throw Failure(error, url: url)
        }
        let connection = response.metrics?.transactionMetrics.last
        let report = TrustReport(trust, over: connection, style: colors.style(for: .standardOutput))
        try StandardOutput.write(pem ? trust.certificates.map(\.pemEncoded).joined() : report.text)
        if !report.isValid { ExitReason.connection.exit() }
    }
}

/// Stores the server's trust and rejects it, so that no request is sent.
private final class TrustRecorder: ServerTrustEvaluating {
    private struct TrustRecorded: Error {}

    let trust = Locked<ServerTrust?>(nil)

    func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        self.trust.withLock { $0 = trust }
        throw TrustRecorded()
    }
}

/// A trust manager with one evaluator for all hosts.
private final class TrustRecorderManager: ServerTrustManager, @unchecked Sendable {
    private let recorder: TrustRecorder

    init(_ recorder: TrustRecorder) {
        self.recorder = recorder
        super.init(evaluators: [:])
    }

    override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? { recorder }
}

/// A report on a server's certificates.
struct TrustReport {
    private typealias Check = Result<Void, ServerTrustError>

    private let trust: ServerTrust
    private let connection: TransactionMetrics?
    private let style: Style
    private let now = Date()
    private let hostCheck: Check
    /// The result of the stapled OCSP response; nil if the server sent none.
    private let revocationCheck: Check?

    /// - Parameter connection: The connection on which the server sent the certificates.
    init(_ trust: ServerTrust, over connection: TransactionMetrics?, style: Style) {
        self.trust = trust
        self.connection = connection
        self.style = style
        hostCheck = Check { () throws(ServerTrustError) in try trust.validateHost(trust.host) }
        revocationCheck = trust.stapledOCSPResponse.map { _ in
            Check { () throws(ServerTrustError) in try trust.validateRevocation() }
        }
    }

    /// Whether the chain is valid, matches the host, and isn't known to be revoked.
    var isValid: Bool {
        guard case .success = trust.validation, case .success = hostCheck else { return false }
        if case .failure(let error) = revocationCheck { return error.code != .revoked }
        return true
    }

    var text: String {
        let certificates = trust.certificates.enumerated().map { index, certificate in
            text(of: certificate, number: index + 1)
        }
        return (certificates + [validationSummary, pins]).joined(separator: "\n")
    }

    private func text(of certificate: Certificate, number: Int) -> String {
        let names = certificate.subjectAlternativeNames
        let shown = names.prefix(10).map(\.description) + (names.count > 10 ? ["and \(names.count - 10) more"] : [])
        let days = Int((certificate.notValidAfter.timeIntervalSince(now) / 86_400).rounded(.down))
        let rest = days >= 0 ? "\(days) days left" : "\(-days) days ago"
        let facts: [(String, String)] = [
            ("Issuer", certificate.issuer), ("Names", shown.joined(separator: ", ")),
            ("Valid", "\(Self.day(certificate.notValidBefore)) to \(Self.day(certificate.notValidAfter)), \(rest)"),
            ("Key", certificate.publicKey.algorithm ?? "unknown"), ("Pin", certificate.publicKey.pin),
        ]
        let lines = facts.filter { !$0.1.isEmpty }.map {
            "   \(style.paint(Self.padded($0.0), .dim)) \(Self.line($0.1))"
        }
        return (["\(number)  \(style.paint(Self.line(certificate.subject), .bold))"] + lines).joined(separator: "\n")
            + "\n"
    }

    private var validationSummary: String {
        let chain =
            switch trust.validation {
            case .success(let chain): good("valid, trusted by \(chain.last?.subject ?? "an unknown root")")
            case .failure(let error): bad(error.description)
            }
        let host =
            switch hostCheck {
            case .success: good("the certificate is for \(trust.host)")
            case .failure(let error): bad(error.message)
            }
        let revocation =
            switch revocationCheck {
            case nil: "no stapled OCSP response"
            case .success: good("not revoked, according to the stapled OCSP response")
            case .failure(let error): bad(error.description)
            }
        let agreement = [connection?.tlsProtocolVersion, connection?.tlsCipherSuite].compactMap { $0 }
        return [("Chain", chain), ("Host", host), ("Revoked", revocation), ("TLS", agreement.joined(separator: " "))]
            .filter { !$0.1.isEmpty }.map { "\(style.paint(Self.padded($0.0), .dim)) \($0.1)\n" }.joined()
    }

    private var pins: String {
        let keys = trust.certificates.map(\.publicKey.pin)
        guard let first = keys.first else { return "" }
        guard isValid else {
            return "The pins of invalid certificates are of no use: --pin is checked in addition to validation.\n"
        }
        return """
            To pin the server's key, use this pin. Add the pin of a backup key to keep access when the key changes.
              --pin \(first)
              PublicKeysTrustEvaluator(keys: [try PublicKey(pin: "\(first)")])

            """
    }

    private func good(_ text: String) -> String { style.paint(Self.line(text), .green) }

    private func bad(_ text: String) -> String { style.paint(Self.line(text), .red) }

    private static func padded(_ name: String) -> String {
        name + String(repeating: " ", count: max(0, 8 - name.count))
    }

    private static func line(_ text: String) -> String { TerminalText.line(text) }

    private static func day(_ date: Date) -> String {
        date.formatted(.iso8601.year().month().day())
    }
}
