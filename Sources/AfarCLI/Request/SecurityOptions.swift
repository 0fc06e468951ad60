import Afar
import AfarStages
import ArgumentParser
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The options for server trust and client credentials.
struct SecurityOptions: ParsableArguments {
    @Option(
        name: [.customShort("u", allowingJoined: true), .long], parsing: .unconditional,
        help: ArgumentHelp(
            """
            The credentials for a server that requires them (401). Without a colon, the environment variable AFAR_PASSWORD \
            provides the password.
            """, valueName: "name[:password]"))
    var user: String?

    @Option(
        help:
            """
            The only scheme to use. basic is sent with the first request, the others after a challenge. negotiate uses a \
            Kerberos ticket instead of --user. (default: the strongest that the server offers)
            """
    )
    var auth: CredentialScheme?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Send a bearer token, or the one in @file.", valueName: "token|@file"))
    var bearer: String?

    @Flag(
        help:
            """
            Send the user name and password for the host from the file in the environment variable NETRC, or from ~/.netrc. \
            They are sent over https and to this machine.
            """)
    var netrc = false

    @Option(help: ArgumentHelp("Like --netrc, with this file.", valueName: "file"))
    var netrcFile: String?

    @Option(help: ArgumentHelp("Trust only the authorities in this PEM file.", valueName: "file"))
    var cacert: String?

