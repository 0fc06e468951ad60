import Foundation

/// Lets Foundation's encoders go so deep into a value and no deeper. They recurse as deep as it is nested, into one that
/// contains itself without end, until the stack is used up.
///
/// Whatever could nest reaches them inside of a ``NestingLimited``, whose containers count and hand all on. So a value's
/// `encode(to:)` runs once, and what the encoders know by its type, dates say, they get as it is.
struct NestingLimit {
    /// Values that encode others as themselves make no level, but take up stack as well.
    private static let maximumDepth = 2 * AFError.ParameterNestingError.limit

    /// The arrays and objects around.
    private let levels: Int
    private let run: Run

    /// What is common to all that is in one value.
    private final class Run {
        let userInfo: [CodingUserInfoKey: Any]
        var stack = StackSpace()
        var refusal: AFError.ParameterNestingError?
        /// Casts between types take long, so that each is done once. There are few types in a value.
        var kinds: [(type: ObjectIdentifier, kind: NestingKind)] = []

        init(userInfo: [CodingUserInfoKey: Any]) {
            self.userInfo = userInfo
        }
    }

    private init(levels: Int, run: Run) {
        self.levels = levels
        self.run = run
    }

    var userInfo: [CodingUserInfoKey: Any] { run.userInfo }

    // MARK: The outermost value

    /// Encodes a value.
    ///
    /// - Parameters:
    ///   - userInfo: What the encoder tells all that it encodes.
    ///   - encode: Calls the encoder.
    /// - Throws: An ``AFError/ParameterNestingError`` when the value is nested too deep, and what the encoder throws.
    static func encode<Value: Encodable>(
        _ value: Value, userInfo: [CodingUserInfoKey: Any], with encode: (any Encodable) throws -> Data
    ) throws -> Data {
        let limit = NestingLimit(levels: 0, run: Run(userInfo: userInfo))
        let passed = try limit.passed(value, at: [])
        let outcome = Result { try encode(passed) }
        if let refusal = limit.run.refusal { throw refusal }
        do {
            return try outcome.get()
        } catch EncodingError.invalidValue(let culprit, let context) where type(of: culprit) == type(of: passed) {
            // The encoder means the caller's value.
            let text = context.debugDescription.replacing("\(type(of: passed))", with: "\(Value.self)")
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: context.codingPath, debugDescription: text, underlyingError: context.underlyingError))
        }
    }

    // MARK: Values in it

    /// What the encoder gets for a value.
    ///
    /// - Throws: An ``AFError/ParameterNestingError``.
    func passed(_ value: some Encodable, at codingPath: @autoclosure () -> [any CodingKey]) throws -> any Encodable {
        try known(value, at: codingPath()) ?? NestingLimited(value, self)
    }

    /// What the encoder gets for a value that does not encode itself; nil for one that does.
    ///
    /// - Throws: An ``AFError/ParameterNestingError``.
    func known<Value: Encodable>(
        _ value: Value, at codingPath: @autoclosure () -> [any CodingKey]
    ) throws -> (any Encodable)? {
        switch kind(of: Value.self) {
        case .scalar: return value
        case .flat where levels < AFError.ParameterNestingError.limit: return value
        case .dictionary:
            let inside = inContainer(at: codingPath())
            if let refusal = run.refusal { throw refusal }
            return (value as? any NestingDictionary)?.limited(by: inside)
        case .flat, .other: return nil
        }
    }

    private func kind(of type: any Encodable.Type) -> NestingKind {
        let id = ObjectIdentifier(type)
        if let known = run.kinds.first(where: { $0.type == id }) { return known.kind }
        let kind = NestingKind(type)
        run.kinds.append((id, kind))
        return kind
    }

    // MARK: Depth

    /// Goes into a value.
    ///
    /// - Throws: An ``AFError/ParameterNestingError`` when that is too deep, or something before was.
    func enter(at codingPath: @autoclosure () -> [any CodingKey]) throws {
        if !run.stack.enter() || run.stack.depth > Self.maximumDepth { refuse(at: codingPath()) }
        if let refusal = run.refusal {
            run.stack.leave()
            throw refusal
        }
    }

    func leave() { run.stack.leave() }

    /// Inside of an array or an object. Where it is too deep for one, nothing is to be written any more: who asks for
    /// containers cannot be stopped, only what they write.
    func inContainer(at codingPath: @autoclosure () -> [any CodingKey]) -> NestingLimit {
        if levels >= AFError.ParameterNestingError.limit { refuse(at: codingPath()) }
        return NestingLimit(levels: levels + 1, run: run)
    }

    /// Whether nothing was too deep so far.
    var isOpen: Bool { run.refusal == nil }

    private func refuse(at codingPath: [any CodingKey]) {
        if run.refusal == nil {
            run.refusal = AFError.ParameterNestingError(parameter: codingPath.first?.stringValue)
        }
    }
}
