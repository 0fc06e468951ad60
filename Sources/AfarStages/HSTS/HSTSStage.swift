import Foundation
package import HTTPTypes

/// Has a request by http to a known host sent by https. It comes before the redirects, so that these know which URL was asked;
/// where they lead is upgraded by ``RedirectRules``.
package struct HSTSUpgradeStage: ExchangeStage {
    private let upgrade: HSTSUpgrade

    package init(_ upgrade: HSTSUpgrade) { self.upgrade = upgrade }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        hop.exchange.request.scheme == "http" ? Run(upgrade: upgrade) : nil
    }

    private struct Run: StageRun {
        let upgrade: HSTSUpgrade

        func before(_ hop: Hop) -> Reply<RequestAction> {
            guard let request = upgrade.upgraded(hop.exchange.request) else { return .now(.send) }
            var exchange = hop.exchange
            // Who may have the credential over http may have it over https.
            if exchange.hasPolicies, let credential = exchange.policies.credential,
                credential.origin == Origin(exchange.request)
            {
                exchange.policies.credential = Credential(
                    user: credential.user, password: credential.password, origin: Origin(request))
            }
            exchange.request = request
            return .now(.change(exchange))
        }
    }
}

/// Remembers the hosts that want to be reached by https only (RFC 6797, section 8.1).
///
/// Only what comes over a connection that the transport has verified counts, from no cache and for no address. Where an evaluator
/// decides on certificates instead, it may have accepted any, so nothing is remembered there. Nor is a response to a request
/// whose `Host` field names another host than the certificate: it speaks for that host.
package struct HSTSStage: ExchangeStage {
    private let run: Run

    package init(_ store: any HSTSStore) { run = Run(store) }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        let exchange = hop.exchange
        return exchange.request.scheme == "https" && exchange.options.security?.evaluation == nil
            && exchange.otherHost == nil
            ? run : nil
    }

    private final class Run: StageRun {
        private let store: any HSTSStore

        init(_ store: any HSTSStore) { self.store = store }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            // Of several fields the first counts.
            guard !head.isStored, head.contains(.strictTransportSecurity),
                let value = head.values(for: .strictTransportSecurity).first,
                let policy = StrictTransportSecurity(value)
            else { return .now(.pass) }
            let authority = hop.exchange.request.authority ?? ""
            let end = policy.maximumAge == 0 ? .distantPast : Date() + TimeInterval(policy.maximumAge)
            let host = HSTSHost(
                name: HostName(ofAuthority: authority).text, includesSubdomains: policy.includesSubdomains, expires: end
            )
            // An address is no host of that kind.
            if let host { store.store(host) }
            return .now(.pass)
        }
    }
}

/// Has requests by http to known hosts sent by https (RFC 6797, section 8.3).
package struct HSTSUpgrade: Sendable {
    private let store: any HSTSStore

    package init(_ store: any HSTSStore) { self.store = store }

    /// The request as it is to be sent; nil when that is as it is.
    package func upgraded(_ request: HTTPRequest) -> HTTPRequest? {
        guard request.scheme == "http", let authority = request.authority,
            store.contains(CookieDomain(authority: authority).text)
        else { return nil }
        var upgraded = request
        upgraded.scheme = "https"
        // The port of http becomes that of https, which goes without saying. Another one stays.
        if authority.hasSuffix(":80") { upgraded.authority = String(authority.dropLast(3)) }
        return upgraded
    }
}
