import AfarJSON
import AfarSerializers
import Foundation

extension Subject {
    static let fastJSON = [
        Subject(
            "fast-json", seeds: jsonSeeds, tokens: jsonTokens + ["1E5", "0.5e-3", "\\\\", "\\\"", "{}", "[]", "a\":"]
        ) {
            (input, _) throws(Contradiction) in
            guard let text = try? JSONText.utf8(input) else { return false }
            let value: JSONValue
            do {
                value = try FastJSONDecoder().decode(JSONValue.self, from: input)
            } catch {
                // JSONText reports no fault for unpaired surrogates and for numbers beyond the range of a double.
                _ = "\(error)"
                guard let problem = ((error as? DecodingError)?.underlying as? InvalidJSON)?.problem else {
                    return false
                }
                let hasFault = JSONText.fault(in: text) != nil
                try Contradiction.check(hasFault || problem.contains("surrogate"), true, "rejected for \(problem)")
                return false
            }
            try Contradiction.check(JSONText.fault(in: text), nil, "accepted despite a fault")
            // JSONDecoder rejects some representations of 0.
            guard let other = try? JSONDecoder().decode(JSONValue.self, from: text) else { return true }
            try Contradiction.check("\(value)", "\(other)", "the value differs from JSONDecoder's")
            return true
        }
    ]
}

extension DecodingError {
    fileprivate var underlying: (any Error)? {
        if case .dataCorrupted(let context) = self { context.underlyingError } else { nil }
    }
}
