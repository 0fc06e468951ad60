import Afar
import Foundation

extension CurlCommand {
    /// What the tool would send.
    ///
    /// - Parameter more: What curl is to do beside sending.
    init(_ plan: RequestPlan, sentWith options: some RequestSending, more: [String]) {
        let sending = options.sending
        let body: Body? = plan.body.map { body in body.path.map { .file(path: $0) } ?? .data(body.bytes) }
        self.init(method: plan.method.rawValue, url: plan.url, headers: plan.headers, body: body)
        isDecoding = plan.headers["Accept-Encoding"] == nil
        maximumRedirects = sending.follow ? sending.maxRedirects ?? SessionConfiguration.default.maximumRedirects : nil
        let timeout = sending.timeout.map { ["--max-time", Self.seconds($0)] } ?? []
        let retries = sending.retry > 0 ? ["--retry", "\(sending.retry)", "--retry-connrefused"] : []
        let cookies = sending.cookieJar.map { ["--cookie", $0, "--cookie-jar", $0] } ?? []
        self.options =
            timeout + retries + cookies + Self.options(options.network) + Self.options(options.security, for: plan.url)
            + more
    }

    private static func options(_ network: NetworkOptions) -> [String] {
        let proxy = network.proxy.map { ["--proxy", $0 == "none" ? "" : Redaction.standard.url($0)] } ?? []
        let socket = network.unixSocket.map { ["--unix-socket", $0] } ?? []
        let interface = network.interface.map { ["--interface", $0] } ?? []
        let version = network.http.map { [$0.curlOption] } ?? []
        return version + proxy + socket + network.connectTo.flatMap { ["--connect-to", $0] } + interface
    }

    /// Without a password, for which curl asks.
    private static func options(_ security: SecurityOptions, for url: String) -> [String] {
        let pins = security.pin.map { (try? PublicKey(pin: $0).pin) ?? $0 }
        let files = [
            ("--cacert", security.cacert),
            // After a colon curl expects the passphrase.
            ("--cert", security.cert?.replacing(":", with: "\\:")), ("--key", security.key),
            ("--pinnedpubkey", pins.isEmpty ? nil : pins.joined(separator: ";")),
        ]
        // With basic there is a header already.
        let name = security.auth == .basic ? nil : security.user.map { String($0.prefix { $0 != ":" }) }
        let user = (name ?? (security.auth == .negotiate ? ":" : nil)).map { ["--user", $0] } ?? []
        let scheme = user.isEmpty ? [] : ["--\(security.auth?.rawValue ?? "anyauth")"]
        return files.flatMap { option, value in value.map { [option, $0] } ?? [] }
            + (security.isArchive ? ["--cert-type", "P12"] : []) + scheme + user
            + (security.isBlind(to: url) ? ["--insecure"] : [])
    }

    /// As curl reads it, which knows no exponents and takes 0 for no limit.
    private static func seconds(_ seconds: Double) -> String {
        seconds.rounded() == seconds ? String(Int(seconds)) : String(format: "%.3f", max(0.001, seconds))
    }
}