    @Option(help: ArgumentHelp("The client certificate: PEM, DER, or PKCS#12 with its key.", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("The key of --cert, if it's in another file: PEM or DER.", valueName: "file"))
    var key: String?

    @Option(
        help: ArgumentHelp("A file whose first line is the passphrase of the key or the archive.", valueName: "file"))
    var passphraseFile: String?

    @Option(
        help: ArgumentHelp(
            "A key that one of the server's certificates must have, besides being valid. Can be repeated. \"afar trust\" prints pins.",
            valueName: "sha256//…"))
    var pin: [String] = []

    @Option(help: ArgumentHelp("Don't verify the certificate of this host. Can be repeated.", valueName: "host"))
    var insecureHost: [String] = []

    @Flag(name: [.customShort("k"), .long], help: "Don't verify the certificate of the URL's host.")
    var insecure = false

    @Option(help: "The oldest version of TLS to accept. (default: 1.2)")
    var tlsMin: TLSVersionChoice?

    @Option(help: ArgumentHelp("Append TLS secrets to this file, for Wireshark.", valueName: "file"))
    var keylog: String?

    func validate() throws {
        try OptionRules.check(given)
        for host in insecureHost where !Self.isHost(host) {
            throw ValidationError(
                "--insecure-host \(host) isn't a host. Write a name or an address, without scheme, port and path.")
        }
    }

    /// Returns whether the text is a host name or an address, without other parts of a URL.
    private static func isHost(_ text: String) -> Bool {
        let isAddress = text.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 && !text.hasPrefix("[")
        let host = isAddress ? "[\(text)]" : text
        guard let target = target(of: "https://\(host)/"), target.path == "/", target.userinfo == nil else {
            return false
        }
        return HostName.port(ofAuthority: target.authority) == nil && !target.authority.contains("*")
    }

    /// Whether the certificate is in a PKCS#12 archive.
    var isArchive: Bool { cert.map(Self.isArchive) ?? false }

    static func isArchive(_ path: String) -> Bool {
        ["p12", "pfx"].contains(URL(filePath: path).pathExtension.lowercased())
    }

    /// Returns the header to send with the first request, if any.
    func authorization() throws -> HTTPHeader? {
        if auth == .basic {
            let (name, password) = try credential()
            return .authorization(
                try Self.reading("--user") {
                    try BasicAuthentication.authorization(user: name, password: password, url: nil)
                })
        }
        guard let bearer else { return nil }
        let token =
            bearer.hasPrefix("@") ? try Self.firstLine(of: String(bearer.dropFirst()), option: "--bearer") : bearer
        guard !token.isEmpty else { throw Failure(.usage, "--bearer: the token is empty.") }
        return .authorization(bearerToken: token)
    }

    /// Returns the interceptor that adds credentials from a file, if any.
    func netrcInterceptor() throws -> NetrcInterceptor? {
        guard netrc || netrcFile != nil else { return nil }
        return try Self.reading(netrcFile == nil ? "--netrc" : "--netrc-file") {
            try NetrcInterceptor(file: netrcFile.map { URL(filePath: $0) })
        }
    }

    /// Returns the path of the file with credentials that can be sent to the URL, if any.
    func netrcFile(for url: String, over network: NetworkOptions) -> String? {
        guard netrc || netrcFile != nil, let target = Self.target(of: url),
            // curl reads proxies from the environment.
            let settings = try? network.settings(readsEnvironment: true), target.canReceiveCredentials(over: settings)
        else { return nil }
        return netrcFile ?? NetrcInterceptor.defaultFile.path
    }

    /// Applies the options to a session's configuration.
    func apply(to configuration: inout SessionConfiguration, url: String) throws {
        configuration.certificateBundle = try cacert.map(Self.authorities)
        if tlsMin == .three { configuration.tlsMinimumSupportedProtocolVersion = .v13 }
        configuration.tlsKeyLogFile = keylog.map { URL(filePath: $0) }
        configuration.clientIdentity = try identity()
        if let cert, Self.target(of: url)?.scheme == "http" {
            throw Failure(.usage, "--cert \(cert) requires an https URL, unlike \(url).")
        }
        guard user != nil && auth != .basic || auth == .negotiate else { return }
        let (name, password) = try credential()
        guard let target = Self.target(of: url) else { return }
        configuration.credentialProvider = OneCredential(
            host: HostName(ofAuthority: target.authority),
            port: HostName.port(ofAuthority: target.authority) ?? (target.scheme == "https" ? 443 : 80), scheme: auth,
            name: name, password: password)
    }

    /// Returns a trust manager that checks the public keys of `--pin` for the URL's host and accepts any certificate
    /// for the hosts of `--insecure-host`. Returns nil without these options.
    func trustManager(for url: String) throws -> ServerTrustManager? {
        var evaluators: [String: any ServerTrustEvaluating] = [:]
        for host in unverifiedHosts(of: url) {
            StandardError.write(
                "afar: WARNING: the certificate of \(TerminalText.line(host.text)) is not verified. Others can read and change all traffic.\n"
            )
            evaluators[host.text] = DisabledTrustEvaluator()
        }
        if !pin.isEmpty, let target = Self.target(of: url) {
            guard target.scheme == "https" else { throw Failure(.usage, "--pin requires an https URL, unlike \(url).") }
            let host = HostName(ofAuthority: target.authority)
            let isVerified = evaluators[host.text] == nil
            evaluators[host.text] = PublicKeysTrustEvaluator(
                keys: try pin.map { pin in try Self.reading("--pin") { try PublicKey(pin: pin) } },
                performDefaultValidation: isVerified, validateHost: isVerified)
        }
        return ReportFile.observing(
            evaluators.isEmpty ? nil : ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: evaluators))
    }

    /// Returns whether the certificate of the URL's host isn't verified.
    func skipsVerification(of url: String) -> Bool {
        Self.host(of: url).map { unverifiedHosts(of: url).contains($0) } ?? false
    }

    /// Returns the hosts whose certificates aren't verified, which include the URL's host with `--insecure`.
    private func unverifiedHosts(of url: String) -> [HostName] {
        let hosts = insecureHost.map { HostName($0) }
        guard insecure, Self.target(of: url)?.scheme == "https", let host = Self.host(of: url), !hosts.contains(host)
        else { return hosts }
        return hosts + [host]
    }

    private static func host(of url: String) -> HostName? {
        target(of: url).map { HostName(ofAuthority: $0.authority) }
    }

    /// Returns the target of a request for the URL, or nil if the URL is invalid. Sending the request then reports the
    /// error.
    private static func target(of url: String) -> RequestTarget? {
        URL(keepingEscapesOf: url).flatMap { try? RequestTarget($0) }
    }

