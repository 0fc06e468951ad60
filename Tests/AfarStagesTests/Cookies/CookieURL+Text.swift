import Foundation
import Testing

@testable import AfarStages

extension CookieURL {
    /// A URL that a request can be sent to.
    init(_ text: String) throws {
        let url = try #require(URL(string: text))
        self = try #require(CookieURL(url))
    }
}

extension Date {
    /// A moment that tests count from.
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
}
