import Foundation
import Testing

@testable import AfarCore

@Suite struct MIMETypesTests {
    @Test(arguments: [
        ("a.png", "image/png"), ("A.JPG", "image/jpeg"), ("a.tar.gz", "application/gzip"),
        (".json", "application/json"),
        ("report.pdf", "application/pdf"), ("a.no-such-extension", "application/octet-stream"),
        ("png", "application/octet-stream"), ("a.", "application/octet-stream"), ("", "application/octet-stream"),
    ])
    func aNameSuggestsAType(name: String, type: String) {
        #expect(MIMETypes.type(ofFileNamed: name) == type)
    }

    @Test func everyTypeInTheTableIsValid() {
        for (pathExtension, type) in MIMETypes.common {
            #expect(pathExtension == pathExtension.lowercased())
            #expect(MIMETypes.parse("\(type) x") == ["x": type])
        }
    }

    @Test func commentsAndInvalidLinesOfAListAreIgnored() {
        let list = """
            # types
            text/x-a\ta aa  # not b
            text/x-c
            #text/x-d d

            text/x-late a e\r
            nonsense f
            x/y/z f
            "x"/y f
               text/X-G   G
            """
        #expect(
            MIMETypes.parse(list) == ["a": "text/x-a", "aa": "text/x-a", "e": "text/x-late", "g": "text/X-G"])
    }

    @Test func otherExtensionsAreInTheSystemsList() throws {
        let list = MIMETypes.list(in: URL(fileURLWithPath: "/etc/mime.types"))
        // For extensions such as "pcf.z", only the part after the dot is looked up.
        let other = list.first { MIMETypes.common[$0.key] == nil && !$0.key.contains(".") }
        guard let (pathExtension, type) = other else { return }
        #expect(MIMETypes.type(ofFileNamed: "x.\(pathExtension)") == type)
    }

    @Test func aListCanBeASymbolicLink() throws {
        let scratch = Scratch()
        let link = scratch.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(
            at: link, withDestinationURL: scratch.file("mime.types", Data("x/y z\n".utf8)))
        #expect(MIMETypes.list(in: link) == ["z": "x/y"])
    }

    @Test(arguments: ["/no/such/file", "/dev/zero", "/"])
    func anUnreadableListIsEmpty(path: String) {
        #expect(MIMETypes.list(in: URL(fileURLWithPath: path)).isEmpty)
    }

    @Test func aListWithMalformedBytesIsReadPartially() throws {
        let scratch = Scratch()
        let file = try scratch.file("mime.types", Data([0xFF, 0x0A]) + Data("x/y z\n".utf8) + Data([0xC3]))
        #expect(MIMETypes.list(in: file) == ["z": "x/y"])
    }
}
