import AfarSerializers
import Foundation
import Testing

@testable import AfarJSON

@Suite struct JSONLocationsTests {
    @Test func locationsMatchThoseCountedFromTheBeginning() {
        let line = "{\"größe\": [1, 2, 3]}"
        let text = Array((0..<200).map { String(repeating: line, count: $0 % 7) }.joined(separator: "\n").utf8)
        text.withUnsafeBytes { bytes in
            var locations = JSONLocations()
            for offset in [0, 1, 5_000, 1_023, 1_024, 1_025, 2_048, text.count - 1, 17, 3_000, text.count] {
                #expect(locations.location(of: offset, in: bytes) == JSONLocation(of: offset, in: bytes))
            }
        }
    }
}
