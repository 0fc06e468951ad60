#if StructuredFields
    import AfarKeys
    public import AfarTransport
    import Foundation
    public import HTTPTypes

    /// A transport that verifies the signatures of all responses of another transport, and the digests of their bodies.
    ///
    /// ```swift
    /// let transport = VerifyingTransport(around: HTTPTransport(), verifier)
    /// let session = Session(transport: transport)
    /// ```
    ///
    /// Each response, including redirects and errors, is verified when its head has arrived, before its body is used. If the verifier
    /// requires `content-digest`, or the accepted signature covers it, the body is compared with its digest. A body in memory or in a file
    /// is compared before the request completes, and a stream at its end. If a response isn't accepted, its request fails with a
    /// ``TransportError`` whose ``TransportError/underlying`` error is a ``MessageSignatureError``. If the body was written to a file, the
    /// transport then empties this file. It also empties the file if the transfer is interrupted, because only the digest of the whole
    /// response protects the file. For the same reason, downloads aren't resumed.
    ///
    /// A digest covers the body with its content coding, so the transport requests bodies without a coding
    /// (`Accept-Encoding: identity`). A body with a coding is refused if the signature covers its digest.
    /// WebSockets and raw connections aren't verified.
    public struct VerifyingTransport: Transport {
        private let base: any Transport
        private let verifier: MessageVerifier
        private let verifies: @Sendable (HTTPRequest) -> Bool

        /// Creates a transport.
        ///
        /// - Parameters:
        ///   - base: The transport that performs the exchanges.
        ///   - verifier: The requirements.
        ///   - verifies: Returns whether to verify the response to a request. The default verifies all responses. The closure must return
        ///     quickly, and can be called on any thread.
        public init(
            around base: any Transport, _ verifier: MessageVerifier,
            verifies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
        ) {
            (self.base, self.verifier, self.verifies) = (base, verifier, verifies)
        }

        /// The capabilities of the base transport.
        public var capabilities: TransportCapabilities { base.capabilities }
        /// The connections of the base transport.
        public var connectionStatistics: ConnectionStatistics? { get async { await base.connectionStatistics } }

        /// Closes idle connections of the base transport.
        public func closeIdleConnections() { base.closeIdleConnections() }

        /// Performs an exchange with the base transport, and verifies its response.
        public func send(_ exchange: Exchange) async throws -> TransportResponse {
            if case .connection = exchange.delivery { return try await base.send(exchange) }
            guard verifies(exchange.request) else { return try await base.send(exchange) }
            let verification = Verification(exchange, verifier)
            do {
                let response = try await base.send(verification.exchange)
                return try await verification.verify(response)
            } catch {
                verification.emptyFile()
                throw verification.failure(replacing: error)
            }
        }
    }

    private final class Verification: Sendable {
        private struct State {
            /// Whether the head has been verified; nil if it hasn't arrived.
            var result: Result<SignatureParameters, MessageSignatureError>?
            /// The head to which the result belongs.
            var head: ResponseHead?
            /// The error of the body.
            var bodyError: MessageSignatureError?
            var isDiscarded = false
            var file: (descriptor: Int32, start: off_t)?
        }

        private let original: Exchange
        private let verifier: MessageVerifier
        private let request: HTTPRequest
        private let state = Locked(State())

        init(_ exchange: Exchange, _ verifier: MessageVerifier) {
            var exchange = exchange
            if exchange.request.headerFields[.acceptEncoding] == nil {
                exchange.request.headerFields[.acceptEncoding] = "identity"
            }
            (original, self.verifier, request) = (exchange, verifier, exchange.completeRequest)
            if case .file(let descriptor, _) = exchange.delivery { note(descriptor) }
        }

        /// The exchange for the base transport.
        var exchange: Exchange {
            var exchange = original
            exchange.observer = original.observer.map(HeadlessObserver.init)
            exchange.decide = { [self] head in
                let pending = PendingHeadDecision()
                Task { [self] in
                    do throws(MessageSignatureError) {
                        try await verify(head)
                        original.observer?.exchangeDidReceiveHead(head)
                        pending.fulfill(decide(on: head))
                    } catch {
                        pending.fulfill(.refuse(error))
                    }
                }
                return .deferred(pending)
            }
            return exchange
        }

        // MARK: The head

        private func verify(_ head: ResponseHead) async throws(MessageSignatureError) {
            do throws(MessageSignatureError) {
                let parameters = try await verifier.verify(head, to: request, at: original.options.timeSource.now)
                state.withLock { ($0.result, $0.head) = (.success(parameters), head) }
                try checkCoding(of: head, parameters)
            } catch {
                state.withLock { ($0.result, $0.head) = (.failure(error), head) }
                throw error
            }
        }

        private func checkCoding(of head: ResponseHead, _ parameters: SignatureParameters) throws(MessageSignatureError)
        {
            guard hasContentDigest(parameters), hasContent(head) else { return }
            _ = try ContentCheck(contentDigestIn: head.fields, coveredBy: parameters.components)
            let codings = head.values(for: .contentEncoding).joined(separator: ",").lowercased()
            guard codings.isEmpty || codings == "identity" else {
                throw MessageSignatureError(
                    "the body has a content coding, so its Content-Digest can't be verified: request identity")
            }
        }

        private func hasContentDigest(_ parameters: SignatureParameters) -> Bool {
            parameters.components.contains { $0.isContentDigest }
        }

        private func hasContent(_ head: ResponseHead) -> Bool { request.method != .head && head.status != 304 }

        /// Returns the decision of the session, and records the file for the body.
        private func decide(on head: ResponseHead) -> HeadDecision {
            let decision = original.decide?(head) ?? .take()
            if case .deferred(let pending) = decision {
                pending.whenDecided { [self] in note($0) }
            } else {
                note(decision)
            }
            return decision
        }

        private func note(_ decision: HeadDecision) {
            switch decision {
            case .take(.file(let descriptor, _)): note(descriptor)
            case .discard, .refuse: state.withLock { $0.isDiscarded = true }
            // The session can have emptied the file.
            case .take: if case .file(let descriptor, _) = original.delivery { note(descriptor) }
            case .deferred: break
            }
        }

        private func note(_ descriptor: Int32) {
            let start = lseek(descriptor, 0, SEEK_CUR)
            state.withLock { $0.file = (descriptor, max(0, start)) }
        }

        // MARK: The body

        func verify(_ response: TransportResponse) async throws -> TransportResponse {
            let isVerified = state.withLock { $0.head.map { $0.isSame(as: response.head) } ?? false }
            // If the base transport didn't call `decide`, or called it for another response, this head hasn't been verified.
            if !isVerified { try await verify(response.head) }
            guard let parameters = try state.withLock({ $0.result })?.get(), hasContentDigest(parameters),
                hasContent(response.head), !state.withLock({ $0.isDiscarded })
            else { return response }
            let check = Check(
                try ContentCheck(contentDigestIn: response.head.fields, coveredBy: parameters.components))
            var response = response
            do throws(MessageSignatureError) {
                switch response.body {
                case .connection: break
                case .data(let data):
                    check.update(data)
                    try check.finish()
                case .file(let count):
                    try read(count, into: check)
                    try check.finish()
                case .stream(let stream): response.body = .stream(verified(stream, check))
                }
            } catch {
                state.withLock { $0.bodyError = error }
                throw error
            }
            return response
        }

        /// Reads back the bytes that were written to the file.
        private func read(_ count: Int64, into check: Check) throws(MessageSignatureError) {
            let file = state.withLock { $0.file }
            guard let file, file.start == 0 else {
                throw MessageSignatureError("a resumed download can't be verified, so it must start again")
            }
            var buffer = [UInt8](repeating: 0, count: 256 * 1024)
            var offset: Int64 = 0
            while offset < count {
                let length = min(buffer.count, Int(clamping: count - offset))
                let read = pread(file.descriptor, &buffer, length, off_t(offset))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { throw MessageSignatureError("the file couldn't be read for its verification") }
                check.update(Data(buffer.prefix(read)))
                offset += Int64(read)
            }
        }

        /// Removes bytes that weren't verified, so that they can't become the first part of a resumed download.
        func emptyFile() {
            let (file, result) = state.withLock { ($0.file, $0.result) }
            let hasDigest = (try? result?.get()).map(hasContentDigest) ?? verifier.requiresContentDigest
            guard let file, hasDigest else { return }
            guard ftruncate(file.descriptor, file.start) == 0 else { return }
            lseek(file.descriptor, file.start, SEEK_SET)
        }

        /// Returns a stream of the same chunks, which fails at its end if the digest doesn't match.
        private func verified(_ stream: ResponseBodyStream, _ check: Check) -> ResponseBodyStream {
            let demand = Demand()
            let highWaterMark = if case .stream(let mark) = original.delivery { mark } else { 256 * 1024 }
            let pump = PumpTask()
            let (verified, source) = ResponseBodyStream.make(
                highWaterMark: highWaterMark, onDemand: { demand.signal() },
                onCancel: {
                    stream.cancel()
                    pump.cancel()
                    demand.signal()
                })
            let url = original.url
            pump.run {
                var failure: TransportError?
                do {
                    for try await chunk in stream {
                        check.update(chunk)
                        source.yield(chunk)
                        while source.isFull, !Task.isCancelled { await demand.wait() }
                    }
                    try check.finish()
                } catch let error as MessageSignatureError {
                    failure = TransportError(signature: error, url: url)
                } catch {
                    failure =
                        error as? TransportError
                        ?? TransportError(
                            .unknown, phase: .receiving, url: url, message: "the body couldn't be read",
                            underlying: error)
                }
                source.finish(throwing: failure, report: await stream.report())
            }
            return verified
        }

        /// Returns the verification's error if the verification failed, otherwise `error`.
        func failure(replacing error: any Error) -> any Error {
            let problem = state.withLock { state -> MessageSignatureError? in
                if case .failure(let error)? = state.result { return error }
                return state.bodyError
            }
            guard let problem else { return error }
            var failure = TransportError(signature: problem, url: original.url)
            if let report = (error as? TransportError)?.report { failure.report = report }
            return failure
        }
    }

    extension ResponseHead {
        fileprivate func isSame(as other: ResponseHead) -> Bool {
            self === other || status == other.status && fields == other.fields
        }
    }

    extension TransportError {
        fileprivate init(signature error: MessageSignatureError, url: String) {
            self.init(
                .unknown, phase: .receiving, url: url, message: "the response's signature isn't accepted",
                underlying: error)
        }
    }

    /// Forwards all events except the final head, which is reported after its verification.
    private final class HeadlessObserver: ExchangeObserver {
        private let observer: any ExchangeObserver

        init(_ observer: any ExchangeObserver) { self.observer = observer }

        func exchangeDidReceiveInformational(_ head: ResponseHead) { observer.exchangeDidReceiveInformational(head) }
        func exchangeDidSend(bytes: Int64, expected: Int64?) {
            observer.exchangeDidSend(bytes: bytes, expected: expected)
        }
        func exchangeDidReceive(bytes: Int64, expected: Int64?) {
            observer.exchangeDidReceive(bytes: bytes, expected: expected)
        }
        func exchangeWillFollow(_ redirect: Redirect) { observer.exchangeWillFollow(redirect) }
        func exchangeWillAnswerChallenge(in head: ResponseHead) { observer.exchangeWillAnswerChallenge(in: head) }
        func exchangeIsWaitingForConnectivity() { observer.exchangeIsWaitingForConnectivity() }
    }

    /// A check that moves between the threads of one task.
    private struct Check: @unchecked Sendable {
        // Sendable because only one task uses it.
        private let check: ContentCheck

        init(_ check: ContentCheck) { self.check = check }

        func update(_ bytes: Data) { check.update(bytes) }
        func finish() throws(MessageSignatureError) { try check.finish() }
    }

    /// A task that can be canceled before it is started.
    private final class PumpTask: Sendable {
        private let state = Locked<(task: Task<Void, Never>?, isCancelled: Bool)>((nil, false))

        func run(_ work: @escaping @Sendable () async -> Void) {
            let task = Task { await work() }
            let isCancelled = state.withLock { state in
                state.task = task
                return state.isCancelled
            }
            if isCancelled { task.cancel() }
        }

        func cancel() {
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }
    }

    /// A signal for one waiting task. A signal that arrives before the wait is kept.
    private final class Demand: Sendable {
        private struct State {
            var isSignaled = false
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let state = Locked(State())

        func signal() {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.isSignaled = state.waiter == nil
                return state.waiter.take()
            }
            waiter?.resume()
        }

        func wait() async {
            await withCheckedContinuation { continuation in
                let isSignaled = state.withLock { state in
                    if !state.isSignaled { state.waiter = continuation }
                    defer { state.isSignaled = false }
                    return state.isSignaled
                }
                if isSignaled { continuation.resume() }
            }
        }
    }
#endif
