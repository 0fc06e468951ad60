import AfarTransport
import COpenSSL

/// A TLS session that a server offered for resumption.
final class TLSSession {
    let raw: OpaquePointer
    /// The certificates that an evaluator has accepted; nil without an evaluator.
    let chain: PresentedChain?
    /// When the session expires, in nanoseconds of ``MonotonicClock``.
    let expiry: UInt64

    /// The maximum lifetime of a session, in seconds. Afterward, the certificates are validated again.
    private static let longestUse = 3_600

    /// - Parameters:
    ///   - raw: An OpenSSL session. The new object takes ownership of its reference.
    ///   - chain: The certificates that an evaluator has accepted; nil without an evaluator.
    ///   - earlier: The session that was resumed when the server offered the new one. Its expiry also limits the new session,
    ///     because the certificates haven't been validated since.
    init(_ raw: OpaquePointer, _ chain: PresentedChain?, renewing earlier: TLSSession?) {
        (self.raw, self.chain) = (raw, chain)
        var (days, rest): (Int32, Int32) = (0, 0)
        let certificate = SSL_SESSION_get0_peer(raw)
        let isDated = ASN1_TIME_diff(&days, &rest, nil, certificate.flatMap { X509_get0_notAfter($0) }) == 1
        let validity = isDated ? Int(days) * 86_400 + Int(rest) : 0
        let seconds = min(max(0, validity), max(0, SSL_SESSION_get_timeout(raw)), Self.longestUse)
        let end = MonotonicClock.now + UInt64(seconds) * 1_000_000_000
        expiry = earlier.map { min($0.expiry, end) } ?? end
    }

    deinit { SSL_SESSION_free(raw) }

    /// Whether a server can resume the session. This requires an identifier or a ticket.
    var isResumable: Bool { SSL_SESSION_is_resumable(raw) == 1 }
}

/// The sessions that can be resumed, oldest first. Their number is limited. Each session is used once (RFC 8446, appendix C.4).
/// Only the thread of a loop uses this value.
struct TLSSessions {
    private static let limit = 128
    private static let limitPerKey = 4

    private var entries: [(key: ConnectionKey, session: TLSSession)] = []

    mutating func add(_ session: TLSSession, for key: ConnectionKey) {
        guard session.isResumable else { return }
        let own = entries.indices.filter { entries[$0].key == key }
        if own.count >= Self.limitPerKey, let oldest = own.first {
            entries.remove(at: oldest)
        } else if entries.count >= Self.limit {
            entries.removeFirst()
        }
        entries.append((key, session))
    }

    /// Removes and returns the latest session, if its certificates are still accepted.
    mutating func take(for key: ConnectionKey, at now: UInt64) -> TLSSession? {
        entries.removeAll { $0.session.expiry <= now }
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return nil }
        let session = entries.remove(at: index).session
        // If the evaluator must decide again, don't resume: a resumed handshake has no OCSP response for the evaluator.
        if let security = key.security?.settings, let chain = session.chain, !security.accepts(chain) {
            entries.removeAll { $0.key == key }
            return nil
        }
        return session
    }

    mutating func removeAll() { entries = [] }
}
