import AfarCore
import Foundation

#if StructuredFields
    import AfarStructuredFields
    import StructuredFieldValues

    extension Subject {
        static let structuredFields = [
            Subject("structured-field", seeds: fieldSeeds, tokens: fieldTokens) { (input, _) throws(Contradiction) in
                let headers: HTTPHeaders = ["Field": String(decoding: input, as: UTF8.self)]
                let item = try? headers.value(for: "Field", as: ItemField.self)
                let list = try? headers.value(for: "Field", as: ListField.self)
                let dictionary = try? headers.value(for: "Field", as: DictionaryField.self)
                if let dictionary {
                    let copy: HTTPHeaders
                    do throws(StructuredFieldError) {
                        copy = [try HTTPHeader(name: "Field", value: dictionary)]
                    } catch {
                        throw Contradiction("a decoded field can't be encoded: \(error)")
                    }
                    try Contradiction.check(
                        try? copy.value(for: "Field", as: DictionaryField.self), dictionary, "a field, encoded")
                }
                return item != nil || list != nil || dictionary != nil
            }
        ]

        private static let fieldSeeds = [
            "u=1, i;a=:aGk=:;b=@1;c=%\"f%c3%bc\"", "(a \"b\" 1.5);x, (), ?0;y=-1", "999999999999999", "@-1;x=?1",
            "a=1, b=2.5, c=t, d=:aGk=:, e",
        ]

        private static let fieldTokens = [
            "(", ")", "=", ";", ",", ":", "@", "?1", "%\"", "\"", "\\", "*", ". ", "-", "0", "1.5", " ", "\t", "\0",
            "é",
            "aGk=", "u=", "%c3%bc",
        ]
    }

    private struct ItemField: StructuredFieldValue {
        static let structuredFieldType = StructuredFieldType.item
        var item: Double
        var parameters: [String: Int]
    }

    private struct ListField: StructuredFieldValue {
        static let structuredFieldType = StructuredFieldType.list
        var items: [[String]]
    }

    private struct DictionaryField: StructuredFieldValue, Equatable {
        static let structuredFieldType = StructuredFieldType.dictionary
        var a: Int?
        var b: Decimal?
        var d: Data?
        var e: Bool?
    }
#else
    extension Subject {
        /// AfarStructuredFields is built only with the package trait StructuredFields.
        static let structuredFields: [Subject] = []
    }
#endif
