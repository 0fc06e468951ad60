import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLProtectionSpace: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLProtectionSpace {
    /// The certificates that the server presented, or nil if this space isn't from a ``SessionDelegate`` challenge about a
    /// server's certificates.
    public var serverTrust: ServerTrust? { (type as? ServerTrustSpace)?.trust }
}

extension URLCredential: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLCredential {
    /// Returns a credential that accepts exactly the certificates that a server presented. Return this credential from
    /// ``SessionDelegate/taskDidReceiveChallenge``. No other credential accepts certificates.
    public static func trusting(_ trust: ServerTrust) -> URLCredential {
        URLCredential(user: URLCredential.trustUser, password: URLCredential.acceptance(of: trust), persistence: .none)
    }
}

extension URLCredential {

    /// Marks the credential, because Foundation's credentials can't contain a trust on Linux. The mark is random, so that other
    /// code can't create such a credential.
    private static let secret = UUID().uuidString
    fileprivate static let trustUser = "server trust"

    fileprivate static func acceptance(of trust: ServerTrust) -> String {
        ([secret, trust.host] + trust.certificates.map { $0.derEncoded.base64EncodedString() }).joined(separator: " ")
    }

    fileprivate func accepts(_ trust: ServerTrust) -> Bool { password == Self.acceptance(of: trust) }

    /// Whether the credential accepts a server's certificates and isn't a user name and a password.
    var isServerTrust: Bool { user == Self.trustUser && password?.hasPrefix(Self.secret) == true }
}

/// A protection space with a server trust, which Foundation's type can't contain on Linux.
private final class ServerTrustSpace: URLProtectionSpace, @unchecked Sendable {
    // @unchecked because it is immutable.

    /// Foundation's constant of this name isn't available on Linux.
    private static let method = "NSURLAuthenticationMethodServerTrust"

    let trust: ServerTrust

    init(_ trust: ServerTrust, port: Int) {
        self.trust = trust
        super.init(
            host: trust.host, port: port, protocol: "https", realm: nil,
            authenticationMethod: Self.method)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { return nil }
}

extension URLAuthenticationChallenge {
    var isAboutServerTrust: Bool { protectionSpace is ServerTrustSpace }

    fileprivate convenience init(_ trust: ServerTrust, port: Int) {
        self.init(
            protectionSpace: ServerTrustSpace(trust, port: port), proposedCredential: nil, previousFailureCount: 0,
            failureResponse: nil, error: nil, sender: NullChallengeSender())
    }
}

extension Request {
    /// The handler that is called with servers' certificates before they are evaluated, or nil.
    var serverTrustHandler: ServerTrustHandler? {
        guard session.delegate.handlesServerTrust(over: stack.capabilities.features) else { return nil }
        return { [self] trust, port in
            guard
                let (disposition, credential) = await session.delegate.respond(
                    to: URLAuthenticationChallenge(trust, port: port), of: self)
            else { return .evaluate }
            return switch disposition {
            case .useCredential: credential?.accepts(trust) == true ? .trust : .evaluate
            case .performDefaultHandling: .evaluate
            case .cancelAuthenticationChallenge: .cancel
            default: .refuse
            }
        }
    }
}
