import AfarAPI
import AfarCore
import Foundation
import Testing

/// URI templates (RFC 6570).
@Suite struct URITemplateTests {
    /// The variables of section 3.2. `undef` and `bar` are undefined.
    private static let variables: [String: URITemplate.Value] = [
        "count": ["one", "two", "three"], "dom": ["example", "com"], "dub": "me/too", "hello": "Hello World!",
        "half": "50%", "var": "value", "who": "fred", "base": "http://example.com/home/", "path": "/foo/bar",
        "list": ["red", "green", "blue"], "keys": ["semi": ";", "dot": ".", "comma": ","], "v": "6", "x": "1024",
        "y": "768", "empty": "", "empty_keys": [:], "semi": ";",
    ]

    /// The examples of sections 1.2, 2.4.1 and 3.2.1 to 3.2.9: a template and its expansion on each line.
    private static let examples = """
        {var}  value
        {hello}  Hello%20World%21
        {half}  50%25
        O{empty}X  OX
        O{undef}X  OX
        map?{x,y}  map?1024,768
        {x,y}  1024,768
        {x,hello,y}  1024,Hello%20World%21,768
        ?{x,empty}  ?1024,
        ?{x,undef}  ?1024
        ?{undef,y}  ?768
        {var:3}  val
        {var:20}  value
        {var:30}  value
        {semi}  %3B
        {semi:2}  %3B
        {list}  red,green,blue
        {list*}  red,green,blue
        {keys}  semi,%3B,dot,.,comma,%2C
        {keys*}  semi=%3B,dot=.,comma=%2C
        {count}  one,two,three
        {count*}  one,two,three
        {/count}  /one,two,three
        {/count*}  /one/two/three
        {;count}  ;count=one,two,three
        {;count*}  ;count=one;count=two;count=three
        {?count}  ?count=one,two,three
        {?count*}  ?count=one&count=two&count=three
        {&count*}  &count=one&count=two&count=three
        {+var}  value
        {+hello}  Hello%20World!
        {+half}  50%25
        {base}index  http%3A%2F%2Fexample.com%2Fhome%2Findex
        {+base}index  http://example.com/home/index
        O{+empty}X  OX
        O{+undef}X  OX
        {+path}/here  /foo/bar/here
        here?ref={+path}  here?ref=/foo/bar
        up{+path}{var}/here  up/foo/barvalue/here
        {+x,hello,y}  1024,Hello%20World!,768
        {+path,x}/here  /foo/bar,1024/here
        {+path:6}/here  /foo/b/here
        {+list}  red,green,blue
        {+list*}  red,green,blue
        {+keys}  semi,;,dot,.,comma,,
        {+keys*}  semi=;,dot=.,comma=,
        {#var}  #value
        X{#var}  X#value
        {#hello}  #Hello%20World!
        X{#hello}  X#Hello%20World!
        {#half}  #50%25
        foo{#empty}  foo#
        foo{#undef}  foo
        {#x,hello,y}  #1024,Hello%20World!,768
        {#path,x}/here  #/foo/bar,1024/here
        {#path:6}/here  #/foo/b/here
        {#list}  #red,green,blue
        {#list*}  #red,green,blue
        {#keys}  #semi,;,dot,.,comma,,
        {#keys*}  #semi=;,dot=.,comma=,
        {.who}  .fred
        {.who,who}  .fred.fred
        {.half,who}  .50%25.fred
        www{.dom*}  www.example.com
        X{.var}  X.value
        X{.x,y}  X.1024.768
        X{.empty}  X.
        X{.undef}  X
        X{.var:3}  X.val
        X{.list}  X.red,green,blue
        X{.list*}  X.red.green.blue
        X{.keys}  X.semi,%3B,dot,.,comma,%2C
        X{.keys*}  X.semi=%3B.dot=..comma=%2C
        X{.empty_keys}  X
        X{.empty_keys*}  X
        {/who}  /fred
        {/who,who}  /fred/fred
        {/half,who}  /50%25/fred
        {/who,dub}  /fred/me%2Ftoo
        {/var}  /value
        {/var,empty}  /value/
        {/var,undef}  /value
        {/var,x}/here  /value/1024/here
        {/var:1,var}  /v/value
        {/list}  /red,green,blue
        {/list*}  /red/green/blue
        {/list*,path:4}  /red/green/blue/%2Ffoo
        {/keys}  /semi,%3B,dot,.,comma,%2C
        {/keys*}  /semi=%3B/dot=./comma=%2C
        {;who}  ;who=fred
        {;half}  ;half=50%25
        {;empty}  ;empty
        {;v,empty,who}  ;v=6;empty;who=fred
        {;v,bar,who}  ;v=6;who=fred
        {;x,y}  ;x=1024;y=768
        {;x,y,empty}  ;x=1024;y=768;empty
        {;x,y,undef}  ;x=1024;y=768
        {;hello:5}  ;hello=Hello
        {;list}  ;list=red,green,blue
        {;list*}  ;list=red;list=green;list=blue
        {;keys}  ;keys=semi,%3B,dot,.,comma,%2C
        {;keys*}  ;semi=%3B;dot=.;comma=%2C
        {?who}  ?who=fred
        {?half}  ?half=50%25
        {?x,y}  ?x=1024&y=768
        {?x,y,empty}  ?x=1024&y=768&empty=
        {?x,y,undef}  ?x=1024&y=768
        {?var:3}  ?var=val
        {?list}  ?list=red,green,blue
        {?list*}  ?list=red&list=green&list=blue
        {?keys}  ?keys=semi,%3B,dot,.,comma,%2C
        {?keys*}  ?semi=%3B&dot=.&comma=%2C
        {&who}  &who=fred
        {&half}  &half=50%25
        ?fixed=yes{&x}  ?fixed=yes&x=1024
        {&var:3}  &var=val
        {&x,y,empty}  &x=1024&y=768&empty=
        {&x,y,undef}  &x=1024&y=768
        {&list}  &list=red,green,blue
        {&list*}  &list=red&list=green&list=blue
        {&keys}  &keys=semi,%3B,dot,.,comma,%2C
        {&keys*}  &semi=%3B&dot=.&comma=%2C
        """

