#if StructuredFields
    public import AfarKeys
    public import AfarTransport
    public import Foundation
    public import HTTPTypes
    import RawStructuredFieldValues

    /// Signs requests with HTTP Message Signatures (RFC 9421).
    ///
    /// ```swift
    /// var signer = MessageSigner(key: key, keyID: "client-1", components: [.method, .targetURI, .contentDigest])
    /// signer.lifetime = 60
    /// let session = Session(stages: [MessageSigningStage(signer)])
    /// ```
    ///
    /// The signer is a value and can be used from any thread.
    public struct MessageSigner: Sendable {
        /// The key, which must be able to sign.
        public var key: SignatureKey
        /// The identifier by which the server finds the key; nil to omit it.
        public var keyID: String?
        /// The components that each signature covers. A request that lacks one of them can't be signed.
        public var components: [SignatureComponent]
        /// Components that are covered if the request has them, such as `content-type`. The default is none. If the request has one of
        /// them, but its value can't be covered, the request can't be signed. An example is a malformed member of a structured field.
        public var optionalComponents: [SignatureComponent] = []
        /// The label of the signature. The default is `sig1`. It must differ from the labels of other signatures of the request.
        public var label = "sig1"
        /// The seconds until a signature expires. The default is nil: signatures have no `expires`.
        public var lifetime: TimeInterval?
        /// A Boolean value that indicates whether each signature has a random nonce. The default is true.
        public var addsNonce = true
        /// A Boolean value that indicates whether signatures name their algorithm. The default is true.
        public var namesAlgorithm = true
        /// The purpose of the signatures, which an application defines; nil (the default) to omit it.
        public var tag: String?
        /// The hash function for `Content-Digest`. The field is added if ``components`` contain it. The default is SHA-256.
        public var digest = ContentDigest.sha256

        /// Creates a signer.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - keyID: The identifier of the key; nil to omit it.
        ///   - components: The components that each signature covers.
        public init(key: SignatureKey, keyID: String?, components: [SignatureComponent]) {
            (self.key, self.keyID, self.components) = (key, keyID, components)
        }

        /// Returns a copy of a request with `Signature-Input` and `Signature`. Signatures that the request already has are kept.
        ///
        /// - Parameters:
        ///   - request: The request with all its fields, such as `Content-Digest` if the signature covers it.
        ///   - date: The time of the signature. The default is now.
        /// - Throws: ``MessageSignatureError`` if a component is missing or invalid, or the key can't sign.
        public func signed(_ request: HTTPRequest, at date: Date = Date()) throws(MessageSignatureError) -> HTTPRequest
        {
            let bytes = Data((0..<18).map { _ in .random(in: .min ... .max) })
            return try signed(request, at: date, nonce: addsNonce ? bytes.base64EncodedString() : nil)
        }

        func signed(
            _ request: HTTPRequest, at date: Date, nonce: String?
        ) throws(MessageSignatureError) -> HTTPRequest {
            let message = SignedMessage(request: request)
            let created = Int64(date.timeIntervalSince1970.clamped(to: 0...1e11))
            var components = components
            for component in optionalComponents {
                if try message.value(of: component) != nil { components.append(component) }
            }
            let parameters = SignatureParameters(
                components: components, created: created,
                expires: lifetime.map { created + Int64($0.clamped(to: 1...1e9).rounded(.up)) }, nonce: nonce,
                algorithm: namesAlgorithm ? key.algorithm.rawValue : nil, keyID: keyID, tag: tag)
            let text = try parameters.text()
            let base = try parameters.base(of: message, text: text)
            let signature: Data
            do throws(SignatureKeyError) { signature = try key.signature(for: base) } catch {
                throw MessageSignatureError("the key can't sign", because: error)
            }
            var request = request
            try append(text, to: "Signature-Input", of: &request)
            try append(":\(signature.base64EncodedString()):", to: "Signature", of: &request)
            return request
        }

        private func append(
            _ value: String, to name: String, of request: inout HTTPRequest
        ) throws(MessageSignatureError) {
            let line = "\(label)=\(value)"
            let lines = (request.headerFields.value(name).map { [$0] } ?? []) + [line]
            do {
                guard try FieldText.dictionary(lines.joined(separator: ", "))[label] != nil else {
                    throw FieldText.Malformed(description: "the label is invalid")
                }
            } catch {
                throw MessageSignatureError("the label \(label) can't be added to \(name): \(error)")
            }
            request.headerFields.set(name, to: lines.joined(separator: ", "))
        }
    }

    /// A stage that signs each request of a session with HTTP Message Signatures.
    ///
    /// Pass it as the last stage, so that its signatures cover the changes of the other stages. Each attempt is signed: retries, redirects
    /// to the same origin, and responses to challenges. After a redirect to another origin, requests aren't signed. The time comes from
    /// ``ExchangeOptions/timeSource``.
    ///
    /// If the signature covers `Content-Digest`, the stage computes the digest of the body. The body can't be a stream that can be read
    /// only once.
    public struct MessageSigningStage: ExchangeStage {
        private let signer: MessageSigner
        private let signs: @Sendable (HTTPRequest) -> Bool

        /// Creates a stage.
        ///
        /// - Parameters:
        ///   - signer: The key and the covered components.
        ///   - signs: Returns whether to sign a request. The default signs all requests. The closure must return quickly, and can be called
        ///     on any thread.
        public init(_ signer: MessageSigner, signs: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }) {
            (self.signer, self.signs) = (signer, signs)
        }

        /// Returns the ``StageRun`` that signs the requests of an exchange.
        public func begin(_ hop: Hop) -> (any StageRun)? { Run(stage: self) }

        private struct Run: StageRun {
            let stage: MessageSigningStage

            func before(_ hop: Hop) -> Reply<RequestAction> {
                let exchange = hop.exchange
                guard !hop.hasLeftOrigin, stage.signs(exchange.request) else { return .now(.send) }
                return .wait { [stage] in await stage.signed(exchange) }
            }
        }

        private func signed(_ exchange: Exchange) async -> RequestAction {
            var exchange = exchange
            do {
                if signer.components.contains(where: \.isContentDigest) {
                    guard exchange.body.canBeHashed else {
                        throw MessageSignatureError(
                            "a Content-Digest can't cover a stream that is read only once: use a file or bytes")
                    }
                    let hash = try await exchange.body.hash(with: signer.digest.function)
                    exchange.request.headerFields.set("Content-Digest", to: signer.digest.text(of: hash))
                }
                let signed = try signer.signed(exchange.completeRequest, at: exchange.options.timeSource.now)
                for name in ["Signature-Input", "Signature"] {
                    exchange.request.headerFields.set(name, to: signed.headerFields.value(name))
                }
                return .change(exchange)
            } catch let error as MessageSignatureError {
                return .fail(error)
            } catch {
                return .fail(MessageSignatureError("the body can't be read", because: error))
            }
        }
    }

    extension Exchange {
        /// The request with all fields that are sent, including those that the transport adds.
        var completeRequest: HTTPRequest {
            var request = request
            request.headerFields = fields
            if request.headerFields.value("Host") == nil {
                request.headerFields.set("Host", to: request.sentAuthority)
            }
            request.headerFields.set("Content-Length", to: sentLength.map { String($0) })
            return request
        }

        /// The value of `Content-Length`, which only the body determines. A request without a body has the length 0 if its method
        /// expects a body (RFC 9110, section 8.6). A body with trailer fields is sent in chunks.
        private var sentLength: Int64? {
            if body.isNone { return [.post, .put, .patch].contains(request.method) ? 0 : nil }
            if case .stream(let stream) = body, stream.trailers != nil { return nil }
            return body.length
        }
    }
#endif
