import Testing

@testable import AfarCore

struct ContentDispositionTests {
    @Test(arguments: [
        ("attachment; filename=a.txt", "a.txt"), (#"inline; FileName="a b.txt""#, "a b.txt"),
        (#"attachment; filename="a\"b\\c.txt""#, #"a"b\c.txt"#), (#"attachment;filename="a;b=c.txt";x=y"#, "a;b=c.txt"),
        ("attachment; filename*=UTF-8''%e2%82%ac%20rates", "€ rates"),
        ("attachment; filename*=iso-8859-1'en'%A3%20rates", "£ rates"),
        (#"attachment; filename="plain"; filename*=utf-8''%C3%BC"#, "ü"),
        (#"attachment; filename*=utf-8''%C3%BC; filename="plain""#, "ü"),
        (#"attachment; filename*=utf-8''%FF; filename="plain""#, "plain"),
        (#"attachment; filename*=koi8-r''%C1; filename="plain""#, "plain"),
        (#"attachment; filename*=utf-8''%4; filename="plain""#, "plain"),
        (#"attachment; filename*=utf-8''%zz; filename="plain""#, "plain"),
        ("attachment; filename = spaced.txt ", "spaced.txt"), (#"attachment; filename="never closed"#, "never closed"),
        ("attachment; filename=first; filename=second", "first"),
        (#"attachment; x="filename=no"; filename=yes"#, "yes"),
        (#"attachment; filename="" "#, ""), ("attachment; filename; filename=; filename=x", "x"),
        // As Characters, these differ from a semicolon and a quotation mark.
        ("attachment;\u{301}x=y; filename=a.txt;\u{301}b", "a.txt"), ("attachment; filename=\"a.txt\"\u{301}", "a.txt"),
    ])
    func namesAreRead(value: String, name: String) {
        #expect(ContentDisposition(value).fileNames.first == name)
    }

    @Test(arguments: ["", "attachment", "filename=x", "attachment;", ";;;", "attachment; name=x", "attachment; =x"])
    func valuesWithoutAFileNameHaveNone(value: String) {
        #expect(ContentDisposition(value).fileNames.isEmpty)
    }
}
