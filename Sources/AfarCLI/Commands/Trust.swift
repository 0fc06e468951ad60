import Afar
import ArgumentParser
import Foundation

struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the certificates of a server, whether they are valid, and the pins to copy.",
        usage: "afar trust <host> [--pem] [<options>]",
        discussion: """
            TLS is agreed on, and no request is sent. The exit code is 3 when the certificates are not valid, one of them \
            is revoked, or the server cannot be reached.
            """,
        examples: [
            "afar trust example.com",
            "afar trust :8443 --cacert authority.pem",
            "afar trust example.com --pem > chain.pem",
        ])

    @Argument(help: "A host, with a port if it is not 443, or a URL.")
    var host: String

    @Flag(help: "Print the certificates in PEM form, and nothing else.")
    var pem = false

    @Option(help: ArgumentHelp("Trust the authorities in this file of PEM certificates only.", valueName: "file"))
    var cacert: String?

    @Option(help: ArgumentHelp("How long all of it may take.", valueName: "seconds"))
    var timeout: Double = 30

    @OptionGroup var colors: ColorOptions

    func validate() throws { try TimeoutArgument.check(timeout) }

    func run() async throws {
        guard !host.lowercased().hasPrefix("http://") else {
            throw Failure(.usage, "\(host) is not asked by TLS: write https.")
        }
        let url = host.contains("://") ? host : "https://" + (host.hasPrefix(":") ? "localhost" : "") + host
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = try cacert.map(SecurityOptions.authorities)
        configuration.timeoutIntervalForResource = timeout
        let witness = Witness()
        let session = Session(configuration: configuration, serverTrustManager: WitnessManager(witness))
        let response = await session.request(url).redirect(using: .doNotFollow).serializingData().response
        guard let trust = witness.seen.withLock({ $0 }) else {
            guard let error = response.error else { throw Failure(.usage, "\(url) is not asked by TLS: write https.") }
            throw Failure(error, url: url)
        }
        let connection = response.metrics?.transactionMetrics.last
        let report = TrustReport(trust, over: connection, style: colors.style(for: .standardOutput))
        try StandardOutput.write(pem ? trust.certificates.map(\.pemEncoded).joined() : report.text)
        if !report.isValid { ExitReason.connection.exit() }
    }
}

/// Looks at what a server has presented, and lets nothing be sent.
private final class Witness: ServerTrustEvaluating {
    private struct Seen: Error {}

    let seen = Locked<ServerTrust?>(nil)

    func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        seen.withLock { $0 = trust }
        throw Seen()
    }
}

/// Has one evaluator for all hosts.
private final class WitnessManager: ServerTrustManager, @unchecked Sendable {
    private let witness: Witness

    init(_ witness: Witness) {
        self.witness = witness
        super.init(evaluators: [:])
    }

    override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? { witness }
}
