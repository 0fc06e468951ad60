extension String {
    /// Returns the lowercased words of a camel-case name, joined by a separator. A run of capitals is one word, but a capital
    /// before a lowercase letter starts the next word: `myURLLoader` has the words my, url, loader.
    package func lowercasedWords(joinedBy separator: String) -> String {
        let letters = Array(self)
        var result = ""
        for (index, letter) in letters.enumerated() {
            if index > 0, letter.isUppercase {
                let nextIsLowercase = index + 1 < letters.count && letters[index + 1].isLowercase
                if !letters[index - 1].isUppercase || nextIsLowercase { result += separator }
            }
            result += letter.lowercased()
        }
        return result
    }
}
