import Afar
import Testing

/// Runs the samples about text in the guide to responses and checks their output.
@Suite(.timeLimit(.minutes(1))) struct TextSampleTests {
    @Test func textComesWithItsEncoding() async throws {
        try await TextSamples.detected()
        #expect(await Output.has("Shift_JIS charset 古池や"))
        TextSamples.decoder()
        #expect(await Output.has("歌"))
    }

    @Test func rulesApplyToMalformedText() async throws {
        await TextSamples.unknown()
        #expect(await Output.has("Unknown charset: martian"))
        try await TextSamples.replacing()
        #expect(await Output.has("martian was ignored: Take me to your leader\u{FFFD}"))
        try await TextSamples.ownRules()
        #expect(await Output.has("蛙飛びこむ"))
    }

    @Test func malformedDocumentsAreDescribed() async throws {
        await TextSamples.brokenJSON()
        #expect(await Output.has("Line 2, column 8: Expected a value"))
        try await TextSamples.ownDecoder()
        #expect(await Output.has("21 bytes of JSON"))
        await TextSamples.formats()
        #expect(
            await Output.has(
                "it is a binary property list, which isn't allowed here. Add its format to allowedFormats"))
    }
}