    private func credential() throws -> (name: String, password: String) {
        guard let user else { return ("", "") }
        if let colon = user.firstIndex(of: ":") {
            return (String(user[..<colon]), String(user[user.index(after: colon)...]))
        }
        guard let password = ProcessInfo.processInfo.environment["AFAR_PASSWORD"] else {
            throw Failure(.usage, "--user \(user) has no password: write name:password, or set AFAR_PASSWORD.")
        }
        return (user, password)
    }

    /// Returns the value of curl's `--user`, if there are credentials. Without a password, curl prompts for it.
    func curlUser(withPassword: Bool) -> String? {
        guard user != nil, withPassword, let (name, password) = try? credential() else {
            return user.map { String($0.prefix { $0 != ":" }) }
        }
        return "\(name):\(password)"
    }

    private func identity() throws -> ClientIdentity? {
        guard let cert else { return nil }
        let passphrase = try passphraseFile.map { try Self.firstLine(of: $0, option: "--passphrase-file") }
        let hint = passphrase == nil ? " (--key names the key's file, --passphrase-file its passphrase)" : ""
        return try Self.reading("--cert \(cert)", hint: hint) {
            let file = URL(filePath: cert)
            if isArchive {
                guard let data = try? Data(contentsOf: file) else {
                    throw CertificateError.unreadableFile(file, "it doesn't exist, or access is denied")
                }
                return try ClientIdentity(pkcs12: data, passphrase: passphrase ?? "")
            }
            return try ClientIdentity(
                certificateFile: file, keyFile: key.map { URL(filePath: $0) }, passphrase: passphrase)
        }
    }

    /// Returns the first line of a file or a pipe.
    private static func firstLine(of path: String, option: String) throws -> String {
        guard let data = try? FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: 64 * 1024) else {
            throw Failure(.usage, "\(option): \(path) cannot be read.")
        }
        let line = data.prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }

    /// Returns the URL of a file after checking that it contains certificates.
    static func authorities(_ path: String) throws -> URL {
        let file = URL(filePath: path)
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular else {
            throw Failure(.usage, "--cacert: \(path) isn't a regular file.")
        }
        return try reading("--cacert \(path)") {
            let text = try String(decoding: Data(contentsOf: file), as: UTF8.self)
            guard try !Certificate.certificates(pemEncoded: text).isEmpty else {
                throw Failure(.usage, "--cacert \(path) contains no certificate in PEM format.")
            }
            return file
        }
    }

    /// Rethrows errors as failures that name the option.
    private static func reading<Value>(
        _ option: String, hint: String = "", _ read: () throws -> Value
    ) throws -> Value {
        do { return try read() } catch let failure as Failure { throw failure } catch {
            let reason = error.localizedDescription
            throw Failure(.usage, "\(option): \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)\(hint).")
        }
    }
}

/// An authentication scheme (RFC 9110, section 11).
enum CredentialScheme: String, CaseIterable, ExpressibleByArgument {
    case basic, digest, ntlm, negotiate

    /// Foundation's name of the scheme.
    fileprivate var method: String {
        switch self {
        case .basic: NSURLAuthenticationMethodHTTPBasic
        case .digest: NSURLAuthenticationMethodHTTPDigest
        case .ntlm: NSURLAuthenticationMethodNTLM
        case .negotiate: NSURLAuthenticationMethodNegotiate
        }
    }
}

/// Provides one credential for one host and port.
private struct OneCredential: CredentialProvider {
    let host: HostName
    let port: Int
    let scheme: CredentialScheme?
    let name: String
    let password: String

    func credential(for space: URLProtectionSpace) async throws -> URLCredential? {
        guard HostName(space.host) == host, space.port == port else { return nil }
        if let scheme, space.authenticationMethod != scheme.method { return nil }
        UnsentCredentials.noteRequest()
        return URLCredential(user: name, password: password, persistence: .none)
    }
}

/// The values of `--tls-min`.
enum TLSVersionChoice: String, CaseIterable, ExpressibleByArgument {
    case two = "1.2"
    case three = "1.3"
}
