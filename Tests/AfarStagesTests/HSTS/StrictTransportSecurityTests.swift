import Foundation
import Testing

@testable import AfarStages

/// RFC 6797, section 6.1.
struct StrictTransportSecurityTests {
    @Test(arguments: [
        ("max-age=31536000", 31_536_000, false), (#"max-age="10""#, 10, false),
        ("MAX-AGE=10 ; includeSubDomains", 10, true),
        ("includesubdomains; max-age=0", 0, true), ("max-age=1; preload", 1, false), ("; max-age=1;;", 1, false),
        (#"max-age=1; x="a;b"; y=z"#, 1, false), ("max-age=99999999999999999999", 315_360_000, false),
    ])
    func validValues(value: String, age: Int, includesSubdomains: Bool) {
        let policy = StrictTransportSecurity(value)
        #expect(policy?.maximumAge == age)
        #expect(policy?.includesSubdomains == includesSubdomains)
    }

    @Test(arguments: [
        "", ";", "includeSubDomains", "max-age", "max-age=", "max-age=x", "max-age=-1", "max-age=1.5",
        "max-age=1; max-age=1",
        "max-age=1; includeSubDomains; includeSubDomains", "max-age=1 includeSubDomains",
        "max-age=1; includeSubDomains=1",
        "max-age=1,max-age=2", #"max-age="1"#, "max-age=1; =x",
    ])
    func invalidValues(value: String) { #expect(StrictTransportSecurity(value) == nil) }
}
