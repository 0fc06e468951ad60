import Afar

/// The samples of Docs/TLS-and-Trust.md.
enum TrustSamples {
    static func authorities() {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = URL(filePath: "/etc/example/authority.pem")
        let session = Session(configuration: configuration)
        _ = session
    }

    static func pins() throws -> Session {
        let manager = ServerTrustManager(
            allHostsMustBeEvaluated: false,
            evaluators: [
                "api.example.com": PublicKeysTrustEvaluator(keys: [
                    try PublicKey(pin: "sha256//WoiWRyIOVNa9ihaBciRSC7XHjliYS9VwUGOIud4PB18="),
                    try PublicKey(pin: "sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="),
                ])
            ])
        let session = Session(serverTrustManager: manager)
        return session
    }

    static func identities(_ archive: Data) throws {
        var configuration = SessionConfiguration.default
        configuration.clientIdentity = try ClientIdentity(
            certificateFile: URL(filePath: "client.pem"), keyFile: URL(filePath: "client.key"))
        configuration.clientIdentities["pay.example.com"] = try ClientIdentity(pkcs12: archive, passphrase: "secret")
        _ = configuration
    }

    struct NotStaging: Error {}

    final class StagingEvaluator: ServerTrustEvaluating {
        func evaluate(_ trust: ServerTrust, forHost host: String) throws {
            try trust.af.performValidation(forHost: host)
            guard trust.certificates[0].issuer == "CN=Staging" else { throw NotStaging() }
        }
    }
}
