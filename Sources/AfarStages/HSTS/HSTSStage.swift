package import Foundation
package import HTTPTypes

/// A stage that sends http requests to known hosts over https. It precedes the redirect stage, so that redirects are resolved against the
/// upgraded URL. ``RedirectRules`` upgrades the targets of redirects.
package struct HSTSUpgradeStage: ExchangeStage {
    private let upgrade: HSTSUpgrade

    package init(_ upgrade: HSTSUpgrade) { self.upgrade = upgrade }

    package func begin(_ hop: Hop) -> (any StageRun)? {
        hop.exchange.request.scheme == "http" ? Run(upgrade: upgrade) : nil
    }

    private struct Run: StageRun {
        let upgrade: HSTSUpgrade

        func before(_ hop: Hop) -> Reply<RequestAction> {
            guard let request = upgrade.upgraded(hop.exchange.request, now: hop.now) else { return .now(.send) }
            var exchange = hop.exchange
            // A credential for the http origin is valid for https too.
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

/// A stage that stores the hosts that require https (RFC 6797, section 8.1).
///
/// The stage uses only responses over connections that the transport has verified. It ignores responses from a cache and responses of IP
/// addresses. An evaluator can accept any certificate, so the stage stores nothing if an evaluator decides about trust. If a request's
/// `Host` field names a different host than the URL, the stage ignores the response. Such a response applies to the host in the field, but
/// the verified certificate belongs to the host in the URL.
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
            // The first field counts.
            guard !head.isStored, head.contains(.strictTransportSecurity),
                let value = head.values(for: .strictTransportSecurity).first,
                let policy = StrictTransportSecurity(value)
            else { return .now(.pass) }
            let authority = hop.exchange.request.authority ?? ""
            let now = hop.now
            let end = policy.maximumAge == 0 ? .distantPast : now + TimeInterval(policy.maximumAge)
            let host = HSTSHost(
                name: HostName(ofAuthority: authority).text, includesSubdomains: policy.includesSubdomains, expires: end
            )
            // Nil for IP addresses.
            if let host { store.store(host, now: now) }
            return .now(.pass)
        }
    }
}

/// Upgrades http requests to known hosts to https (RFC 6797, section 8.3).
package struct HSTSUpgrade: Sendable {
    private let store: any HSTSStore

    package init(_ store: any HSTSStore) { self.store = store }

    /// Returns the request for https, or nil if it doesn't change.
    package func upgraded(_ request: HTTPRequest, now: Date) -> HTTPRequest? {
        guard request.scheme == "http", let authority = request.authority,
            store.contains(CookieDomain(authority: authority).text, now: now)
        else { return nil }
        var upgraded = request
        upgraded.scheme = "https"
        // Only port 80 changes, to the default port of https.
        if authority.hasSuffix(":80") { upgraded.authority = String(authority.dropLast(3)) }
        return upgraded
    }
}

/// The value of a `Strict-Transport-Security` field (RFC 6797, section 6.1).
struct StrictTransportSecurity {
    /// The duration in seconds.
    let maximumAge: Int
    let includesSubdomains: Bool

    /// The maximum duration in seconds: ten years, so that every calendar can represent the expiration date.
    private static let longestAge = 10 * 365 * 24 * 60 * 60

    /// - Returns: Nil if the value doesn't follow the grammar. Such a field is ignored.
    init?(_ value: String) {
        var scanner = FieldScanner(value)
        var seen: Set<String> = []
        var age: Int?
        var includesSubdomains = false
        repeat {
            scanner.skipSpaces()
            guard let name = scanner.token()?.asciiLowercased else {
                // An empty directive is valid.
                guard scanner.next == nil || scanner.next == UInt8(ascii: ";") else { return nil }
                continue
            }
            scanner.skipSpaces()
            var argument: String?
            if scanner.skip("=") {
                scanner.skipSpaces()
                guard let value = scanner.quotedString() ?? scanner.token() else { return nil }
                argument = value
                scanner.skipSpaces()
            }
            guard scanner.next == nil || scanner.next == UInt8(ascii: ";"), seen.insert(name).inserted else {
                return nil
            }
            switch name {
            case "max-age":
                guard let digits = argument?.utf8, !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
                age = digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), Self.longestAge) }
            case "includesubdomains":
                guard argument == nil else { return nil }
                includesSubdomains = true
            default: break
            }
        } while scanner.skip(";")
        guard let age, scanner.next == nil else { return nil }
        (maximumAge, self.includesSubdomains) = (age, includesSubdomains)
    }
}
