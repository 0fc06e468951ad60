package import AfarTransport
import Foundation

extension AFError {
    /// What the transport said, where it was the transport that failed.
    package var transportError: TransportError? {
        guard case .sessionTaskFailed(let error) = self else { return nil }
        return error as? TransportError ?? (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
    }
}
