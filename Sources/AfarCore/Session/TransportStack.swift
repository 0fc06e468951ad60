/// The transports around a session's transport, outermost first: the order in which an exchange passes them.
enum TransportStack {
    static func make(around transport: any Transport, for configuration: SessionConfiguration) -> any Transport {
        func stack(_ base: some Transport) -> any Transport {
            RedirectTransport(AuthTransport(base), rules: RedirectRules(configuration))
        }
        return stack(transport)
    }
}

extension RedirectRules {
    fileprivate init(_ configuration: SessionConfiguration) {
        self.init(
            maximum: configuration.maximumRedirects, allowsInsecure: configuration.allowsInsecureRedirects,
            secretHeaders: configuration.secretHeaders)
    }
}
