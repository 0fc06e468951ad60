import AfarTestServer

/// A response's status for a person.
enum StatusLine {
    /// "404 Not Found", with the words that belong to the number; the number alone where there are none.
    static func text(of status: Int) -> String {
        StatusText.registeredPhrase(for: status).map { "\(status) \($0)" } ?? "\(status)"
    }

    static func paint(for status: Int) -> Style.Paint {
        switch status {
        case 200..<300: .green
        case 300..<400: .yellow
        case 400...: .red
        default: .cyan
        }
    }
}
