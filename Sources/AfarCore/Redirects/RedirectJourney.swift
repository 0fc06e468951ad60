import Foundation

/// One exchange on its way from redirect to redirect.
struct RedirectJourney {
    /// What is sent next.
    private(set) var exchange: Exchange
    private let policy: RedirectPolicy
    private let rules: RedirectRules
    private let begun: ContinuousClock.Instant
    private let totalTimeout: TimeInterval
    private var report = TransportReport()
    /// Whether it has led to another origin.
    private var hasLeft = false

    init(_ exchange: Exchange, rules: RedirectRules, begun: ContinuousClock.Instant) {
        self.exchange = exchange
        self.rules = rules
        self.begun = begun
        policy = exchange.context[RedirectPolicyKey.self]
        totalTimeout = exchange.options.totalTimeout
        // Whoever is asked holds the request, and nobody below asks.
        if case .follow = policy { return }
        self.exchange.context[RedirectPolicyKey.self] = .follow
    }

    var mayFollow: Bool {
        if case .doNotFollow = policy { false } else { true }
    }

    /// What keeps the response to the next request from those who wait for the last one; nil when nobody does.
    func heldResponse() -> HeldResponse? {
        let isAsked = if case .ask = policy { true } else { false }
        return HeldResponse(exchange) { head in
            guard head.isRedirect else { return .final }
            return isAsked ? .undecided : .dropped
        }
    }

    /// Takes a response. Returns it when it is the last one; else makes the next request ready.
    ///
    /// - Parameter held: What keeps it from those who wait.
    mutating func take(_ response: TransportResponse, _ held: HeldResponse?) async throws -> TransportResponse? {
        guard response.head.isRedirect else { return joined(response) }
        let next: Exchange
        let url: URL
        do {
            guard let proposal = try await decide(response.head) else {
                try held?.release(response)
                return joined(response)
            }
            url = proposal.url
            next = try follow(proposal)
        } catch {
            report.append(await response.discarded(readingUpTo: 0))
            throw ended(by: error)
        }
        held?.letGo()
        report.append(await response.discarded(readingUpTo: HeldResponse.longestBodyToSkip))
        let redirect = Redirect(response: response.head, request: next.request, url: url, body: next.body)
        report.redirects.append(redirect)
        hasLeft = hasLeft || Origin(next.request) != Origin(exchange.request)
        exchange = next
        try grantRemainingTime()
        exchange.observer?.exchangeWillFollow(redirect)
        return nil
    }

    private func decide(_ head: ResponseHead) async throws -> RedirectProposal? {
        let proposal = try rules.proposal(after: head, to: exchange)
        guard case .ask(let decide) = policy else { return proposal }
        let decision: RedirectProposal?
        do {
            decision = try await decide(proposal)
        } catch {
            throw TransportError(
                .invalidRedirect, phase: .receiving, url: exchange.url,
                message: "what the redirect handler wants to send cannot be sent", underlying: error)
        }
        guard !Task.isCancelled else {
            throw TransportError(
                .cancelled, phase: .receiving, url: exchange.url, message: "cancelled while a redirect was decided on")
        }
        return decision
    }

    private func follow(_ proposal: RedirectProposal) throws(TransportError) -> Exchange {
        guard report.redirects.count < rules.maximum else {
            throw TransportError(
                .tooManyRedirects, phase: .receiving, url: exchange.url,
                message: "more than \(rules.maximum) redirects, the last one to "
                    + "\(Redaction.standard.url(proposal.url.absoluteString).prefix(1_000))")
        }
        return try rules.exchange(after: proposal, to: exchange, hasLeft: hasLeft)
    }

    /// The total timeout is for all hops together.
    private mutating func grantRemainingTime() throws {
        let remaining = totalTimeout - (ContinuousClock.now - begun) / .seconds(1)
        guard remaining > 0 else {
            throw ended(
                by: TransportError(
                    .timedOut, phase: .queued, url: exchange.url,
                    message: "the total timeout of \(totalTimeout) s passed after \(report.redirects.count) redirects"))
        }
        exchange.options.totalTimeout = remaining
    }

    private func joined(_ response: TransportResponse) -> TransportResponse {
        report.transactions.isEmpty && report.redirects.isEmpty ? response : response.preceded(by: report)
    }

    /// An error, with the report of all that was sent.
    func ended(by error: any Error) -> any Error { report.followed(by: error) }
}
