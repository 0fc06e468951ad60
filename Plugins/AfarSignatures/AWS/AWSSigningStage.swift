import AfarKeys
public import AfarTransport
import Foundation
public import HTTPTypes

/// A stage that signs each request of a session with AWS Signature Version 4.
///
/// ```swift
/// let signing = AWSSigningStage(AWSSigner(region: "us-east-1", service: "s3"), credentials: credentials)
/// let session = Session(stages: [signing])
/// ```
///
/// Pass it as the last stage, so that its signatures cover the changes of the other stages. Each attempt is signed: retries, redirects to
/// the same origin, and responses to challenges. After a redirect to another origin, requests aren't signed and don't receive the session
/// token. Requests that have an `Authorization` field or a presigned URL aren't signed either.
///
/// The stage corrects its clock for a server if the server refuses a request (status 400, 401 or 403), and the response's `Date` differs
/// from the time of the signature by more than 5 minutes. The stage then sends the request again, once. It doesn't repeat a request whose
/// body is a stream that can't be read again. Corrections of more than a day are ignored. Copies of a stage share the corrections. The time
/// comes from ``ExchangeOptions/timeSource``.
public struct AWSSigningStage: ExchangeStage {
    /// How the body of a request is signed.
    public enum Body: Sendable, Hashable {
        /// The body is signed as a whole, so a stream must be repeatable. With S3's rules, streams are sent in signed chunks instead.
        case automatic
        /// The body isn't signed (`UNSIGNED-PAYLOAD`). Some services accept this over TLS. Over http, requests with a body fail unless they
        /// stay on this machine, because anyone could change the body on the way.
        case unsigned
        /// The body is sent in chunks with signatures (`STREAMING-AWS4-HMAC-SHA256-PAYLOAD`), optionally followed by a checksum in a
        /// signed trailer. For S3. The length of a stream must be known.
        case signedChunks(checksum: AWSChecksum? = nil)
        /// The body is sent in chunks without signatures, followed by a checksum (`STREAMING-UNSIGNED-PAYLOAD-TRAILER`). For S3. Over
        /// http, the rule of ``unsigned`` applies.
        case unsignedChunks(checksum: AWSChecksum)
    }

    private static let longestBody: Int64 = 1 << 50

    private let signer: AWSSigner
    private let body: Body
    private let credentials: @Sendable (_ date: Date) async throws -> AWSCredentials
    private let signs: @Sendable (HTTPRequest) -> Bool
    private let clock = ClockCorrection()

    /// Creates a stage that uses the same credentials for all requests.
    ///
    /// - Parameters:
    ///   - signer: The region, the service and its rules.
    ///   - credentials: The credentials.
    ///   - body: How bodies are signed. The default is ``Body/automatic``.
    ///   - signs: Returns whether to sign a request. Use it if the session also sends requests to other hosts, because signed requests
    ///     contain the session token. The default signs all requests. The closure must return quickly, and can be called on any thread.
    public init(
        _ signer: AWSSigner, credentials: AWSCredentials, body: Body = .automatic,
        signs: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        (self.signer, self.body, self.signs) = (signer, body, signs)
        self.credentials = { _ in credentials }
    }

