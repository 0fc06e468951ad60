/// A table with column titles. The first column contains text; the others contain numbers.
package struct Table {
    package let columns: [String]
    package let rows: [[String]]

    package init(columns: [String], rows: [[String]]) {
        self.columns = columns
        self.rows = rows
    }

    /// The table with aligned columns, for a terminal.
    package var text: String {
        let widths = columns.indices.map { column in
            ([columns] + rows).map { $0[column].count }.max() ?? 0
        }
        return ([columns] + rows).map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + padding : padding + row[column]
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    package var markdown: String {
        let rule = columns.indices.map { $0 == 0 ? "---" : "---:" }
        return ([columns, rule] + rows).map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }
}
