import AfarSerializers
import Foundation
import Testing

extension String {
    /// Encodes the text with Foundation.
    func bytes(in encoding: TextEncoding) throws -> Data {
        let name = try #require(encoding.stringEncoding)
        return try #require(data(using: name))
    }
}
