package import AfarTrust
package import Foundation

/// Who the client is to a host, and who decides on the host's certificates. Connections that were opened under one of these
/// serve no other.
package final class ConnectionSecurity: Sendable {
    /// Decides on what a server has presented; an error refuses it.
    package typealias Evaluation = @Sendable (ServerTrust) async throws -> Void

    /// How long a decision for a chain of certificates holds, in seconds.
    private static let longestAcceptance: TimeInterval = 600
    /// How many chains a host may have at a time.
    private static let acceptedLimit = 16

    private struct Acceptance {
        let chain: PresentedChain
        let end: Date
    }

    /// What the client shows when the server asks who it is.
    package let identity: ClientIdentity?
    /// Who decides instead of the transport; nil where the transport validates certificates by itself.
    package let evaluation: Evaluation?
    /// The chains that were accepted, the latest last.
    private let accepted = InlineLocked<[Acceptance]>([])

    package init(identity: ClientIdentity?, evaluation: Evaluation?) {
        self.identity = identity
        self.evaluation = evaluation
    }

    /// Whether it was decided that a host that presents this is the right one. If not, the request must not be sent.
    package func accepts(_ chain: PresentedChain) -> Bool {
        accepted.withLock { $0.contains { $0.chain == chain && $0.end > Date() } }
    }

    /// From now on, new connections to a host that presents this are good: for ten minutes, or until one of the
    /// certificates expires.
    func accept(_ chain: PresentedChain, of trust: ServerTrust) {
        let now = Date()
        let ends = trust.certificates.map(\.notValidAfter).filter { $0 > now }
        let end = min(ends.min() ?? .distantFuture, now + Self.longestAcceptance)
        accepted.withLock { accepted in
            accepted.removeAll { $0.chain == chain || $0.end <= now }
            if accepted.count == Self.acceptedLimit { accepted.removeFirst() }
            accepted.append(Acceptance(chain: chain, end: end))
        }
    }
}

/// What a server presented in a handshake, as it came.
package struct PresentedChain: Sendable, Equatable {
    /// The certificates in DER form, the server's own first.
    package let certificates: [Data]
    /// The OCSP response that was sent along.
    package let stapledOCSPResponse: Data?

    package init(certificates: [Data], stapledOCSPResponse: Data?) {
        self.certificates = certificates
        self.stapledOCSPResponse = stapledOCSPResponse
    }
}

/// Nobody has decided yet on what a server presented: the cause of a ``TransportError`` before the first byte of a request.
package struct UndecidedTrust: Error {
    let chain: PresentedChain
    let authorities: CertificateAuthorities

    package init(_ chain: PresentedChain, authorities: CertificateAuthorities) {
        self.chain = chain
        self.authorities = authorities
    }

    /// For whoever decides.
    ///
    /// - Throws: ``CertificateError`` when the server presented nothing that can be read.
    func trust(ofHost host: String) throws(CertificateError) -> ServerTrust {
        var certificates: [Certificate] = []
        for der in chain.certificates { certificates.append(try Certificate(derEncoded: der)) }
        return ServerTrust(
            host: host, certificates: certificates, stapledOCSPResponse: chain.stapledOCSPResponse,
            authorities: authorities)
    }
}
