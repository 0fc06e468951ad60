public import Foundation

/// What is wrong with a text that should be JSON, and where.
///
/// As an `NSError` it is what `JSONSerialization` throws: of `NSCocoaErrorDomain`, with the code 3840
/// (`propertyListReadCorrupt`).
public struct InvalidJSON: LocalizedError, CustomNSError, Sendable, Hashable {
    /// What is wrong there.
    public let problem: String
    /// The line, counted from 1.
    public let line: Int
    /// The character in the line (a Unicode scalar), counted from 1.
    public let column: Int
    /// The byte in the text, which is UTF-8 without a byte-order mark; counted from 0.
    public let byteOffset: Int

    /// Makes an error.
    public init(problem: String, line: Int, column: Int, byteOffset: Int) {
        self.problem = problem
        self.line = line
        self.column = column
        self.byteOffset = byteOffset
    }

    /// Makes an error.
    public init(problem: String, location: JSONLocation) {
        self.init(
            problem: problem, line: location.line, column: location.column, byteOffset: location.byteOffset)
    }

    /// What is wrong and where, for a person.
    public var errorDescription: String? { "\(problem) at line \(line), column \(column) (byte \(byteOffset))" }

    // MARK: As an NSError

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }

    /// 3840, `CocoaError.Code.propertyListReadCorrupt`.
    public var errorCode: Int { CocoaError.Code.propertyListReadCorrupt.rawValue }

    /// The description, and the byte under `NSJSONSerializationErrorIndex`.
    public var errorUserInfo: [String: Any] {
        let text = errorDescription ?? problem
        return [
            NSLocalizedDescriptionKey: text, NSDebugDescriptionErrorKey: text,
            "NSJSONSerializationErrorIndex": byteOffset,
        ]
    }
}
