import Foundation

extension Error {
    /// What this error says about itself, fit to stand at the end of another error's description.
    package var cause: String {
        if let described = (self as? any LocalizedError)?.errorDescription { return described }
        guard self is any CustomNSError || type(of: self) is NSError.Type else { return String(describing: self) }
        // Such an error prints its whole userInfo, URLs and all; its localized description does not, but often says
        // little more than a number. What is underneath may know better.
        let underlying = (self as NSError).userInfo[NSUnderlyingErrorKey]
        return (underlying as? any LocalizedError)?.errorDescription ?? localizedDescription
    }
}