    @Test(arguments: examples.split(separator: "\n").map { $0.components(separatedBy: "  ") })
    func theExamplesOfTheStandard(example: [String]) throws {
        let template = try URITemplate(example[0])
        #expect(try template.expand(Self.variables) == example[1])
        #expect(template.description == example[0])
    }

    /// Sections 1.1 and 2.4.2.
    @Test(arguments: [
        ("http://example.com/~{username}/", "http://example.com/~mark/"),
        ("http://example.com/dictionary/{term:1}/{term}", "http://example.com/dictionary/c/cat"),
        ("http://example.com/search{?q,lang}", "http://example.com/search?q=chien&lang=fr"),
        ("find{?year*}", "find?year=1965&year=2000&year=2012"),
        ("/mapper{?address*}", "/mapper?city=Newport%20Beach&state=CA"),
    ])
    func theExamplesOfTheIntroduction(template: String, expansion: String) throws {
        let variables: [String: URITemplate.Value] = [
            "username": "mark", "term": "cat", "q": "chien", "lang": "fr", "year": ["1965", "2000", "2012"],
            "address": ["city": "Newport Beach", "state": "CA"],
        ]
        #expect(try URITemplate(template).expand(variables) == expansion)
    }

    /// `make uri-templates` compares the table with PyPI's uritemplate.
    @Test func generatedTemplatesEqualThoseOfAnotherLibrary() throws {
        struct Case: Decodable {
            let template: String
            let variables: [String: AnyValue]
            let expansion: String
        }
        struct AnyValue: Decodable {
            let value: URITemplate.Value

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let text = try? container.decode(String.self) {
                    value = .string(text)
                } else if let list = try? container.decode([String].self) {
                    value = .list(list)
                } else {
                    value = .pairs(try container.decode([[String]].self).map { (name: $0[0], value: $0[1]) })
                }
            }
        }
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "uri-templates.json")
        let cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: file))
        #expect(cases.count == 500)
        for test in cases {
            let expansion = try URITemplate(test.template).expand(test.variables.mapValues(\.value))
            #expect(expansion == test.expansion, "\(test.template)")
        }
    }

    // MARK: Values

    @Test func literalsAreValues() throws {
        let template = try URITemplate("{a},{b},{c},{d},{e},{f*}")
        let name = "x"
        let text = try template.expand([
            "a": 7, "b": -1.5, "c": true, "d": "\(name)y", "e": ["1", "2"], "f": ["k": "v"],
        ])
        #expect(text == "7,-1.5,true,xy,1,2,k=v")
    }

    @Test func textIsEncodedWithoutNormalization() throws {
        let template = try URITemplate("é{a}{a:1}{+a:2}")
        #expect(try template.expand(["a": "e\u{301}é"]) == "%C3%A9e%CC%81%C3%A9ee%CC%81")
        #expect(try URITemplate("{a:1}").expand(["a": "😀x"]) == "%F0%9F%98%80")
    }

    @Test func escapesStayOnlyInReservedExpansion() throws {
        let value: URITemplate.Value = "%41%4g%é"
        #expect(try URITemplate("{a}").expand(["a": value]) == "%2541%254g%25%C3%A9")
        #expect(try URITemplate("{+a}").expand(["a": value]) == "%41%254g%25%C3%A9")
        #expect(try URITemplate("%41ä'").expand() == "%41%C3%A4'")
    }

    @Test func emptyValuesHaveNames() throws {
        let variables: [String: URITemplate.Value] = ["l": ["", "a"], "e": [""], "k": ["a": "", "": "b"]]
        #expect(try URITemplate("{;l*,k*}").expand(variables) == ";l;l=a;a;=b")
        #expect(try URITemplate("{?l*,k*}").expand(variables) == "?l=&l=a&a=&=b")
        #expect(try URITemplate("{;e}{?e}").expand(variables) == ";e?e=")
        #expect(try URITemplate("{l,e,k*}").expand(variables) == ",a,,a=,=b")
        #expect(try URITemplate("{?none*}{&none}{none}").expand(["none": []]) == "")
    }

    /// A name can't add another parameter.
    @Test func namesAreEncoded() throws {
        #expect(try URITemplate("{?k*}").expand(["k": ["a&b=c": "d"]]) == "?a%26b%3Dc=d")
    }

    @Test(arguments: ["list", "keys"])
    func aPrefixOfAListIsAnError(name: String) throws {
        #expect { try URITemplate("{x}{\(name):3}").expand(Self.variables) } throws: { error in
            error as? URITemplate.ExpansionError == .prefixOfList(variable: name)
                && error.localizedDescription.contains(name)
        }
    }

    /// Values can't replace the host or remove a part of the path (RFC 3986, sections 5.2.2 and 5.2.4).
    @Test(
        arguments: [
            ("/{a}/{b}/items", ["a": "", "b": "evil.example"]), ("/{b}/items", [:]), ("{/list*}", [:]),
            ("/users/{a}/delete", ["a": ".."]), ("/users/{a}", ["a": "."]), ("/users{/list*}", ["a": ""]),
            ("/x/.{a}/y", ["a": ""]), ("/x/{a}.{b}", ["a": "", "b": "."]), ("{a,b}/x", ["b": ".."]),
            ("{a}/items", ["a": ""]),
        ] as [(String, [String: URITemplate.Value])])
    func valuesKeepTheStructureOfTheURL(template: String, values: [String: URITemplate.Value]) throws {
        let base = try #require(URL(string: "https://api.example.com/v1/"))
        let values = values.merging(["list": ["", "evil.example", ".."]]) { value, _ in value }
        for base in [nil, base] {
            #expect { try URITemplate(template).url(values, relativeTo: base) } throws: { error in
                guard case .pathChanged(let expansion)? = error as? URITemplate.ExpansionError else { return false }
                return error.localizedDescription.contains(expansion)
            }
        }
    }

    @Test func templatesAndReservedExpansionsDetermineTheStructure() throws {
        let base = try #require(URL(string: "https://api.example.com/v1/x/"))
        func url(_ template: String, _ values: [String: URITemplate.Value]) throws -> String {
            try URITemplate(template).url(values, relativeTo: base).absoluteString
        }
        #expect(try url("//{a}/x", ["a": "h"]) == "https://h/x")
        #expect(try url("../{a}/.", ["a": "b"]) == "https://api.example.com/v1/b/")
        #expect(try url("{+a}", ["a": "//h/x"]) == "https://h/x")
        #expect(try url("a/{+a}/y", ["a": "../b"]) == "https://api.example.com/v1/x/b/y")
        #expect(try url("{a}.{b}{?a}", ["a": "..", "b": ".."]) == "https://api.example.com/v1/x/.....?a=..")
        #expect(try url("a{?a,b}", ["a": "/../", "b": "//"]) == "https://api.example.com/v1/x/a?a=%2F..%2F&b=%2F%2F")
    }

    // MARK: Syntax

    @Test(arguments: [
        ("{", 1), ("}", 0), ("a}", 1), ("{}", 1), ("{a", 2), ("{a{b}}", 2), ("{+}", 2), ("{a,}", 3), ("{,a}", 1),
        ("{=a}", 1), ("{!a}", 1), ("{@a}", 1), ("{|a}", 1), ("{a b}", 2), ("{ a}", 1), ("{a.}", 3), ("{.a..b}", 4),
        ("{a-b}", 2), ("{ä}", 1), ("{a:}", 3), ("{a:0}", 3), ("{a:01}", 3), ("{a:10000}", 7), ("{a:x}", 3),
        ("{a:3*}", 4),
        ("{a*:3}", 3), ("{a**}", 3), ("{a%2}", 2), ("{%}", 1), ("%", 0), ("ä%4", 1), ("%zz", 0), ("a b", 1), ("a\n", 1),
        ("\"", 0), ("<", 0), (">", 0), ("\\", 0), ("^", 0), ("`", 0), ("|", 0), ("\u{7F}", 0), ("\u{85}", 0),
        ("\u{FFFE}", 0),
        ("\u{FFFD}", 0), ("\u{E0001}", 0),
    ])
    func syntaxErrorsHaveAPosition(template: String, position: Int) {
        #expect { try URITemplate(template) } throws: { error in
            (error as? URITemplate.SyntaxError)?.position == position
                && error.localizedDescription.contains("character \(position):")
        }
    }

    @Test(arguments: ["", "a", "'", "{a.b.c}", "{%41.b}", "{_}", "{a:9999}", "{a,b*,c:1}", "{1}", "\u{A0}\u{E000}😀"])
    func theseTemplatesAreValid(template: String) throws {
        #expect(try URITemplate(template).description == template)
    }

    @Test func templatesAreComparedByTheirText() throws {
        #expect(try URITemplate("{a}") == URITemplate("{a}"))
        #expect(try Set([URITemplate("{a}"), URITemplate("{b}"), URITemplate("{a}")]).count == 2)
    }

    // MARK: URLs

    @Test func templatesCreateURLs() throws {
        let template = try URITemplate("/repos/{owner}{?q}")
        let base = try #require(URL(string: "https://api.example.com/v1/?x"))
        #expect(
            try template.url(["owner": "a/b", "q": "ä"], relativeTo: base).absoluteString
                == "https://api.example.com/repos/a%2Fb?q=%C3%A4")
        #expect(
            try URITemplate("users/{id}").url(["id": 7], relativeTo: base).absoluteString
                == "https://api.example.com/v1/users/7")
        #expect(try URITemplate("https://h/{a}").url(["a": "b"]).absoluteString == "https://h/b")
        #expect(throws: URITemplate.ExpansionError.self) {
            try URITemplate("{a:1}").url(["a": ["b"]], relativeTo: base)
        }
        #expect { try URITemplate("http://[{a}").url(["a": "b"]) } throws: { $0.asAFError?.isInvalidURLError == true }
        #expect { try URITemplate("//[{a}").url(["a": "b"], relativeTo: base) } throws: {
            $0.asAFError?.isInvalidURLError == true
        }
    }
}