    /// Creates a stage that requests credentials from a closure, for example temporary credentials.
    ///
    /// - Parameters:
    ///   - signer: The region, the service and its rules.
    ///   - body: How bodies are signed. The default is ``Body/automatic``.
    ///   - signs: Returns whether to sign a request, as in ``init(_:credentials:body:signs:)``.
    ///   - credentials: Returns the credentials. Copies of the stage store them until five minutes before their
    ///     ``AWSCredentials/expiration``. Without an expiration, the closure is called for each signature. Signatures that need credentials
    ///     at the same time share one call. The call is canceled if all these requests are canceled. If the closure throws an error, these
    ///     requests fail with an ``AWSSigningError``.
    public init(
        _ signer: AWSSigner, body: Body = .automatic, signs: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true },
        credentials: @escaping @Sendable () async throws -> AWSCredentials
    ) {
        (self.signer, self.body, self.signs) = (signer, body, signs)
        let cache = AWSCredentialCache(credentials)
        self.credentials = { try await cache.credentials(at: $0) }
    }

    /// Returns the ``StageRun`` that signs the requests of an exchange.
    public func begin(_ hop: Hop) -> (any StageRun)? { Run(self) }

    // MARK: Signing

    private func signed(_ exchange: Exchange, at date: Date) async -> RequestAction {
        do {
            // The local clock determines whether credentials have expired, because any server can send a wrong date.
            let now = exchange.options.timeSource.now
            let credentials: AWSCredentials
            do { credentials = try await self.credentials(now) } catch {
                return .fail(AWSSigningError("there are no credentials", because: error))
            }
            try credentials.checkExpiration(at: now)
            return .change(try await signed(exchange, with: credentials, at: date))
        } catch let error as AWSSigningError {
            return .fail(error)
        } catch {
            return .fail(AWSSigningError("the body can't be read", because: error))
        }
    }

    private func signed(_ exchange: Exchange, with credentials: AWSCredentials, at date: Date) async throws -> Exchange
    {
        var exchange = exchange
        let own = exchange.request.headerFields
        // Default fields are also sent, so the signature covers them. They become fields of the request only for the signature.
        var request = exchange.request
        request.headerFields = exchange.fields
        if !exchange.body.isNone, !signsBody, !exchange.isProtected {
            throw AWSSigningError("anyone could change an unsigned body without TLS: use https, or sign the body")
        }
        var chunks: (coding: AWSChunkedBody, length: Int64)?
        let payload: String
        if let coding = chunkedBody(for: exchange.body) {
            guard let length = exchange.body.length, length <= Self.longestBody else {
                throw AWSSigningError("a body in signed chunks must have a known length of at most 1 PiB")
            }
            if case .stream(let stream) = exchange.body, stream.trailers != nil || stream.isDuplex {
                throw AWSSigningError("a body in signed chunks can't have trailer fields or depend on the response")
            }
            chunks = (coding, length)
            payload = coding.constant
            let others = request.headerFields[.contentEncoding].map { ",\($0)" } ?? ""
            request.headerFields[.contentEncoding] = "aws-chunked\(others)"
            request.headerFields.set("X-Amz-Decoded-Content-Length", to: String(length))
            request.headerFields.set("X-Amz-Trailer", to: coding.checksum?.rawValue)
        } else {
            payload = try await hash(of: exchange.body)
        }
        // The transport determines these fields.
        request.headerFields[.contentLength] = nil
        let signature = try signer.signature(
            of: request, payload: payload, sendsPayload: payload.contains("PAYLOAD"), credentials, date)
        let defaults = exchange.options.defaultFields.fields
        exchange.request.headerFields = signature.request.headerFields.filter {
            own.contains($0.name) || defaults[$0.name] != $0.value
        }
        if let (coding, length) = chunks {
            exchange.body = coding.encode(
                exchange.body, length: length, key: signature.key, seed: signature.text)
        }
        return exchange
    }

    private var signsBody: Bool {
        switch body {
        case .automatic, .signedChunks: true
        case .unsigned, .unsignedChunks: false
        }
    }

    private func chunkedBody(for body: RequestBody) -> AWSChunkedBody? {
        guard !body.isNone else { return nil }
        switch self.body {
        case .automatic:
            guard case .stream = body, signer.usesS3Rules else { return nil }
            return AWSChunkedBody(isSigned: true, checksum: nil)
        case .unsigned: return nil
        case .signedChunks(let checksum): return AWSChunkedBody(isSigned: true, checksum: checksum)
        case .unsignedChunks(let checksum): return AWSChunkedBody(isSigned: false, checksum: checksum)
        }
    }

    private func hash(of body: RequestBody) async throws -> String {
        if case .unsigned = self.body { return try AWSSigner.Payload.unsigned.text() }
        guard body.canBeHashed else {
            throw AWSSigningError(
                "a signature can't cover a stream that is read only once: use a file or bytes, or don't sign the body (unsigned)"
            )
        }
        return try await body.hash(with: .sha256).hexDigits
    }

    // MARK: Exchanges

    private final class Run: StageRun {
        private struct State {
            /// The clock correction for the last request's signature.
            var correction: Duration = .zero
            var isSigned = false
            var wantsCorrection = false
            var hasCorrected = false
        }

        private let stage: AWSSigningStage
        private let state = Locked(State())

        init(_ stage: AWSSigningStage) { self.stage = stage }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            let exchange = hop.exchange
            let isSigned =
                !hop.hasLeftOrigin && !exchange.fields.contains(.authorization) && !exchange.request.isPresigned
                && stage.signs(exchange.request)
            let correction = stage.clock.correction(for: exchange.request)
            state.withLock { state in
                (state.isSigned, state.correction) = (isSigned, correction)
                if state.wantsCorrection { (state.wantsCorrection, state.hasCorrected) = (false, true) }
            }
            guard isSigned else { return .now(.send) }
            let date = exchange.options.timeSource.now + correction / .seconds(1)
            return .wait { [stage] in await stage.signed(exchange, at: date) }
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard [400, 401, 403].contains(head.status), let date = head.date, !head.isStored,
                // A date from a cache is old.
                head.values(for: .age).isEmpty
            else { return .now(.pass) }
            let exchange = hop.exchange
            let difference = date.timeIntervalSince(exchange.options.timeSource.now)
            let correction = Duration.seconds(difference.clamped(to: -1e12...1e12).rounded())
            let isCorrected = state.withLock { state in
                let difference = correction - state.correction
                guard state.isSigned, !state.hasCorrected, difference.magnitude > .seconds(300),
                    correction.magnitude <= .seconds(86_400)
                else { return false }
                state.wantsCorrection = exchange.body.isReplayable
                return true
            }
            guard isCorrected else { return .now(.pass) }
            stage.clock.set(correction, for: exchange.request)
            return .now(exchange.body.isReplayable ? .follow(exchange, .challenge) : .pass)
        }
    }
}

extension Exchange {
    /// Whether no one can change the request on the way, because it uses TLS or stays on this machine.
    fileprivate var isProtected: Bool {
        request.scheme == "https"
            || options.network.staysOnThisMachine(scheme: request.scheme, authority: request.authority)
    }
}

/// The differences between the servers' clocks and this machine's clock.
private final class ClockCorrection: Sendable {
    private static let maximumCount = 1_000

    private let corrections = Locked<[String: Duration]>([:])

    func correction(for request: HTTPRequest) -> Duration {
        corrections.withLock { $0.isEmpty ? .zero : $0[Self.server(of: request)] ?? .zero }
    }

    func set(_ correction: Duration, for request: HTTPRequest) {
        corrections.withLock { corrections in
            if corrections.count >= Self.maximumCount { corrections = [:] }
            corrections[Self.server(of: request)] = correction
        }
    }

    private static func server(of request: HTTPRequest) -> String {
        "\(request.scheme ?? "")://\((request.authority ?? "").lowercased())"
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
