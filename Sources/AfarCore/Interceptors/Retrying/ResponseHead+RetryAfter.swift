import Foundation
import HTTPTypes

extension ResponseHead {
    /// How many seconds the server asks to wait before the next request (RFC 9110, section 10.2.3), nil when it does not
    /// say, or says it in a way that cannot be read.
    ///
    /// A date is compared with the response's own, if it has one, so that a wrong clock on either side does no harm.
    var retryAfter: TimeInterval? {
        guard let text = value(for: .retryAfter) else { return nil }
        if text.wholeMatch(of: /[0-9]+/) != nil { return TimeInterval(text) }
        guard let date = HTTPDate.parse(text) else { return nil }
        let now = value(for: .date).flatMap(HTTPDate.parse).map(TimeInterval.init) ?? Date().timeIntervalSince1970
        return max(0, TimeInterval(date) - now)
    }
}
