import Foundation
import Testing

@testable import AfarStages

extension CookieURL {
    /// Creates a URL for a request.
    init(_ text: String) throws {
        let url = try #require(URL(string: text))
        self = try #require(CookieURL(url))
    }
}

extension Date {
    /// The reference date of the tests.
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
}
