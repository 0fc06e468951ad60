import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLProtectionSpace: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLProtectionSpace {
    /// What the server has presented; nil unless ``SessionDelegate`` is asked about a server's certificates.
    public var serverTrust: ServerTrust? { (type as? ServerTrustSpace)?.trust }
}

extension URLCredential: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLCredential {
    /// The credential that accepts what a server has presented, and nothing else, for
    /// ``SessionDelegate/taskDidReceiveChallenge``. No other credential does.
    public static func trusting(_ trust: ServerTrust) -> URLCredential {
        URLCredential(user: URLCredential.trustUser, password: URLCredential.acceptance(of: trust), persistence: .none)
    }
}

extension URLCredential {
    // Foundation's credentials have no place for a trust on Linux.

    /// Unknown to everybody else.
    private static let secret = UUID().uuidString
    fileprivate static let trustUser = "server trust"

    fileprivate static func acceptance(of trust: ServerTrust) -> String {
        ([secret, trust.host] + trust.certificates.map { $0.derEncoded.base64EncodedString() }).joined(separator: " ")
    }

    fileprivate func accepts(_ trust: ServerTrust) -> Bool { password == Self.acceptance(of: trust) }

    /// Whether it accepts a server's certificates, and is nobody's user name and password.
    var isServerTrust: Bool { user == Self.trustUser && password?.hasPrefix(Self.secret) == true }
}

/// Foundation's protection space, with what it has no place for on Linux.
private final class ServerTrustSpace: URLProtectionSpace, @unchecked Sendable {
    // Sendable because it does not change.

    /// Foundation's constant of this name is not available on Linux.
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
    /// Who is asked about servers' certificates before they are evaluated; nil when nobody is.
    var serverTrustHandler: ServerTrustHandler? {
        guard session.delegate.decidesAboutServerTrust(over: stack.capabilities.features) else { return nil }
        return { [self] trust, port in
            guard
                let (disposition, credential) = await session.delegate.answer(
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
