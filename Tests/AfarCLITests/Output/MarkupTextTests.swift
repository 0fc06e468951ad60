import Testing

@testable import AfarCLI

struct MarkupTextTests {
    private static let colors = Style(isPretty: true, isColored: true)

    /// Returns colored text with a letter for each color: `c{…}` is cyan.
    private func marked(_ text: String, isHTML: Bool = false) -> String {
        ["36": "c", "33": "y", "32": "g", "35": "m", "2": "d"].reduce(
            MarkupText.colored(text, isHTML: isHTML, Self.colors).replacing("\u{1B}[0m", with: "}")
        ) { $0.replacing("\u{1B}[\($1.key)m", with: "\($1.value){") }
    }

    private func withoutColors(_ text: String) -> String { text.replacing(/\u{1B}\[[0-9]+m/, with: "") }

    @Test func tokensHaveColors() {
        #expect(
            marked("<a b=\"1\" c='2' d>x &amp; y</a>")
                == "c{<a} y{b}=g{\"1\"} y{c}=g{'2'} y{d}c{>}x m{&amp;} yc{</a}c{>}")
        #expect(marked("<br/>") == "c{<br}c{/}c{>}")
        #expect(marked("<?xml version=\"1.0\"?><!DOCTYPE x>") == "m{<?xml version=\"1.0\"?>}m{<!DOCTYPE x>}")
        #expect(marked("<!-- a\n b -->") == "d{<!-- a}\nd{ b -->}")
        #expect(marked("<![CDATA[<b>]]>") == "m{<![CDATA[}<b>m{]]>}")
        #expect(marked("1 < 2 & 3 &; &x") == "1 < 2 & 3 &; &x")
    }

    @Test func scriptsAreNotMarkup() {
        #expect(marked("<script>if (a<b) {}</script>", isHTML: true) == "c{<script}c{>}if (a<b) {}c{</script}c{>}")
        #expect(marked("<STYLE>a</Style>", isHTML: true) == "c{<STYLE}c{>}ac{</Style}c{>}")
        #expect(marked("<script>a<b>", isHTML: false) == "c{<script}c{>}ac{<b}c{>}")
    }

    @Test func withoutColorsTheTextIsUnchanged() {
        #expect(MarkupText.colored("<a>", Style(isPretty: true, isColored: false)) == "<a>")
    }

    @Test(arguments: [
        "<", "</", "<!", "<!-", "<!--", "<!-->", "<![CDATA[", "<![CDATA[]]", "<?", "<a", "<a ", "<a b", "<a b=",
        "<a b=\"",
        "<a b='\n", "<a/", "&", "&a", "<script>", "<script></scrip", "<a b=c<d>", "<ü ö=\"ä\">é</ü>", "<a =\"b\"=>",
        "<1>", ">",
        "<a \"'>", "\n<\n>",
    ])
    func brokenMarkupIsUnchangedApartFromColors(text: String) {
        for isHTML in [true, false] {
            #expect(withoutColors(MarkupText.colored(text, isHTML: isHTML, Self.colors)) == text)
        }
    }

    @Test(arguments: [
        "<", "<a", "<a ", "<a b='", "<!--", "<![CDATA[", "<?", "&", "&a", "</", "<script>", "\"", "=", "<a>",
    ])
    func hostileTextTakesLinearTime(unit: String) {
        let text = String(repeating: unit, count: 100_000 / unit.utf8.count)
        let colored = MarkupText.colored(text, isHTML: true, Self.colors)
        #expect(colored.utf8.count >= text.utf8.count)
    }

    @Test func aMegabyteOfOpeningBrackets() {
        let text = String(repeating: "<", count: 1_000_000)
        #expect(MarkupText.colored(text, Self.colors) == text)
    }
}
