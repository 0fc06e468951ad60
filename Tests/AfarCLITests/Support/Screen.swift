/// What a terminal shows of what was written to it.
enum Screen {
    /// The lines after every carriage return has taken the cursor back to their beginning; spaces at the ends are gone.
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
