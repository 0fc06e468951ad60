import Foundation

/// Lines of code without their common indentation.
struct Code: Sendable, Equatable {
    let lines: [String]

    init(_ source: some Collection<String>) {
        let indentation = source.filter { !Self.isBlank($0) }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        lines = source.map { Self.isBlank($0) ? "" : String($0.dropFirst(indentation)) }
    }

    /// Returns whether `source` contains these lines, with any indentation.
    func isContained(in source: [String]) -> Bool {
        guard !lines.isEmpty, source.count >= lines.count else { return false }
        return (0...(source.count - lines.count)).contains { start in
            source[start].hasSuffix(lines[0]) && Code(source[start..<(start + lines.count)]) == self
        }
    }

    private static func isBlank(_ line: String) -> Bool { line.allSatisfy { $0 == " " } }
}
