import Foundation

extension Error {
    /// A description of this error that fits at the end of another error's description.
    package var cause: String {
        if let described = (self as? any LocalizedError)?.errorDescription { return described }
        guard self is any CustomNSError || type(of: self) is NSError.Type else { return String(describing: self) }
        // `String(describing:)` would print the whole userInfo of an NSError, including URLs. The localized description doesn't,
        // but often contains little more than a number. The underlying error can have a better description.
        let underlying = (self as NSError).userInfo[NSUnderlyingErrorKey]
        return (underlying as? any LocalizedError)?.errorDescription ?? localizedDescription
    }
}
