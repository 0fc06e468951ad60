import Testing

@testable import AfarCore

struct FileNameTests {
    @Test(arguments: [
        ("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), (#"C:\Windows\x.dll"#, "x.dll"), ("/etc/cron.d/x", "x"),
        (".bashrc", "bashrc"), ("..hidden", "hidden"), ("-rf", "rf"), ("--help", "help"), ("~root", "root"),
        ("a\u{0}b\nc\u{1B}[2J\u{7F}", "abc[2J"), ("gpj.\u{202E}exe", "gpj.exe"), ("  a b  ", "a b"), ("a. . ", "a"),
        (". -x", "x"), ("日本語.txt", "日本語.txt"), ("a:b*c?", "a:b*c?"),
        ("../\u{301}x", "\u{301}x"), (".\u{301}x", "\u{301}x"), ("e\u{301}.txt", "e\u{301}.txt"),
    ])
    func namesAreSanitized(name: String, safe: String) {
        #expect(FileName.safe(name) == safe)
    }

    @Test(arguments: ["", ".", "..", "/", "a/", "...", " . ", "\u{0}", "---", "../..", #"x\"#])
    func invalidNamesAreRejected(name: String) {
        #expect(FileName.safe(name) == nil)
    }

    @Test func longNamesKeepTheirExtension() throws {
        let name = try #require(FileName.safe(String(repeating: "ü", count: 500) + ".tar"))
        #expect(name.utf8.count <= FileName.longest)
        #expect(name.hasSuffix("ü.tar"))
        let bare = try #require(FileName.safe("a." + String(repeating: "x", count: 500)))
        #expect(bare.utf8.count == FileName.longest)
        // One base character with many combining characters.
        let odd = try #require(FileName.safe("e" + String(repeating: "\u{301}", count: 500)))
        #expect(odd.utf8.count <= FileName.longest)
    }

    @Test(arguments: [
        (nil, "http://x/a/b.bin?c=d/e#f", "b.bin"), (nil, "http://x/a/", "a"), (nil, "http://x", "download"),
        (nil, "http://x/?a=b", "download"), (nil, "http://x/%2e%2e%2f.profile", "profile"),
        (nil, "http://x/%FF", "%FF"),
        (nil, "http://x/a%20b", "a b"), ("attachment; filename=c", "http://x/a", "c"),
        ("attachment; filename=..", "http://x/a", "a"), ("attachment", "http://x/a", "a"),
        ("attachment; filename=c; filename*=UTF-8''d", "http://x/a", "d"),
        ("attachment; filename=c; filename*=UTF-8''", "http://x/a", "c"),
        ("attachment; filename=c; filename*=UTF-8''%2E%2E", "http://x/a", "c"),
        ("attachment; filename=c; filename*=UTF-8''b%2F", "http://x/a", "c"),
        ("attachment; filename=c; filename*=UTF-16''d", "http://x/a", "c"),
        ("attachment; filename=c; filename*=d", "http://x/a", "c"),
        ("attachment; filename=..; filename*=UTF-8''%00", "http://x/a", "a"),
    ])
    func theServersNameTakesPrecedenceOverTheURL(disposition: String?, url: String, name: String) {
        #expect(FileName.suggested(contentDisposition: disposition, url: url) == name)
    }
}
