import Afar

/// The report of `--report`.
enum ReportFile {
    static func setResult(_ members: [(String, JSONOutput)]) {}
}
