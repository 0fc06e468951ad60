#if StructuredFields
    public import AfarKeys
    public import AfarTransport
    public import Foundation
    public import HTTPTypes
    import RawStructuredFieldValues

    /// Verifies HTTP Message Signatures (RFC 9421) of responses or requests.
    ///
    /// ```swift
    /// let verifier = MessageVerifier(
    ///     components: [.status, .contentDigest, .method.ofRequest, .targetURI.ofRequest],
    ///     algorithms: [.ed25519], maximumAge: 300, nonces: NonceStore()
    /// ) { parameters in parameters.keyID == "server-1" ? key : nil }
    /// ```
    ///
    /// A message is accepted if one of its signatures meets all requirements. The initializer's requirements have no defaults, because a
    /// signature that covers too little proves nothing. A signature must have `created`. If it has `expires`, that limit applies, too. The
    /// verifier can be used from any thread.
    public struct MessageVerifier: Sendable {
        /// Returns the key for a signature, or nil if the key is unknown. The parameters aren't verified yet.
        public typealias Keys = @Sendable (SignatureParameters) async throws -> SignatureKey?

        /// The fields that a signature must cover if the message has them, with all their values. Otherwise, someone could change or add
        /// them on the way. The default is `Content-Encoding`, `Content-Range`, `Content-Type`, `Location` and `Set-Cookie`.
        public var requiredIfPresent: Set<HTTPField.Name> = [
            .contentEncoding, .contentRange, .contentType, .location, .setCookie,
        ]
        private let components: [SignatureComponent]
        private let algorithms: Set<SignatureAlgorithm>
        private let maximumAge: Int64
        private let nonces: NonceStore?
        private let keys: Keys
        /// The label of the signature to verify. The default is nil: any label.
        public var label: String?
        /// The tag that a signature must have. The default is nil: a signature can have any tag or none.
        public var tag: String?
        /// A Boolean value that indicates whether a signature must have `expires`. The default is false.
        public var requiresExpiration = false
        /// The permitted difference between the clocks, in seconds. The default is 60.
        public var clockTolerance: TimeInterval = 60 { didSet { extendNonces() } }

        /// The maximum number of signatures of a message.
        private static let mostSignatures = 8

        /// Creates a verifier.
        ///
        /// - Parameters:
        ///   - components: The components that a signature must cover, at least one. A signature can cover more.
        ///   - algorithms: The permitted algorithms. The key determines the algorithm. If the signature names an algorithm, it must be
        ///     the same.
        ///   - maximumAge: The maximum age of a signature in seconds, since its `created`.
        ///   - nonces: The store of nonces. A signature must have a nonce that isn't in the store. If several signatures of a message meet
        ///     the requirements, none of them can be used again. With nil, nonces aren't required, and a message can be repeated until it
        ///     is too old.
        ///   - keys: Returns the key for a signature. If it throws an error, the message is refused.
        public init(
            components: [SignatureComponent], algorithms: Set<SignatureAlgorithm>, maximumAge: TimeInterval,
            nonces: NonceStore?, keys: @escaping Keys
        ) {
            (self.components, self.algorithms, self.nonces, self.keys) = (components, algorithms, nonces, keys)
            self.maximumAge = Int64(maximumAge.clamped(to: 0...1e10))
            extendNonces()
        }

        private func extendNonces() { nonces?.extend(age: maximumAge, tolerance: tolerance) }

        private var tolerance: Int64 { Int64(clockTolerance.clamped(to: 0...1e10)) }

        /// A Boolean value that indicates whether a signature must cover the digest of the body.
        var requiresContentDigest: Bool { components.contains { $0.isContentDigest } }

        // MARK: Verifying

        /// Verifies the signature of a response, but not its body.
        ///
        /// Pass the body to ``verifyContent(_:of:coveredBy:)`` before you use it. A ``VerifyingTransport`` does both.
        ///
        /// - Parameters:
        ///   - response: The response's head.
        ///   - request: The request with all fields that were sent.
        ///   - date: The current time. The default is now.
        /// - Returns: The parameters of the accepted signature.
        /// - Throws: ``MessageSignatureError`` if no signature meets the requirements.
        public func verify(
            _ response: ResponseHead, to request: HTTPRequest, at date: Date = Date()
        ) async throws(MessageSignatureError) -> SignatureParameters {
            let message = SignedMessage(
                request: request, response: SignedMessage.Response(status: response.status, fields: response.fields))
            return try await verify(message, at: date)
        }

        /// Verifies the signature of a request that a server has received, but not the request's body.
        ///
        /// - Parameters:
        ///   - request: The request with all its fields.
        ///   - date: The current time. The default is now.
        /// - Returns: The parameters of the accepted signature.
        /// - Throws: ``MessageSignatureError`` if no signature meets the requirements.
        public func verify(
            _ request: HTTPRequest, at date: Date = Date()
        ) async throws(MessageSignatureError) -> SignatureParameters {
            try await verify(SignedMessage(request: request), at: date)
        }

        /// Compares content with the digests in `Content-Digest` (RFC 9530) that a signature covers. All covered digests with known
        /// algorithms must match.
        ///
        /// - Parameters:
        ///   - content: The body with its content coding.
        ///   - fields: The message's fields.
        ///   - signature: The accepted signature, which ``verify(_:to:at:)`` or ``verify(_:at:)`` returned.
        /// - Throws: ``MessageSignatureError`` if the signature doesn't cover a digest, the field is malformed, or a digest doesn't match.
        public static func verifyContent(
            _ content: Data, of fields: HTTPFields, coveredBy signature: SignatureParameters
        ) throws(MessageSignatureError) {
            let check = try ContentCheck(contentDigestIn: fields, coveredBy: signature.components)
            check.update(content)
            try check.finish()
        }

        private func verify(
            _ message: SignedMessage, at date: Date
        ) async throws(MessageSignatureError) -> SignatureParameters {
            guard !components.isEmpty, !algorithms.isEmpty else {
                throw MessageSignatureError("the verifier requires at least one component and one algorithm")
            }
            let inputs = try dictionary("Signature-Input", in: message.fields)
            let signatures = try dictionary("Signature", in: message.fields)
            guard inputs.count <= Self.mostSignatures else {
                throw MessageSignatureError("the message has more than \(Self.mostSignatures) signatures")
            }
            let now = Int64(date.timeIntervalSince1970.clamped(to: 0...1e11))
            var accepted: [SignatureParameters] = []
            var problem: MessageSignatureError?
            for (label, member) in inputs where self.label.map({ $0 == label }) ?? true {
                do throws(MessageSignatureError) {
                    accepted.append(try await verify(member, signatures[label], of: message, at: now))
                } catch {
                    problem = problem ?? error
                }
            }
            guard let first = accepted.first else {
                throw problem ?? MessageSignatureError("the message has no signature with the required label")
            }
            // Store the nonces of all accepted signatures. Otherwise, a message with several signatures could be accepted several times.
            try nonces?.insert(accepted, now: now)
            return first
        }

        private func dictionary(
            _ name: String, in fields: HTTPFields
        ) throws(MessageSignatureError) -> OrderedMap<String, ItemOrInnerList> {
            guard let value = fields.value(name) else {
                throw MessageSignatureError("the message has no signature (\(name))")
            }
            do { return try FieldText.dictionary(value) } catch {
                throw MessageSignatureError("the field \(name) is malformed: \(error)")
            }
        }

        private func verify(
            _ input: ItemOrInnerList, _ signature: ItemOrInnerList?, of message: SignedMessage, at now: Int64
        ) async throws(MessageSignatureError) -> SignatureParameters {
            guard case .item(let item)? = signature, case .undecodedByteSequence(let text) = item.rfc9651BareItem,
                let signature = Data(base64Encoded: text), !signature.isEmpty
            else { throw MessageSignatureError("the field Signature has no bytes for a label of Signature-Input") }
            let (parameters, inputText) = try SignatureParameters.parse(input)
            for component in components where !parameters.components.contains(component) {
                throw MessageSignatureError("the signature doesn't cover \(component)")
            }
            let uncovered = requiredIfPresent.filter { field in
                message.fields.contains(field) && !parameters.components.contains { $0.covers(field) }
            }
            guard uncovered.isEmpty else {
                let names = uncovered.map(\.rawName).sorted().joined(separator: ", ")
                throw MessageSignatureError("the message has fields that the signature doesn't cover: \(names)")
            }
            try checkTimes(of: parameters, at: now)
            if let tag, parameters.tag != tag {
                throw MessageSignatureError("the signature doesn't have the required tag")
            }
            guard nonces == nil || parameters.nonce.map({ (1...256).contains($0.utf8.count) }) ?? false else {
                throw MessageSignatureError("the signature has no nonce, or a nonce of more than 256 bytes")
            }
            let base = try parameters.base(of: message, text: inputText)
            let key: SignatureKey?
            do { key = try await keys(parameters) } catch {
                throw MessageSignatureError("the key couldn't be found", because: error)
            }
            guard let key else { throw MessageSignatureError("the signature's key is unknown") }
            guard algorithms.contains(key.algorithm) else {
                throw MessageSignatureError("the algorithm \(key.algorithm.rawValue) isn't permitted")
            }
            guard parameters.algorithm.map({ $0 == key.algorithm.rawValue }) ?? true else {
                throw MessageSignatureError("the signature names a different algorithm than that of its key")
            }
            guard key.isValid(signature, for: base) else {
                throw MessageSignatureError("the signature is invalid")
            }
            return parameters
        }

        private func checkTimes(of parameters: SignatureParameters, at now: Int64) throws(MessageSignatureError) {
            guard let created = parameters.created, created >= 0 else {
                throw MessageSignatureError("the signature has no valid creation time")
            }
            guard created <= now + tolerance else {
                throw MessageSignatureError("the signature was created in the future")
            }
            // A structured integer has at most 15 digits, so the sums can't overflow.
            guard now <= created + maximumAge + tolerance else {
                throw MessageSignatureError("the signature is too old")
            }
            if let expires = parameters.expires {
                guard expires >= created, now <= expires + tolerance else {
                    throw MessageSignatureError("the signature has expired")
                }
            } else if requiresExpiration {
                throw MessageSignatureError("the signature has no expiration time")
            }
        }
    }

    extension ContentCheck {
        /// Creates a check for the digests in `Content-Digest` that a signature covers.
        convenience init(
            contentDigestIn fields: HTTPFields, coveredBy components: [SignatureComponent]
        ) throws(MessageSignatureError) {
            guard let field = fields.value("Content-Digest") else {
                throw MessageSignatureError("the message has no Content-Digest")
            }
            let keys = components.filter(\.isContentDigest).map(\.dictionaryKey)
            try self.init(field, covered: keys.contains(nil) ? nil : Set(keys.compactMap { $0 }))
        }
    }
#endif
