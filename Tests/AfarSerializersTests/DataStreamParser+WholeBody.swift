import AfarCore
import Foundation

extension DataStreamParser {
    /// Parses a body in chunks of the given size.
    func results(of body: Data, chunkSize: Int) -> [Result<Value, AFError>] {
        var parser = self
        var rest = body
        var results: [Result<Value, AFError>] = []
        while !rest.isEmpty {
            results += parser.parse(rest.prefix(chunkSize))
            rest = rest.dropFirst(chunkSize)
        }
        return results + parser.finish()
    }

    func results(of body: String, chunkSize: Int = .max) -> [Result<Value, AFError>] {
        results(of: Data(body.utf8), chunkSize: chunkSize)
    }
}
