import Testing

@testable import AfarCLI

struct OutputFactsTests {
    private func facts(_ environment: [String: String], columns: Int? = nil) -> OutputFacts {
        OutputFacts(isTerminal: true, environment: environment, columns: columns)
    }

    @Test func theFirstLocaleVariableThatIsSetDecides() {
        #expect(facts(["LANG": "en_US.UTF-8"]).isUTF8)
        #expect(facts(["LC_ALL": "", "LC_CTYPE": "C.utf8", "LANG": "C"]).isUTF8)
        #expect(!facts(["LC_ALL": "C", "LC_CTYPE": "C.UTF-8", "LANG": "C.UTF-8"]).isUTF8)
        #expect(!facts(["LANG": "de_DE@euro"]).isUTF8)
        #expect(!facts([:]).isUTF8)
    }

    @Test func widthIsTheTerminalsOrTheEnvironmentsOr80() {
        #expect(facts(["COLUMNS": "120"], columns: 90).columns == 90)
        #expect(facts(["COLUMNS": "120"]).columns == 120)
        #expect(facts(["COLUMNS": "wide"]).columns == 80)
        #expect(facts(["COLUMNS": "-1"]).columns == 80)
    }

    @Test func widthsAreLimited() throws {
        let facts = OutputFacts(isTerminal: false, environment: ["COLUMNS": "\(Int.max)"])
        #expect(facts.columns == 65_535)
        #expect(TerminalCanvas(mode: .sixels, columns: facts.columns, rows: facts.rows).size.width == 8 * 65_535)
    }
}
