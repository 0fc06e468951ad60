public import Foundation

/// The credentials with which requests to AWS are signed. Descriptions contain the identifier of the access key, but no secret.
public struct AWSCredentials: Sendable {
    /// The identifier of the access key. It is part of each signed request.
    public let accessKeyID: String
    /// When the credentials expire; nil if they don't. Expired credentials aren't used.
    public let expiration: Date?
    let secretAccessKey: String
    let sessionToken: String?

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - accessKeyID: The identifier of the access key.
    ///   - secretAccessKey: The secret of the access key.
    ///   - sessionToken: The token of temporary credentials. It is sent with each signed request. The default is nil.
    ///   - expiration: When the credentials expire. The default is nil.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expiration: Date? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.expiration = expiration
    }

    func checkExpiration(at date: Date) throws(AWSSigningError) {
        guard let expiration, expiration <= date else { return }
        throw AWSSigningError("the credentials \(accessKeyID) have expired")
    }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The identifier of the access key.
    public var description: String { "AWS credentials \(accessKeyID)" }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// A mirror that contains the identifier of the access key, but no secret.
    public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}

/// A request that can't be signed for AWS. The description doesn't contain secrets.
public struct AWSSigningError: Error, LocalizedError, CustomStringConvertible {
    private let reason: String
    /// The error from the closure that returns the credentials, or from reading the request's body, if any.
    public let underlyingError: (any Error)?

    init(_ reason: String, because underlyingError: (any Error)? = nil) {
        (self.reason, self.underlyingError) = (reason, underlyingError)
    }

    /// A human-readable description of the error.
    public var description: String { "The request can't be signed for AWS: \(reason)." }

    /// The same text as ``description``.
    public var errorDescription: String? { description }

    static let noHash = AWSSigningError("the system's cryptographic library doesn't provide SHA-256")
}
