public import Foundation

/// The reason an ``AuthenticationInterceptor`` failed a request, wrapped in ``AFError/requestAdaptationFailed(error:)`` or
/// ``AFError/requestRetryFailed(retryError:originalError:)``.
public enum AuthenticationError: Error {
    /// The interceptor has no credential.
    case missingCredential
    /// The credential was refreshed too often within the interceptor's refresh window.
    case excessiveRefresh
}

extension AuthenticationError: LocalizedError {
    /// A human-readable description of the error.
    public var errorDescription: String? {
        switch self {
        case .missingCredential:
            "There is no credential to authenticate the request with. Set the interceptor's credential first."
        case .excessiveRefresh:
            "The credential was refreshed too often within the interceptor's refresh window, and requests with it are "
                + "still refused. See that the authenticator recognizes its own credential and other causes of a refusal."
        }
    }
}
