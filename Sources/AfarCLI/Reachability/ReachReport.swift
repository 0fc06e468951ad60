import Afar
import Foundation

/// A path in words, or in JSON.
struct ReachReport {
    /// What the path leads to, as the person has called it.
    let target: String
    let isJSON: Bool
    let style: Style

    /// Lines about a path.
    ///
    /// - Parameter date: When the path was so; nil for now, which a person need not read.
    func text(of path: NetworkPath, at date: Date?) throws -> String {
        isJSON ? try json(path, date ?? .now) : words(path, date)
    }

    private func json(_ path: NetworkPath, _ date: Date) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(ReachFacts(path, target: target, date: date)), as: UTF8.self) + "\n"
    }

    private func words(_ path: NetworkPath, _ date: Date?) -> String {
        let time = date.map { style.paint($0.formatted(.iso8601), .dim) + "  " } ?? ""
        let interfaces = path.interfaces.map { [$0.name, kind(of: $0)] + $0.addresses.map(\.description) }
        let lines = rows(of: interfaces) + path.routes.map(\.description)
        // Whoever names an interface may put anything into the name.
        return time + status(of: path) + "\n" + lines.map { "  \(TerminalText.line($0))\n" }.joined()
    }

    private func status(of path: NetworkPath) -> String {
        let paint: Style.Paint =
            switch path.status {
            case .satisfied: .green
            case .unsatisfied: .red
            case .unknown: .yellow
            }
        return style.paint(path.status.word, paint) + (path.status.reason.map { ": \($0)" } ?? "")
    }

    /// The kind, and what it runs over where that is another.
    private func kind(of interface: NetworkInterface) -> String {
        let (kind, below) = (interface.kind, interface.underlyingKind)
        return kind == below ? "\(kind)" : "\(kind) over \(below)"
    }

    /// Cells with the first two of each row as wide as the widest.
    private func rows(of cells: [[String]]) -> [String] {
        let widths = (0..<2).map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            row.enumerated().map { index, cell in
                let isLast = index == row.count - 1
                let width = index < 2 && !isLast ? widths[index] : cell.count
                return cell + String(repeating: " ", count: width - cell.count)
            }
            .joined(separator: "  ")
        }
    }
}
