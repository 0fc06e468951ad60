package import AfarTrust
package import Foundation
import HTTPTypes

/// The client's identity, and the evaluation of server certificates. A connection belongs to the instance with which it was opened.
package final class ConnectionSecurity: Sendable {
    /// Evaluates the certificates that a server presented, and throws an error to reject them.
    ///
    /// The duration is the longest time to wait before the evaluation starts. If the evaluation can't start within that time, it throws
    /// ``NoTrustDecision``.
    package typealias Evaluation = @Sendable (ServerTrust, _ longestWait: Duration) async throws -> Void

    /// The maximum time for which a chain stays accepted: ten minutes.
    private static let longestAcceptance = Duration.seconds(600)
    /// The maximum number of accepted chains to remember. One host can consist of many machines with different certificates.
    private static let acceptedLimit = 256

    /// The outcome of evaluating a chain.
    package enum Decision: Sendable {
        case accepted
        case refused(any Error)
        /// The request that started the evaluation was canceled.
        case abandoned
    }

    /// The error if the handler cancels the exchange.
    struct Abandonment: Error {}

    private struct State {
        /// The time until which each accepted chain stays accepted.
        var accepted = LeastRecentlyUsed<ContinuousClock.Instant>()
        /// The requests that wait for a pending decision, by chain.
        var waiters: [String: [Deferred<Decision>]] = [:]

        mutating func accepts(_ chain: PresentedChain) -> Bool {
            accepted.value(for: chain.id).map { $0 > .now } ?? false
        }
    }

    /// The role of a request in the decision about a chain.
    private enum Role { case none, decides, waits }

    /// The identity that the client presents if the server requests one.
    package let identity: ClientIdentity?
    /// Replaces the transport's validation of certificates; nil if the transport validates them.
    package let evaluation: Evaluation?
    private let state = InlineLocked(State())

    package init(identity: ClientIdentity?, evaluation: Evaluation?) {
        self.identity = identity
        self.evaluation = evaluation
    }

    /// Returns whether the chain has been accepted. If it hasn't, don't send the request.
    package func accepts(_ chain: PresentedChain) -> Bool {
        state.withLock { $0.accepts(chain) }
    }

    /// Decides whether to trust the certificates of a host.
    ///
    /// - Parameters:
    ///   - handler: A handler that decides before the evaluation; nil for none.
    ///   - limit: The total time limit for the decision.
    ///   - longestWait: The longest time to wait for a thread that runs the evaluation.
    package func decide(
        on undecided: UndecidedTrust, ofHost host: String, port: Int, handler: ServerTrustHandler?,
        within limit: Duration, waitingAtMost longestWait: Duration
    ) async -> Decision {
        let late = NoTrustDecision(
            .timedOut, "evaluating the server's certificates took longer than the total timeout allows")
        return await withCancellableTask(ifCancelled: .abandoned, timeout: (limit, { .refused(late) })) { [self] in
            await decide(on: undecided, ofHost: host, port: port, handler: handler, waitingAtMost: longestWait)
        }
    }

    private func decide(
        on undecided: UndecidedTrust, ofHost host: String, port: Int, handler: ServerTrustHandler?,
        waitingAtMost longestWait: Duration
    ) async -> Decision {
        await decide(on: undecided.chain) {
            do {
                let trust = try undecided.trust(ofHost: host)
                switch await handler?(trust, port) ?? .evaluate {
                case .evaluate: try await evaluation?(trust, longestWait)
                case .trust: break
                case .refuse: throw Problem("the certificates were refused")
                case .cancel: throw Abandonment()
                }
                return .success(trust)
            } catch {
                return .failure(error)
            }
        }
    }

    /// Decides whether to trust a chain. Other requests that receive the same chain wait for this decision.
    func decide(on chain: PresentedChain, by decide: () async -> Result<ServerTrust, any Error>) async -> Decision {
        while true {
            let answer = Deferred<Decision>()
            // Use a single critical section. Otherwise, another request could accept the chain in between.
            let role = state.withLock { state -> Role in
                if state.accepts(chain) { return .none }
                guard state.waiters[chain.id] != nil else {
                    state.waiters[chain.id] = []
                    return .decides
                }
                state.waiters[chain.id]?.append(answer)
                return .waits
            }
            switch role {
            case .none: return .accepted
            case .decides: return end(await decide(), about: chain)
            case .waits: break
            }
            let decision = await answer.value(ifCancelled: .abandoned)
            guard case .abandoned = decision else { return decision }
            guard Task.isCancelled else { continue }
            state.withLock { $0.waiters[chain.id]?.removeAll { $0 === answer } }
            return decision
        }
    }

    private func end(_ result: Result<ServerTrust, any Error>, about chain: PresentedChain) -> Decision {
        let decision: Decision =
            switch result {
            case .success: .accepted
            case .failure(let error):
                error is Abandonment || error is CancellationError && Task.isCancelled ? .abandoned : .refused(error)
            }
        let waiters = state.withLock { state in
            if case .success(let trust) = result { Self.note(chain, of: trust, in: &state.accepted) }
            return state.waiters.removeValue(forKey: chain.id) ?? []
        }
        // Without a decision, the waiting requests try again, because they have their own timeouts.
        let isUndecided = if case .failure(let error) = result { error is NoTrustDecision } else { false }
        for waiter in waiters { waiter.fulfill(isUndecided ? .abandoned : decision) }
        return decision
    }

    /// Accepts the chain for new connections until ten minutes have passed or one of its certificates expires.
    private static func note(
        _ chain: PresentedChain, of trust: ServerTrust, in accepted: inout LeastRecentlyUsed<ContinuousClock.Instant>
    ) {
        let rests = trust.certificates.map(\.notValidAfter.timeIntervalSinceNow).filter { $0 > 0 }
        let rest = rests.min().map { Duration.seconds($0) } ?? longestAcceptance
        let end = ContinuousClock.now + min(longestAcceptance, rest)
        _ = accepted.set(end, cost: 1, for: chain.id)
        if accepted.count > acceptedLimit { _ = accepted.removeLeast() }
    }
}

