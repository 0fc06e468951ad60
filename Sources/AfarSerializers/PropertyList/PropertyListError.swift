import AfarCore
public import Foundation

/// Why a property list was refused before it was read.
public struct PropertyListError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
        /// The bytes are in no format of property lists. They begin with this.
        case unknownFormat(beginning: String)
        /// The format is none of those that are allowed.
        case formatNotAllowed(PropertyListSerialization.PropertyListFormat)
        /// Arrays and dictionaries are nested deeper than this.
        case tooDeep(limit: Int)
        /// An array or dictionary has itself in it.
        case circular
        /// What is referred to again and again would take far more memory than the bytes do.
        case tooLarge
        /// The bytes do not have the form that the format demands.
        case malformed(String)
    }

    /// What is wrong.
    public let reason: Reason

    /// Makes an error.
    public init(_ reason: Reason) {
        self.reason = reason
    }

    /// What is wrong, for a person.
    public var description: String {
        switch reason {
        case .unknownFormat(let beginning):
            "neither an XML property list, which begins with <, nor a binary one (bplist00): "
                + "it begins with \(TerminalText.line(beginning.debugDescription))"
        case .formatNotAllowed(let format):
            "it is \(Self.name(format)), which is not allowed here; allowedFormats can change that"
        case .tooDeep(let limit): "its arrays and dictionaries are nested more than \(limit) deep"
        case .circular: "an array or dictionary of it has itself in it"
        case .tooLarge: "it refers to the same values so often that it would take up too much memory"
        case .malformed(let problem): TerminalText.line(problem)
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private static func name(_ format: PropertyListSerialization.PropertyListFormat) -> String {
        switch format {
        case .xml: "an XML property list"
        case .binary: "a binary property list"
        case .openStep: "a property list in the old OpenStep format"
        @unknown default: "a property list in another format"
        }
    }
}
