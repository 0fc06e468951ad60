public import Foundation

/// Why a server's certificates were not accepted.
public struct ServerTrustError: Error, Sendable, Hashable {
    /// What was wrong. More codes may come; compare with those you handle.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String, Sendable {
            case noCertificates, expired, notYetValid, unknownAuthority, selfSigned, hostMismatch, revoked, weakKey
            case wrongUsage, invalidSignature, nameNotPermitted, revocationUnknown, noAuthorities, invalid
        }

        private let name: Name

        /// The code's name.
        public var description: String { name.rawValue }

        /// The server presented none.
        public static let noCertificates = Code(name: .noCertificates)
        /// A certificate has expired.
        public static let expired = Code(name: .expired)
        /// A certificate is not valid yet.
        public static let notYetValid = Code(name: .notYetValid)
        /// The chain ends in an authority that is not trusted, or is not complete.
        public static let unknownAuthority = Code(name: .unknownAuthority)
        /// The server's certificate is signed by itself, and not trusted.
        public static let selfSigned = Code(name: .selfSigned)
        /// The certificate is for other hosts.
        public static let hostMismatch = Code(name: .hostMismatch)
        /// A certificate is revoked.
        public static let revoked = Code(name: .revoked)
        /// A key, or the hash of a signature, is too weak.
        public static let weakKey = Code(name: .weakKey)
        /// A certificate is not for servers, or one that signs others may not.
        public static let wrongUsage = Code(name: .wrongUsage)
        /// A signature is wrong.
        public static let invalidSignature = Code(name: .invalidSignature)
        /// An authority may not sign for that name (RFC 5280, section 4.2.1.10).
        public static let nameNotPermitted = Code(name: .nameNotPermitted)
        /// Whether a certificate is revoked could not be found out.
        public static let revocationUnknown = Code(name: .revocationUnknown)
        /// There are no authorities to trust on this machine.
        public static let noAuthorities = Code(name: .noAuthorities)
        /// None of the above.
        public static let invalid = Code(name: .invalid)
    }

    /// What was wrong.
    public let code: Code
    /// What was wrong, in one line of words.
    public let message: String
    /// The certificate at fault, where one is known to be.
    public let certificate: Certificate?

    /// Makes an error.
    public init(_ code: Code, _ message: String, certificate: Certificate? = nil) {
        self.code = code
        self.message = message
        self.certificate = certificate
    }
}

extension ServerTrustError: LocalizedError, CustomStringConvertible {
    /// What was wrong, and with which certificate.
    public var description: String {
        (certificate.map { "\(message) (certificate of \($0.subject))" } ?? message).singleLine
    }

    /// The same line.
    public var errorDescription: String? { description }
}
