import Afar
import Testing

/// Runs the samples of the guide to text, and looks at what they print.
@Suite(.timeLimit(.minutes(1))) struct TextSampleTests {
    @Test func textComesWithItsEncoding() async throws {
        try await TextSamples.told()
        #expect(await Output.has("Shift_JIS charset 古池や"))
        TextSamples.decoder()
        #expect(await Output.has("歌"))
    }

    @Test func rulesDecideOnBadText() async throws {
        await TextSamples.unknown()
        #expect(await Output.has("Nobody knows martian"))
        try await TextSamples.replacing()
        #expect(await Output.has("martian was passed over: Take me to your leader\u{FFFD}"))
        try await TextSamples.ownRules()
        #expect(await Output.has("蛙飛びこむ"))
    }

    @Test func badDocumentsTellWhatIsWrong() async throws {
        await TextSamples.brokenJSON()
        #expect(await Output.has("Line 2, column 8: There is no value"))
        try await TextSamples.ownDecoder()
        #expect(await Output.has("21 bytes of JSON"))
        await TextSamples.formats()
        #expect(
            await Output.has("it is a binary property list, which is not allowed here; allowedFormats can change that"))
    }
}
