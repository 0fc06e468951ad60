extension String {
    /// The words of a name in camel case, in lower case. A run of capitals is one word, but for the last of them where
    /// a small letter follows: `myURLLoader` has the words my, url, loader.
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
