/// The transports around a session's transport, outermost first: the order in which an exchange passes them.
enum TransportStack {
    /// - Parameter connectivity: Knows whether there is a network, if anybody does.
    static func make(
        around transport: any Transport, for configuration: SessionConfiguration,
        connectivity: (any ConnectivityProvider)? = nil
    ) -> any Transport {
        func stack(_ base: some Transport) -> any Transport {
            RedirectTransport(AuthTransport(base), rules: RedirectRules(configuration))
        }
        func waiting(_ base: some Transport, for provider: any ConnectivityProvider) -> any Transport {
            stack(
                ConnectivityTransport(
                    base, waitingFor: provider, totalTimeout: configuration.timeoutIntervalForResource))
        }
        guard configuration.waitsForConnectivity, let connectivity else { return stack(transport) }
        return waiting(transport, for: connectivity)
    }
}

extension RedirectRules {
    fileprivate init(_ configuration: SessionConfiguration) {
        self.init(
            maximum: configuration.maximumRedirects, allowsInsecure: configuration.allowsInsecureRedirects,
            secretHeaders: configuration.secretHeaders)
    }
}
