import AfarSerializers
import Foundation
import Testing

extension String {
    /// The text as Foundation writes it in an encoding.
    func bytes(in encoding: TextEncoding) throws -> Data {
        let name = try #require(encoding.stringEncoding)
        return try #require(data(using: name))
    }
}
