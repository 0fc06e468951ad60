extension Result {
    /// What Swift says of a result: values are shown as they are but for what steers a terminal, errors without secrets.
    var words: String {
        switch self {
        case .success: TerminalText.safe("\(self)")
        case .failure: Redaction.standard.line("\(self)")
        }
    }
}