/// An error that indicates that no decision was made about a server's certificates.
package struct NoTrustDecision: Error, CustomStringConvertible {
    package let code: TransportError.Code
    package let description: String

    package init(_ code: TransportError.Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }
}

extension ServerTrustError.Code {
    package var transportCode: TransportError.Code {
        switch self {
        case .expired: .certificateHasBadDate
        case .notYetValid: .certificateNotYetValid
        case .selfSigned, .unknownAuthority: .certificateHasUnknownRoot
        default: .certificateUntrusted
        }
    }
}

/// The certificates that a server presented in a handshake, as received.
package struct PresentedChain: Sendable {
    /// The certificates in DER form, the server's own first.
    package let certificates: [Data]
    /// The stapled OCSP response. It isn't part of ``id``, because servers renew the response often, and the machines of a host renew it at
    /// different times.
    package let stapledOCSPResponse: Data?
    /// Identifies the chain: a hash of the certificates, or the certificates themselves if the hash can't be computed.
    package let id: String

    package init(certificates: [Data], stapledOCSPResponse: Data?) {
        self.certificates = certificates
        self.stapledOCSPResponse = stapledOCSPResponse
        id = Self.hash(of: certificates) ?? certificates.map { $0.base64EncodedString() + "." }.joined()
    }

    private static func hash(of certificates: [Data]) -> String? {
        guard var hash = IncrementalHash(.sha256) else { return nil }
        for certificate in certificates {
            withUnsafeBytes(of: certificate.count) { hash.update($0) }
            certificate.withUnsafeBytes { hash.update($0) }
        }
        return hash.finalize()?.hexDigits
    }
}

/// An error that indicates that a server's certificates haven't been evaluated yet.
///
/// A transport that can't wait for the decision throws a ``TransportError`` with this cause before it sends the first byte of a request.
package struct UndecidedTrust: Error {
    package let chain: PresentedChain
    let authorities: CertificateAuthorities

    package init(_ chain: PresentedChain, authorities: CertificateAuthorities) {
        self.chain = chain
        self.authorities = authorities
    }

    /// Returns the certificates in the form that handlers and evaluations receive.
    ///
    /// - Throws: ``CertificateError`` if the server presented an unreadable certificate.
    package func trust(ofHost host: String) throws(CertificateError) -> ServerTrust {
        var certificates: [Certificate] = []
        for der in chain.certificates { certificates.append(try Certificate(derEncoded: der)) }
        return ServerTrust(
            host: host, certificates: certificates, stapledOCSPResponse: chain.stapledOCSPResponse,
            authorities: authorities)
    }
}

