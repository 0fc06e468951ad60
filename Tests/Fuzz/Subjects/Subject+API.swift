import AfarAPI
import Foundation

extension Subject {
    static let api = [
        Subject("link", seeds: linkSeeds, tokens: linkTokens) { (input, _) throws(Contradiction) in
            let value = String(decoding: input, as: UTF8.self)
            let links: [Link]
            do throws(Link.SyntaxError) {
                links = try Link.parse(value)
            } catch {
                try Contradiction.check(error.position <= value.utf8.count, true, "the position of an error")
                return false
            }
            let base = URL(filePath: "/")
            for link in links { _ = (link.relationTypes, link["rel"], link.url(relativeTo: base)) }
            try Contradiction.check(try? Link.parse(value + "," + value), links + links, "links, once and twice")
            return true
        },
        Subject("uri-template", seeds: templateSeeds, tokens: templateTokens) { (input, random) throws(Contradiction) in
            guard let template = try? URITemplate(String(decoding: input, as: UTF8.self)) else { return false }
            // An expansion can be as long as the product of the lengths of the template and its values.
            let text = String(decoding: (random.pick(random.chunks(of: input)) ?? Data()).prefix(50), as: UTF8.self)
            let values: [URITemplate.Value] = [
                .string(text), .list([]), .list([text, ""]), .pairs([]), .pairs([(name: text, value: text)]),
            ]
            var variables: [String: URITemplate.Value] = [:]
            for name in ["a", "b", "list", "keys", "x.y"] { variables[name] = random.pick(values) }
            guard let url = try? template.expand(variables) else { return true }
            let isASCII = url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}".utf8.contains($0) }
            try Contradiction.check(isASCII, true, "an expansion has only characters of URLs")
            return true
        },
    ]

    private static let linkSeeds = [
        "<https://example.com/?page=2>; rel=\"next last\", <a,b;c>;title=\"x, \\\"y\\\"\"; rel=prev",
        "<>;;rel , ,<?a>;rel=NEXT;anchor=\"#f\";title*=UTF-8''%e2%82%ac",
    ]

    private static let linkTokens = [
        "<", ">", ";", ",", "=", "\"", "\\", "rel", "next", "anchor", " ", "\t", "\0", "é", "//", "?",
    ]

    private static let templateSeeds = [
        "/repos/{a}/{b:3}{?list*,keys}{&x.y}{#a}", "{+a,b}{;list,keys*}{/list*}{.a%41}%20é",
    ]

    private static let templateTokens = [
        "{", "}", "+", "#", ".", "/", ";", "?", "&", "=", "!", "*", ":", ":1", ":9999", ",", "%41", "%", "a", "list",
        "keys",
        " ", "\u{E0001}", "\u{FFFE}", "'",
    ]
}
