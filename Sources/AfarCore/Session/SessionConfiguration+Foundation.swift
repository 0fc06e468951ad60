import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What only Foundation's `URLSession` knows.
extension SessionConfiguration {
    /// ``protocolClasses``, if there is one among them that Foundation does not bring along.
    var foreignProtocolClasses: [AnyClass]? {
        guard let protocolClasses else { return nil }
        let own = [URLSessionConfiguration.default, .ephemeral].flatMap { $0.protocolClasses ?? [] }
        let isOwn = Set(own.map(ObjectIdentifier.init))
        return protocolClasses.allSatisfy { isOwn.contains(ObjectIdentifier($0)) } ? nil : protocolClasses
    }

    func checkIdentifier(for transport: any Transport) throws {
        guard let identifier else { return }
        throw unsupported(
            "no transport has background sessions (\(identifier)), \(transport.capabilities.name) neither. "
                + "Use a configuration without an identifier, such as URLSessionConfiguration.default")
    }

    func checkProxies(for transport: any Transport) throws {
        guard hasProxies, !transport.capabilities.features.contains(.proxies) else { return }
        throw unsupported(
            "the configuration has a connectionProxyDictionary, and the \(transport.capabilities.name) transport would "
                + "connect without a proxy. Give it to URLSessionTransport(configuration:) too, or leave it out")
    }

    func checkTLSSettings(for transport: any Transport) throws {
        let settings: [(String, Bool)] = [
            ("certificateBundle", certificateBundle != nil), ("tlsCipherList", tlsCipherList != nil),
            ("tls13CipherSuites", tls13CipherSuites != nil), ("tlsKeyLogFile", tlsKeyLogFile != nil),
        ]
        let wanted = settings.filter(\.1).map(\.0)
        guard !wanted.isEmpty, !transport.capabilities.features.contains(.serverTrust) else { return }
        throw unsupported(
            "the configuration has \(wanted.joined(separator: ", ")), which the \(transport.capabilities.name) transport "
                + "would ignore. Leave it out, or use CurlTransport")
    }

    private func unsupported(_ message: String) -> AFError {
        let error = TransportError(.unsupportedByTransport, phase: .queued, url: nil, message: message)
        return .sessionTaskFailed(error: error.urlError)
    }
}