/// A handler's decision about a server's certificates.
package enum ServerTrustAnswer: Sendable {
    case evaluate
    case trust
    case refuse
    /// Cancels the exchange.
    case cancel
}

/// Decides whether to trust a server's certificates, before they are evaluated.
package typealias ServerTrustHandler = @Sendable (ServerTrust, _ port: Int) async -> ServerTrustAnswer

/// The handler of an exchange. It often retains the request.
package enum ServerTrustHandlerKey: ExchangeContextKey {
    package static let defaultValue: ServerTrustHandler? = nil
}

extension Hop {
    /// Decides whether to trust the certificates that a server presented.
    ///
    /// - Parameters:
    ///   - undecided: The certificates.
    ///   - security: Evaluates the certificates.
    ///   - longestWait: The longest time to wait for a thread that runs the evaluation; nil for the shortest of the exchange's timeouts.
    /// - Returns: The reason why the certificates were rejected; nil if they were accepted.
    package func refusal(
        of undecided: UndecidedTrust, under security: ConnectionSecurity, waitingAtMost longestWait: Duration? = nil
    ) async -> Fault? {
        let authority = exchange.request.authority ?? ""
        let decision = await security.decide(
            on: undecided, ofHost: HostName(ofAuthority: authority).text,
            port: HostName.port(ofAuthority: authority) ?? 443, handler: exchange.context[ServerTrustHandlerKey.self],
            within: timeLeft, waitingAtMost: min(timeLeft, longestWait ?? exchange.options.longestWait))
        return switch decision {
        case .accepted: nil
        case .refused(let cause as NoTrustDecision): Fault(cause.code, cause.description)
        case .refused(let cause): Fault(.certificateUntrusted, "the server is not trusted", underlying: cause)
        case .abandoned: .cancelled
        }
    }
}

/// The TLS settings of a transport, shared by all of its threads.
package final class TLSSettings: Sendable {
    package let authorities: CertificateAuthorities
    /// The ciphers for TLS 1.2 as an OpenSSL list; nil for OpenSSL's defaults.
    package let cipherList: String?
    /// The cipher suites for TLS 1.3; nil for OpenSSL's defaults.
    package let tls13CipherSuites: String?
    package let keyLog: KeyLog?

    package init(
        authorities: CertificateAuthorities, cipherList: String?, tls13CipherSuites: String?, keyLogFile: URL?
    ) {
        (self.authorities, self.cipherList, self.tls13CipherSuites) = (authorities, cipherList, tls13CipherSuites)
        keyLog = keyLogFile.map { KeyLog(file: $0) }
    }

    /// Throws an error if connections can't be secured according to the settings.
    package func check() throws(Fault) {
        guard let keyLog, keyLog.descriptor < 0 else { return }
        throw Fault(
            .invalidUse,
            "the file for TLS keys, \(keyLog.file.path), cannot be written: it must be a regular file that belongs to this "
                + "user and that no other user can read",
            systemError: keyLog.systemError)
    }
}

/// A file to which the secrets of TLS handshakes are appended, in the format that Wireshark reads.
package final class KeyLog: Sendable {
    package let file: URL
    /// Negative if the file could not be opened.
    package let descriptor: Int32
    package let systemError: Int32

    init(file: URL) {
        self.file = file
        // Nonblocking, because opening a pipe without a reader would block.
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let opened = open(file.path, flags, 0o600)
        let error = opened < 0 ? errno : 0
        guard opened >= 0, !Self.isPrivate(opened) else {
            (descriptor, systemError) = (opened, error)
            return
        }
        close(opened)
        (descriptor, systemError) = (-1, EPERM)
    }

    /// Returns whether the file is a regular file that belongs to this user, and that no other user can read or write.
    private static func isPrivate(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
