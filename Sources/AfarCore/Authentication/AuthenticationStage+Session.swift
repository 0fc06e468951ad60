import AfarTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension AuthenticationStage {
    /// The stage of a session, which asks its provider.
    init(_ configuration: SessionConfiguration, over transport: any Transport) {
        let features = transport.capabilities.features
        guard let provider = configuration.credentialProvider else {
            self.init(features: features)
            return
        }
        self.init(features: features) { url, challenge in
            guard let space = URL(keepingEscapesOf: url).flatMap({ URLProtectionSpace(challenge, of: $0) }),
                let credential = try await provider.credential(for: space), let user = credential.user,
                let password = credential.password
            else { return nil }
            return (user, password)
        }
    }
}
