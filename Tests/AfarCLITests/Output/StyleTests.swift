import Testing

@testable import AfarCLI

struct StyleTests {
    private let terminal = OutputFacts(isTerminal: true, environment: [:])
    private let pipe = OutputFacts(isTerminal: false, environment: [:])

    @Test func autoDependsOnTheOutput() {
        #expect(Style(.auto, output: terminal) == Style(isPretty: true, isColored: true))
        #expect(Style(.auto, output: pipe) == .plain)
    }

    @Test func noColorDisablesOnlyColors() {
        let facts = OutputFacts(isTerminal: true, environment: ["NO_COLOR": "1"])
        #expect(Style(.auto, output: facts) == Style(isPretty: true, isColored: false))
        #expect(Style(.always, output: facts).isColored)
        #expect(OutputFacts(isTerminal: true, environment: ["NO_COLOR": ""]).allowsColors)
        #expect(!OutputFacts(isTerminal: true, environment: ["TERM": "dumb"]).allowsColors)
    }

    @Test func theOptionOverridesTheOutput() {
        #expect(Style(.always, output: pipe) == Style(isPretty: true, isColored: true))
        #expect(Style(.never, output: terminal) == Style(isPretty: true, isColored: false))
        #expect(Style(.never, output: pipe) == .plain)
    }
}
