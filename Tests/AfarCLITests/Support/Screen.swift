/// The visible result of terminal output.
enum Screen {
    /// Returns the visible lines after all carriage returns have been applied, without trailing spaces.
    static func text(_ written: String) -> String {
        written.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var cells: [Unicode.Scalar] = []
            for part in line.split(separator: "\r") {
                for (index, scalar) in part.enumerated() {
                    if index < cells.count { cells[index] = scalar } else { cells.append(scalar) }
                }
            }
            while cells.last == " " { cells.removeLast() }
            return String(String.UnicodeScalarView(cells))
        }
        .joined(separator: "\n")
    }
}
