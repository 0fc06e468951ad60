#if StructuredFields
    public import AfarKeys
    import AfarTrust
    public import Foundation
    import RawStructuredFieldValues

    /// The digest of a message's content in the field `Content-Digest` (RFC 9530).
    public enum ContentDigest: String, Sendable, Hashable, CaseIterable {
        /// SHA-256.
        case sha256 = "sha-256"
        /// SHA-512.
        case sha512 = "sha-512"

        var function: HashFunction { self == .sha256 ? .sha256 : .sha512 }

        /// Returns the field's value for a hash.
        func text(of hash: Data) -> String { "\(rawValue)=:\(hash.base64EncodedString()):" }

        /// Returns the value of the field for content.
        ///
        /// - Throws: ``SignatureKeyError`` if the system's cryptographic library doesn't provide the function.
        public func value(for content: Data) throws(SignatureKeyError) -> String {
            guard let hash = function.hash(of: content) else { throw .unavailable(rawValue) }
            return text(of: Data(hash))
        }
    }

    /// Compares content with the digests in a field.
    final class ContentCheck {
        private let digests: [(expected: Data, digest: RunningHash)]

        /// - Parameters:
        ///   - field: The field's value.
        ///   - covered: The keys that a signature covers; nil if it covers the whole field. The digests of other keys prove
        ///     nothing.
        /// - Throws: ``MessageSignatureError`` if the field is malformed, or contains neither SHA-256 nor SHA-512.
        init(_ field: String, covered: Set<String>? = nil) throws(MessageSignatureError) {
            var digests: [(Data, RunningHash)] = []
            do {
                for (key, member) in try FieldText.dictionary(field) {
                    guard let algorithm = ContentDigest(rawValue: key), covered?.contains(key) ?? true else { continue }
                    guard case .item(let item) = member, case .undecodedByteSequence(let text) = item.rfc9651BareItem,
                        let expected = Data(base64Encoded: text)
                    else { throw FieldText.Malformed(description: "\(key) has no bytes") }
                    guard let digest = RunningHash(algorithm.function) else {
                        throw SignatureKeyError.unavailable(key)
                    }
                    digests.append((expected, digest))
                }
            } catch {
                throw MessageSignatureError("the field Content-Digest is malformed: \(error)")
            }
            guard !digests.isEmpty else {
                throw MessageSignatureError("neither sha-256 nor sha-512 of the field Content-Digest is covered")
            }
            self.digests = digests
        }

        func update(_ bytes: Data) { for (_, digest) in digests { digest.update(bytes) } }

        /// Throws an error unless all digests match.
        func finish() throws(MessageSignatureError) {
            for (expected, digest) in digests where digest.finalize() != expected {
                throw MessageSignatureError("the body doesn't match its Content-Digest")
            }
        }
    }
#endif
