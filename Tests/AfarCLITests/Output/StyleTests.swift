import Testing

@testable import AfarCLI

struct StyleTests {
    private let terminal = OutputFacts(isTerminal: true, environment: [:])
    private let pipe = OutputFacts(isTerminal: false, environment: [:])

    @Test func autoGoesByTheOutput() {
        #expect(Style(.auto, output: terminal) == Style(isPretty: true, isColoured: true))
        #expect(Style(.auto, output: pipe) == .plain)
    }

    @Test func noColorTakesColoursOnly() {
        let facts = OutputFacts(isTerminal: true, environment: ["NO_COLOR": "1"])
        #expect(Style(.auto, output: facts) == Style(isPretty: true, isColoured: false))
        #expect(Style(.always, output: facts).isColoured)
        #expect(OutputFacts(isTerminal: true, environment: ["NO_COLOR": ""]).allowsColours)
        #expect(!OutputFacts(isTerminal: true, environment: ["TERM": "dumb"]).allowsColours)
    }

    @Test func theWishOutranks() {
        #expect(Style(.always, output: pipe) == Style(isPretty: true, isColoured: true))
        #expect(Style(.never, output: terminal) == Style(isPretty: true, isColoured: false))
        #expect(Style(.never, output: pipe) == .plain)
    }
}
