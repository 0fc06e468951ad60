import Testing

@testable import AfarStages

/// Parsing of challenges (RFC 9110, section 11.6.1).
struct AuthenticationChallengeTests {
    /// Returns the scheme, token and parameters of each challenge as text.
    private func read(_ values: String...) -> [String] {
        AuthenticationChallenge.challenges(in: values).map { challenge in
            let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return ([challenge.scheme] + [challenge.token].compactMap { $0 } + parameters).joined(separator: " ")
        }
    }

    @Test func oneChallengeHasParameters() {
        #expect(read(#"Basic realm="Afar", charset="UTF-8""#) == ["basic charset=UTF-8 realm=Afar"])
        #expect(read("BASIC Realm=plain") == ["basic realm=plain"])
        #expect(read("Negotiate") == ["negotiate"])
        #expect(read(#"Basic realm="""#) == ["basic realm="])
    }

    @Test func aFieldCanContainSeveralChallenges() {
        // The standard's example.
        let example = #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#
        #expect(read(example) == [#"newauth realm=apps title=Login to "apps" type=1"#, "basic realm=simple"])
        #expect(read(#"Negotiate, Digest nonce="a, b=c", qop="auth", Basic realm=x"#).count == 3)
        #expect(read("Negotiate, NTLM , , Basic realm=x,") == ["negotiate", "ntlm", "basic realm=x"])
    }

    @Test func severalFieldsAreReadInOrder() {
        #expect(read("Bearer", #"Basic realm="x""#) == ["bearer", "basic realm=x"])
        #expect(read() == [])
        #expect(read("", " , ") == [])
    }

    @Test func aTokenCanReplaceParameters() {
        #expect(read("Negotiate YII/+=, Basic realm=x") == ["negotiate YII/+=", "basic realm=x"])
        #expect(read("NTLM TlRM==") == ["ntlm TlRM=="])
        #expect(read("Scheme abc") == ["scheme abc"])
    }

    @Test func spacesAroundTheSignAreAllowed() {
        #expect(read("Basic realm = \"x\" ,\tcharset =utf-8") == ["basic charset=utf-8 realm=x"])
    }

    @Test(arguments: [
        #"Basic realm="open"#, #"Basic realm="x\"#, "realm=x", "=", "\"", "Basic realm=", "Basic @", "é", "Basic=",
        "a=b, Basic realm=x", "Basic realm==x", "\"Basic\" realm=x", "Basic\u{0}realm",
    ])
    func aMalformedChallengeEndsTheField(value: String) {
        // A malformed challenge ends only its own field.
        #expect(read(value, "Basic realm=next").last == "basic realm=next")
        #expect(read(value).count <= 1)
    }

    @Test func theFirstOfTwoEqualNamesIsUsed() {
        #expect(read("Basic realm=a, REALM=b") == ["basic realm=a"])
    }

    @Test func manyChallengesAreParsedQuickly() {
        #expect(read(String(repeating: "a b=c, ", count: 30_000)).count == 30_000)
    }
}
