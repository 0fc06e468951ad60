/// A list in an attribute or a text: words with spaces between them (XML Schema Part 2, section 2.5.1.2).
final class WordList {
    private(set) var count = 0
    private(set) var text = ""

    func append(_ word: String, _ encoding: Encoding, _ codingPath: [any CodingKey]) throws {
        guard !word.isEmpty, !word.utf8.contains(where: \.isXMLSpace) else {
            throw encoding.error(word, "A word of a list is not empty and has no white space in it", codingPath)
        }
        if count > 0 { text += " " }
        text += try encoding.checked(word, codingPath)
        count += 1
    }
}
